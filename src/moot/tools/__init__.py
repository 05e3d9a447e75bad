"""Tools that the rules of a debate use: code is run and checked here, always inside the sandbox."""
