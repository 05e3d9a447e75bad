"""Counting the votes of a stored debate again, and comparing with what is stored. No model and no network is used."""

from __future__ import annotations

from collections.abc import Sequence

from moot.core.errors import InputError, ScriptError, UnknownName
from moot.core.types import TIE, UNDECIDED, Debate, Outcome, Poll, Result, Turn, record
from moot.formats import Format
from moot.reasoning.voting import BallotError, count, method_for
from moot.runtime.replay import rerun


@record
class Recount:
    """One vote, counted again."""

    poll: Poll  # as it is stored
    result: Result | None  # None: its ballots can't be counted
    other: Result | None = None  # by another method
    differences: tuple[str, ...] = ()  # from what is stored, each a sentence


@record
class Tallied:
    """All votes of a debate, counted again."""

    recounts: tuple[Recount, ...]
    unread: str = ""  # why the ballots could not be read from the turns again; empty: they were
    differences: tuple[str, ...] = ()  # of the debate as a whole

    @property
    def same(self) -> bool:
        return not self.differences and not any(each.differences for each in self.recounts)


def tally(format_: Format | None, debate: Debate, turns: Sequence[Turn], method: str | None = None) -> Tallied:
    """Count the votes of a completed debate from its turns. `method`: by this one, too. Raises InputError if there is
    no vote, or no such method."""
    if method is not None:
        method_for(method, voters=0)
    outcome = debate.outcome
    if outcome is None:
        raise InputError(f"Debate {debate.short} is {debate.status}: there is no result to count again yet.")
    if not outcome.polls:
        raise InputError(f"Debate {debate.short} has no vote to count: it was decided without one.")
    read = _read_again(format_, debate, turns)
    unread = read if isinstance(read, str) else ""
    polls = None if isinstance(read, str) else read
    recounts = tuple(
        _recount(poll, _at(polls, n), method, unread=polls is None) for n, poll in enumerate(outcome.polls)
    )
    missing = len(polls or ()) - len(outcome.polls)
    found = [f"The turns have {missing} vote{'s' * (missing > 1)} more than are stored."] if missing > 0 else []
    return Tallied(recounts=recounts, unread=unread, differences=(*found, *_verdict(outcome)))


def _read_again(format_: Format | None, debate: Debate, turns: Sequence[Turn]) -> Sequence[Poll] | str:
    """The votes as the rules read them from the turns; a text says why these rules can't read them."""
    if format_ is None:
        return f"The format {debate.format!r} is not installed here."
    if debate.format_version != format_.version:
        return f"The debate was made with version {debate.format_version} of its format; here is {format_.version}."
    try:
        outcome = rerun(format_, debate, turns).outcome
    except (ScriptError, ValueError):  # someone has changed a turn
        return ()
    return outcome.polls if outcome else ()


def _at(polls: Sequence[Poll] | None, n: int) -> Poll | None:
    return polls[n] if polls and n < len(polls) else None


def _recount(poll: Poll, read: Poll | None, method: str | None, *, unread: bool) -> Recount:
    found: list[str] = []
    if not unread:
        found += _ballots(poll, read)
    result = other = None
    try:
        result = count(poll.method, poll.candidates, poll.ballots, poll.tie_breaks)
        other = None if method is None else count(method, poll.candidates, poll.ballots, poll.tie_breaks)
    except (BallotError, UnknownName) as bad:
        found.append(f"It can't be counted: {str(bad).rstrip('.')}.")
    if result is not None and result != poll.result:
        found.append("Counted again, the result is another one than is stored.")
    return Recount(poll=poll, result=result, other=other, differences=tuple(found))


def _ballots(stored: Poll, read: Poll | None) -> list[str]:
    if read is None:
        return ["The turns don't lead to this vote."]
    found = [
        f"The ballot of {ballot.voter!r} is not the one in the turns."
        for ballot in stored.ballots
        if ballot not in read.ballots
    ]
    stored_voters = {ballot.voter for ballot in stored.ballots}
    found += [
        f"The ballot of {ballot.voter!r} in the turns was not counted."
        for ballot in read.ballots
        if ballot.voter not in stored_voters
    ]
    rules = ("method", "tie_breaks", "candidates", "round", "decides")
    if not found and any(getattr(stored, name) != getattr(read, name) for name in rules):
        found.append("What was voted on, or how, is not what the turns say.")
    return found


def _verdict(outcome: Outcome) -> list[str]:
    """Whether the stored winner is the one of the vote that decides. Rules may leave it undecided all the same, call
    what is not decided a tie, or decide a tied vote by something else; they can't have another winner."""
    deciding = [poll for poll in outcome.polls if poll.decides]
    if len(deciding) != 1:
        undecided = outcome.winner == UNDECIDED or all(poll.seat in (TIE, UNDECIDED) for poll in outcome.polls)
        return [] if undecided and not deciding else ["It is not clear which vote decides."]
    seat = deciding[0].seat
    if outcome.winner in (seat, UNDECIDED) or (seat == UNDECIDED and outcome.winner == TIE):
        return []
    return [f"The stored winner is {outcome.winner!r}, and not {seat!r}, as the vote has it."]
