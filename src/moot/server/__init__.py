"""moot over HTTP: debates as resources, what happens in them as live events. docs/api.md describes it."""
