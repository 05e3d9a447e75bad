"""Every error that moot raises on purpose. The text of each says what happened and what to do next.

The tree is drawn in moot/core/errors.py.
"""

from moot.core.errors import *  # noqa: F403
from moot.core.errors import __all__ as __all__
