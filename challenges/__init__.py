"""Twelve challenges to a running server: real requests, and the rows that they leave in its database."""
