"""The outcome of a forge, computed from what was run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from moot.core.gates import Approval
from moot.core.limits import LIMITS
from moot.core.types import (
    ABSTAINS,
    TIE,
    UNDECIDED,
    ArguedPosition,
    Confidence,
    FinalAnswer,
    Json,
    Outcome,
    RecordParts,
    Section,
    VoteCast,
)
from moot.formats.forge import episodes
from moot.formats.forge.board import GIVEN, Draft
from moot.formats.forge.matrix import CASE_CHARS, matrix_lines
from moot.formats.forge.prompting import done
from moot.formats.forge.reasons import why_chosen
from moot.formats.forge.settings import MOST_GIVEN, WORDS, Phase
from moot.formats.forge.state import Forge
from moot.formats.forge.unchecked import attacks, not_checked
from moot.reasoning.code.evidence import mostly
from moot.reasoning.code.selection import Choice, Measured
from moot.reasoning.code.written import written_case
from moot.reasoning.fence import clean, one_line

if TYPE_CHECKING:
    from moot.formats.forge.convergence import Converged

MATRIX = "Case matrix"
ENOUGH = 5  # tests that count, all passed: what more than low confidence takes where none is given
DISPUTED_MOST = 0.25  # of the tests that were predicted: with more, blind seats don't know what is meant
ONE_MODEL = "All engineers are one model: their agreement is not independence."


@dataclass(frozen=True, kw_only=True)
class Ended:
    """What ended the phases: "played", "no_code" or a limit."""

    by: str


@dataclass(frozen=True, kw_only=True)
class Rejected:
    """A gate that was not approved, for good."""

    phase: Phase
    decision: Approval


def undelivered(forge: Forge, rejected: Rejected) -> Outcome:
    """The outcome when a person rejects, or no one answers and that counts as a rejection."""
    forge.publish()
    episodes.store(forge)
    after, decision = WORDS[rejected.phase].lower(), rejected.decision
    if decision.timed_out:
        reason = f"No one answered in time after {after}; it was rejected, as `on_timeout` says. Nothing is delivered."
        decided_by = "the setting on_timeout, because no one answered in time"
    else:
        said = f" They said: {one_line(decision.text, 300)}" if decision.text else ""
        reason = f"A person rejected the result after {after}; nothing is delivered.{said}"
        decided_by = f"a person{f', {one_line(decision.by, 100)}' if decision.by else ''}"
    return Outcome(
        winner=UNDECIDED,
        headline=reason,
        ended_by="timed_out" if decision.timed_out else "rejected",
        verdict_source="rules",
        decided_by=decided_by,
        reason=reason,
        confidence=Confidence(level="Low", source="no one approved the result"),
        notes=tuple(_notes(forge)),
        record=_record(forge, None, None, reason),
        details=_details(forge, None),
    )


def nothing_to_measure(forge: Forge) -> Outcome:
    """The outcome when a repository has no test: nothing is asked of any model."""
    reason = (
        "The repository has no test that passes, and none was given: nothing could tell whether a change is right. "
        "Give a test file, and begin again."
    )
    return Outcome(
        winner=UNDECIDED,
        headline=reason,
        ended_by="no_tests",
        verdict_source="rules",
        decided_by="the rules, because there was no test",
        reason=reason,
        confidence=Confidence(level="Low", source="there is nothing to measure by"),
        notes=tuple(_notes(forge)),
    )


def verdict(forge: Forge, converged: Converged, ended: Ended) -> Outcome:
    choice, why_not = converged.choice, _why_not(forge, converged.choice, ended)
    winner = None if why_not else choice.winner
    draft = None if winner is None else forge.board.draft(winner.number)
    tied = not why_not and winner is None
    headline = why_not or (_tie(forge, choice) if winner is None else _headline(forge, winner))
    return Outcome(
        winner=TIE if tied else UNDECIDED if draft is None else draft.author,
        headline=headline,
        how="" if draft is None else f"Chosen {why_chosen(choice)}.",
        ended_by=ended.by,
        verdict_source="rules",
        decided_by=_decided_by(forge, converged),
        answer=None if draft is None else _answer(forge, draft),
        reason=headline if draft is None else "",
        statement="" if draft is None else _explained(converged),
        scores=_scores(forge),
        scale=1,
        scored_by="tests that count",
        votes=_votes(converged),
        polls=() if converged.poll is None else (converged.poll,),
        confidence=_confidence(forge, winner),
        notes=tuple(_notes(forge)),
        facts=_facts(forge, draft),
        record=_record(forge, converged, draft, headline),
        details=_details(forge, draft),
    )


def _explained(converged: Converged | None) -> str:
    """Why a version was chosen, in the judge's words."""
    return "" if converged is None or converged.teaching is None else clean(converged.teaching.explanation)


