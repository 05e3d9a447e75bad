"""Programs that run inside the sandbox. They use the standard library alone; `moot` is not there."""
