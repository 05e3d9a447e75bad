"""A simulated engineer: it answers the prompts of a code debate over the tasks of the corpus, as well as it is set to.

It runs nothing. What it knows of a task is data: the solution, seeded mistakes, and cases with their values.
"""

from moot.models.coding.coder import Coder
from moot.models.coding.patcher import Patcher
from moot.models.coding.skills import Skills

__all__ = ["Coder", "Patcher", "Skills"]