def _answer(forge: Forge, draft: Draft) -> FinalAnswer:
    if forge.repo is not None:
        return FinalAnswer(kind="patch", value=draft.code)
    return FinalAnswer(kind="code", value=draft.code, language=forge.settings.language)


def result_in_words(forge: Forge) -> str:
    """How the leading version stands, in a sentence."""
    leader = forge.board.leader()
    if leader is None:
        return "There is no version yet."
    measured = forge.board.measured(leader)
    if not measured.counted:
        return f"{forge.called(leader)} leads; no test counts yet."
    return f"{forge.called(leader)} leads: it passes {measured.passed} of {measured.counted} tests that count."


def _headline(forge: Forge, winner: Measured) -> str:
    called = forge.called(forge.board.draft(winner.number))
    if not winner.counted:
        return f"{called} is chosen, but no test counts: nothing confirms that it is right."
    own = sum(name != GIVEN for name in forge.board.expected)
    counts = {"of the repository": own, "given": len(winner.given) - own, "agreed": len(winner.agreed)}
    kinds = ", ".join(f"{n} {kind}" for kind, n in counts.items() if n)
    if winner.passed == winner.counted:
        all_ = f"all {winner.counted} tests that count" if winner.counted > 1 else "the one test that counts"
        return f"{called} passes {all_} ({kinds})."
    return f"{called} passes {winner.passed} of {winner.counted} tests that count ({kinds}); {_rest(winner)}."


def _rest(winner: Measured) -> str:
    """What became of the tests that a version does not pass."""
    if not winner.not_run:
        return "the rest it fails"
    failed = winner.counted - winner.passed - winner.not_run
    return f"it fails {failed}, and {winner.not_run} could not be run" if failed else "the rest could not be run"


def _tie(forge: Forge, choice: Choice) -> str:
    called = [forge.called(forge.board.draft(each.number)) for each in choice.leaders]
    return f"A tie between {_and(called)}: they do different things, and neither tests nor votes part them."


def _why_not(forge: Forge, choice: Choice, ended: Ended) -> str:
    """Why there is no winner; empty if there can be one."""
    board = forge.board
    if not board.drafts:
        return _no_code(forge, ended)
    measured = board.all_measured()
    if not any(each.ran for each in measured):
        return "Nothing was run: there is no test that calls the code, so nothing is known of any version."
    if not choice.leaders:
        return _impossible(forge, measured)
    best = choice.leaders[0]
    if best.counted and not best.passed:
        return (
            f"No version passes any of the {best.counted} tests that count."
            if best.counted > 1
            else "No version passes the one test that counts."
        )
    return ""


