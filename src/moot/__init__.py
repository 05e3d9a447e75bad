"""Models argue a question out under rules; what remains is a decision you can audit, replay and fork."""

__version__ = "0.1.0"
