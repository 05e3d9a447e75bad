"""What can be done with moot, each thing once: every way in translates it."""

from moot.client.client import Client
from moot.client.once import Once

__all__ = ["Client", "Once"]
