"""Git for debates about code: a private clone and worktrees, deterministic snapshots, one branch delivered at the end.

The user's repository is only ever read, until its owner gets the branch `debate/<session>` by one fetch. Its index,
hooks and filters are never used, and nothing that its configuration names is ever run.
"""

from moot.tools.git.command import Git, GitError
from moot.tools.git.workspace import Blame, Commit, Snapshot, Workspace, check_repository, open_workspace, sweep

__all__ = ["Blame", "Commit", "Git", "GitError", "Snapshot", "Workspace", "check_repository", "open_workspace", "sweep"]