def _no_code(forge: Forge, ended: Ended) -> str:
    """Why no version was written. Whose model could not be had, and whose change could not be used, is in the notes."""
    limit = LIMITS.get(ended.by)
    if limit is not None:
        return f"No code was written: {limit.words} first. Begin again with a higher {ended.by}."
    unread = [
        seat.name
        for seat in forge.engineers
        if seat.id in forge.failed and seat.id not in forge.lost and seat.id not in forge.refused
    ]
    why = f" In what {_and(unread)} answered, no code could be found." if unread else ""
    if refused := [seat.name for seat in forge.engineers if seat.id in forge.refused]:
        return (
            f"No change could be used, so there is nothing to choose: what {_and(refused)} wrote was refused, for the "
            f"reasons in the notes.{why} Try again, or with another model."
        )
    return (
        f"No engineer wrote any code, so there is nothing to choose.{why} If the task asks for none, ask it in another "
        "format; otherwise try another model."
    )


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _impossible(forge: Forge, measured: Sequence[Measured]) -> str:
    """No version passes every given test: say which tests none passes."""
    board = forge.board
    best = max(measured, key=lambda each: sum(passed is True for passed in each.given))
    passed = sum(each is True for each in best.given)
    called = forge.called(board.draft(best.number))
    never = [
        case for case in board.given.values() if not any(board.runs.passes(each.name, case) for each in board.drafts)
    ]
    tests, ending = ("given test", "") if forge.repo is None else ("test", " that must pass")
    if len(best.given) == 1:
        words = f"No version passes the {tests}{ending}."
    else:
        words = f"No version passes all {len(best.given)} {tests}s{ending}; the best, {called}, passes {passed}."
    if not never:
        return words + _why_script_fails(forge, board.draft(best.number))
    case = never[0]
    runs = board.runs.of(board.draft(best.number).name, case.call)
    shown = f" {called} {done(runs[-1])}." if runs else ""
    more = f" (and {len(never) - 1} more)" if len(never) > 1 else ""
    return (
        f"{words} None passes {one_line(written_case(case), CASE_CHARS)}{more}.{shown} Either no engineer managed it, "
        "or the test is wrong or asks for something that the task does not say. If the test is right, try another "
        "model or more attempts."
    )


def _why_script_fails(forge: Forge, draft: Draft) -> str:
    """What the given test file showed, where a version does not pass it."""
    run = forge.board.scripts.get(draft.name)
    if run is None or run.passed:
        return ""
    test = next((each for each in run.tests if each.outcome not in ("passed", "skipped")), None)
    if test is None:
        return f" The test file ran no test to its end. {one_line(run.output, 300)}".rstrip()
    return f" In the test file, {test.name}: {test.outcome.replace('_', ' ')}. {one_line(test.message, 300)}".rstrip()


def _decided_by(forge: Forge, converged: Converged) -> str:
    if not any(each.ran for each in forge.board.all_measured()):
        return "the rules, because nothing was run"
    if converged.choice.by == "vote" and converged.poll is not None:
        return f"tests that were run, and a vote ({converged.poll.result.method}), counted by code"
    return "tests that were run"


def _confidence(forge: Forge, winner: Measured | None) -> Confidence:
    """How far the evidence carries. High takes a given test whose result was compared outside of the code: models that
    guess can agree by chance, and code can interfere with tests that run in its own process."""
    if winner is None:
        return Confidence(level="Low", source="there is no winner")
    if not winner.counted:
        return Confidence(level="Low", source="no test counts")
    if winner.passed < winner.counted:
        failed = winner.counted - winner.passed - winner.not_run
        what = [
            f"{n} of {winner.counted} tests {end}"
            for n, end in ((failed, "fail"), (winner.not_run, "were not run"))
            if n
        ]
        return Confidence(level="Low", source=" and ".join(what))
    standings = forge.board.standings()
    doubtful = standings["disputed"] + standings["unspecified"] + standings["quarantined"] + forge.board.unanswered()
    known = doubtful + standings["agreed"]
    if doubtful > DISPUTED_MOST * known:
        return Confidence(
            level="Low" if not winner.given else "Medium",
            source=f"those who saw no code did not agree on {doubtful} of {known} tests",
        )
    alike, pairs = forge.board.agreement()
    if pairs and not mostly(alike, pairs):
        return Confidence(
            level="Low" if not winner.given else "Medium",
            source=f"of those who saw no code, two said the same about a call in only {alike} of {pairs} cases",
        )
    if winner.counted < ENOUGH:
        level = "Low" if not winner.given else "Medium"
        return Confidence(level=level, source=f"all tests that count pass, but there are only {winner.counted}")
    if not winner.given:
        return Confidence(
            level="Medium", source=f"all {winner.counted} tests that count pass, but models wrote all of them"
        )
    if not forge.board.given:
        return Confidence(
            level="Medium",
            source=f"all {winner.counted} tests that count pass, but those that were given ran in the process of the "
            "code, which could interfere with them",
        )
    return Confidence(level="High", source=f"all {winner.counted} tests that count were run and pass")


