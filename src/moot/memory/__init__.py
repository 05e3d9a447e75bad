"""What moot remembers: reasoning templates, and what earlier debates decided. docs/memory.md says how it is found."""
