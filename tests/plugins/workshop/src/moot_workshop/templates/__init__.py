"""Reasoning templates, in Markdown files."""