def _scores(forge: Forge) -> dict[str, float | None]:
    """By engineer, the best pass rate of its versions."""
    found: dict[str, float | None] = {}
    for draft in forge.board.drafts:
        rate = forge.board.measured(draft).pass_rate
        known = found.setdefault(draft.author, None)
        if rate is not None and (known is None or rate > known):
            found[draft.author] = round(rate, 4)
    return found


def _votes(converged: Converged) -> tuple[VoteCast, ...]:
    if converged.poll is None:
        return ()
    authors = converged.poll.authors
    return tuple(
        VoteCast(
            seat=ballot.voter,
            choice=authors[ballot.ranking[0]] if ballot.ranking else ABSTAINS,
            key=ballot.keys[0] if ballot.keys else "",
            reason=ballot.reason,
        )
        for ballot in converged.poll.ballots
    )


def _notes(forge: Forge) -> list[str]:
    notes: list[str] = []
    if len({seat.spec.model for seat in forge.engineers}) == 1 and len(forge.engineers) > 1:
        notes.append(ONE_MODEL)
    notes += [f"{name} could not be had: {one_line(why, 200)}" for name, why in forge.in_order(forge.lost)]
    notes += [
        f"A change of {name} could not be used: {one_line(why, 300)}" for name, why in forge.in_order(forge.refused)
    ]
    notes += [
        f"No one answered in time after {WORDS[phase].lower()}: it was approved, as `on_timeout` says."
        for phase in forge.unanswered
    ]
    if forge.left_out:
        notes.append(
            f"The task has too many examples: the first {MOST_GIVEN} tests count, {forge.left_out} are left out."
        )
    if forge.repo is not None:
        notes += forge.repo.notes
    if forge.board.scripts:
        notes.append(
            "Tests ran in the process of the code, which could interfere with them."
            if forge.repo is not None
            else "The given test file ran in the process of the code, which could interfere with it."
        )
    return notes


def _facts(forge: Forge, draft: Draft | None) -> dict[str, str]:
    quality = None if draft is None else forge.board.quality(draft)
    return {
        "Language": forge.settings.language,
        **({} if quality is None else {"Quality": f"{quality:.2f} of 1"}),
        "Versions": str(len(forge.board.drafts)),
    }


def _record(forge: Forge, converged: Converged | None, draft: Draft | None, headline: str) -> RecordParts:
    shown = "MATRIX" if forge.shown_matrix == forge.board.matrix() else ""
    sections = {
        MATRIX: matrix_lines(forge.board.matrix()) if forge.board.drafts else [],
        "Versions": [_version_line(forge, each) for each in forge.board.drafts],
        "Votes": _ledger(forge, converged),
        "Issues": [
            f"{issue.severity}, Version {issue.version}, by {forge.names[issue.by]}: {one_line(issue.claim, 300)} "
            f"({one_line(issue.answer, 200) or 'not answered'})"
            for issue in forge.issues
        ],
        "Attacks": [attacks(forge)] if forge.attacked else [],
        "Assumptions": [
            f"{one_line(each.question, 300)} {one_line(each.answer, 300)}" for each in forge.answers if not each.stated
        ],
        "Findings": [] if draft is None else [one_line(each, 300) for each in forge.board.found(draft)],
        "Lessons": [] if converged is None else list(converged.lessons),
        "Not checked": not_checked(forge, draft),
    }
    return RecordParts(
        recommendation=f"{headline}\n\n{_explained(converged)}".strip() if draft is not None else None,
        caveats=tuple(_notes(forge)),
        dissent=tuple(_dissent(forge, converged, draft)),
        positions=tuple(_position(forge, seat.id, seat.name) for seat in forge.engineers),
        sections=tuple(
            Section(title=title, items=tuple(items), event=shown if title == MATRIX else "")
            for title, items in sections.items()
            if items
        ),
    )


