"""The built-in reasoning templates."""
