"""In an interpreter that finds this folder in PYTHONPATH, models may be poison."""

from tests.workers import poison

poison.install()