def _version_line(forge: Forge, draft: Draft) -> str:
    measured, quality = forge.board.measured(draft), forge.board.quality(draft)
    passes = "not run" if not measured.ran else f"{measured.passed} of {measured.counted} tests that count"
    passes += f" ({measured.not_run} not run)" if measured.ran and measured.not_run else ""
    held = " (current)" if forge.board.held.get(draft.author) == draft.number else ""
    scored = "" if quality is None else f", quality {quality:.2f}"
    changes = "" if draft.parent is None else f", changes Version {draft.parent}"
    return f"{forge.called(draft)}: {passes}{scored}{changes}{held}"


def _ledger(forge: Forge, converged: Converged | None) -> list[str]:
    if converged is None or converged.poll is None:
        return []
    poll = converged.poll
    lines = [
        f"{forge.names[ballot.voter]} (weight {ballot.weight}): "
        + (" > ".join(ballot.ranking) if ballot.ranking else f"abstains. {one_line(ballot.reason, 200)}")
        for ballot in poll.ballots
    ]
    won = poll.titles[poll.result.winner] if poll.result.winner else poll.result.reason
    return [*lines, f"Counted by {poll.result.method}: {won}"]


def _dissent(forge: Forge, converged: Converged | None, draft: Draft | None) -> list[str]:
    if draft is None or converged is None:
        return []
    found: list[str] = []
    for author in forge.board.held:
        other = forge.board.current(author)
        if other is None or author == draft.author:
            continue
        calls = [
            call
            for call in forge.board.pool
            if not forge.board.settled(call).counts
            and forge.board.runs.shows(other.name, [call]) != forge.board.runs.shows(draft.name, [call])
        ]
        if calls:
            found.append(
                f"{forge.called(other)} does something else for {len(calls)} inputs on which nothing is agreed, "
                f"such as {one_line('; '.join(calls[0]), CASE_CHARS)}."
            )
    if converged.poll is not None:
        found += [
            f"{forge.names[ballot.voter]} ranked {ballot.ranking[0]} first."
            for ballot in converged.poll.ballots
            if ballot.ranking and ballot.ranking[0] != draft.label
        ]
    return found


def _position(forge: Forge, seat: str, name: str) -> ArguedPosition:
    draft = forge.board.current(seat)
    approach = one_line(forge.approaches.get(seat, ""), 300)
    return ArguedPosition(
        name=name,
        seat=seat,
        stance=approach,
        arguments=() if draft is None else (_version_line(forge, draft),),
    )


def _details(forge: Forge, draft: Draft | None) -> Json:
    board = forge.board
    return {
        "version": None if draft is None else draft.label,
        "language": forge.settings.language,
        "matrix": board.matrix(),
        "versions": [
            {
                "version": each.label,
                "author": each.author,
                "sha256": each.name,
                "parent": None if each.parent is None else board.draft(each.parent).label,
                "pass_rate": board.measured(each).pass_rate,
                "quality": board.quality(each),
                "metrics": board.metrics(each),
                "phase": each.phase,
            }
            for each in board.drafts
        ],
        "standings": dict(board.standings()),
        "attacks": {"made": forge.attacks, "held": forge.held_attacks},
        "assumptions": [each.answer for each in forge.answers if not each.stated],
    }
