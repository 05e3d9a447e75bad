"""Tools that look at code, all of them inside the sandbox: linters, a type checker, metrics, timing."""
