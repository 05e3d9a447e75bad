"""The real runtime, formats and SQL with a seeded scheduler, a virtual clock and faults: see docs/simulation.md."""
