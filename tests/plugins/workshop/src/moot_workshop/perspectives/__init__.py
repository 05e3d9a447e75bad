"""Perspectives, in YAML files."""
