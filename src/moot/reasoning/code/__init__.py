"""Code that models write, as far as it can be thought about without running it: values, cases, requests to tools."""
