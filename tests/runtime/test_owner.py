"""Whether the process that drives a debate is dead."""

from __future__ import annotations

from moot.runtime import owner
from moot.runtime.owner import is_dead, this_process


def test_only_a_process_of_this_machine_can_be_known_to_be_dead():
    place, pid, _, rest = this_process().split("/")
    assert not is_dead(this_process())
    assert is_dead(f"{place}/999999999/1/{rest}")
    assert is_dead(f"{place}/{pid}/1/{rest}")  # the number is in use again
    assert not is_dead(f"elsewhere {place}/999999999/1/{rest}")
    assert not is_dead("nonsense")


def test_a_process_that_the_system_hides_is_not_taken_for_dead(monkeypatch):
    """With `hidepid`, /proc shows nothing of other users' processes. A signal still tells that they are there."""
    place, pid, started, rest = this_process().split("/")
    monkeypatch.setattr(owner, "_started", lambda pid: None)
    assert not is_dead(f"{place}/{pid}/{started}/{rest}")
    assert is_dead(f"{place}/999999999/1/{rest}")
