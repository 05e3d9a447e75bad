"""Runs code of declared languages in the sandbox: single calls, whose values are compared outside, and test files."""
