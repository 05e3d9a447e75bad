"""The heart: nouns, scripts, limits, settings and errors. Nothing here does I/O."""
