"""Small programming tasks with solutions, tests and seeded mistakes: what simulated engineers work on, and what code
debates are measured by.

One JSON file for each domain. In it a case is a list: a call or a list of statements, the expected value as a literal,
and, where the value is empty, the exception.
"""

from moot.corpus.repository import RepositoryTask, recognised_repository, repository_tasks
from moot.corpus.tasks import CodingTask, Mutant, recognised, tasks

__all__ = [
    "CodingTask",
    "Mutant",
    "RepositoryTask",
    "recognised",
    "recognised_repository",
    "repository_tasks",
    "tasks",
]
