"""The routes, a module for each noun. A router that is not listed in `moot.server.app` is not served."""
