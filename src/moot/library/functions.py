"""`moot.debate` and its like: each call opens moot as the command line does, and closes it again."""

from moot.library.blocking import Moot
from moot.library.opening import open

_here = Moot(open)

debate = _here.debate
plan = _here.plan
get = _here.get
debates = _here.debates
search = _here.search
