"""The evidence chooses. Where it leaves versions that do different things, those who see code rank them blind to who
wrote them; then the teacher explains the result and says what is to be learned."""

from __future__ import annotations

from dataclasses import dataclass, replace

from moot.core.artifacts import Episode, Lesson
from moot.core.errors import LimitReached
from moot.core.script import Failed, Seat, together
from moot.core.types import Ballot, Candidate, Json, Poll, Prompt
from moot.formats.forge import answers, lessons_use
from moot.formats.forge.answers import Teaching, TeachingWithLessons, ballot_over
from moot.formats.forge.board import Draft
from moot.formats.forge.prompting import code_of, figures, prompts, said
from moot.formats.forge.state import Forge
from moot.reasoning.code.selection import Choice, by_evidence, classes, simplest
from moot.reasoning.voting import counted

TIE_BREAKS = ("pairwise",)
MOST_ATTEMPTS = 8  # that the teacher reads
CHOSEN = "how the code works and why it was chosen"
NOT_CHOSEN = "why no version was chosen"


@dataclass(frozen=True, kw_only=True)
class Converged:
    choice: Choice
    poll: Poll | None = None
    teaching: Teaching | None = None
    lessons: tuple[str, ...] = ()  # each with how far the record confirms it


async def settle(forge: Forge) -> Converged:
    """Run what was not run, and choose."""
    await forge.run_all("final")
    if "convergence" in forge.settings.hooks:
        leading = by_evidence(forge.board.all_measured()).leaders
        await forge.check([forge.board.draft(each.number) for each in leading])
    choice = _newest(forge, by_evidence(forge.board.all_measured()))
    poll = None
    if forge.settings.convergence and len(classes(choice.leaders)) > 1:
        choice, poll = await _vote(forge, choice)
    return Converged(choice=simplest(choice), poll=poll)


def _newest(forge: Forge, choice: Choice) -> Choice:
    """Leaders without those of which an improvement leads, too."""
    kept = {number for number, better in forge.kept.items() if better}
    improved = {forge.board.draft(each.number).parent for each in choice.leaders if each.number in kept}
    leaders = tuple(each for each in choice.leaders if each.number not in improved)
    if len(leaders) == 1 < len(choice.leaders):
        return replace(choice, leaders=leaders, by="improved")
    return replace(choice, leaders=leaders or choice.leaders)


async def _vote(forge: Forge, choice: Choice) -> tuple[Choice, Poll]:
    """A vote on one version of each behaviour, the simplest."""
    options = [
        each
        for group in classes(choice.leaders)
        if (each := simplest(Choice(leaders=group.members, by="tie")).winner) is not None
    ]
    drafts = [forge.board.draft(each.number) for each in options]
    ballots = await together(*(_ballot(forge, seat, drafts) for seat in forge.voters))
    candidates = [Candidate(id=each.label, title=forge.called(each), author=each.author) for each in drafts]
    poll = counted(forge.settings.voting, candidates, ballots, TIE_BREAKS)
    forge.stage.show("TALLY", **_shown(poll))
    won = [each for each in options if each.number == _number(poll.result.winner)]
    if not won:
        return replace(choice, leaders=tuple(options)), poll.model_copy(update={"decides": False})
    return Choice(leaders=tuple(won), by="vote", places=choice.places), poll


def _number(label: str | None) -> int:
    return int(label[1:]) if label else 0


def _shown(poll: Poll) -> Json:
    titles, result = poll.titles, poll.result
    lines = [f"{n}. {', '.join(titles[each] for each in place)}" for n, place in enumerate(result.places, 1)]
    return {"method": result.method, "lines": lines, "voters": result.voters, "abstained": result.abstained}


async def _ballot(forge: Forge, seat: Seat, drafts: list[Draft]) -> Ballot:
    """A seat's ranking of the versions that are not its own; without a valid one, it abstains."""
    phase = "vote"
    shown = {draft.label: draft for draft in drafts if draft.author != seat.id}
    empty = Ballot(voter=seat.id, weight=forge.board.weight(seat.id), keys=(forge.key(0, phase, seat),))
    if not shown:
        return empty.model_copy(update={"keys": (), "reason": "Every version is its own."})

    def cast(given: answers.Ballot | Failed) -> Ballot:
        if isinstance(given, Failed):
            return empty.model_copy(update={"reason": given.failure.message})
        return empty.model_copy(update={"ranking": tuple(dict.fromkeys(given.ranking))})

    def on_record(given: answers.Ballot | Failed) -> Json:
        ballot = cast(given)
        ranks = [forge.called(shown[each]) for each in ballot.ranking]
        return {**ballot.model_dump(mode="json"), "ranks": ranks}

    try:
        given = await seat.fresh().ask(
            forge.step(phase),
            _to_vote(forge, seat, list(shown.values()), phase),
            spared=True,
            returns=ballot_over(tuple(shown)),
            shows="BALLOT",
            closing=True,
            record=on_record,
        )
    except LimitReached as limit:
        return empty.model_copy(update={"reason": str(limit)})
    return cast(given)


def _to_vote(forge: Forge, seat: Seat, drafts: list[Draft], phase: str) -> Prompt:
    versions = [
        f"{draft.label}. {figures(forge.board, draft)}\n{code_of(draft, seat, draft.label, forge.key(0, phase, seat))}"
        for draft in drafts
    ]
    labels = ", ".join(draft.label for draft in drafts)
    return prompts("vote", task=forge.task(seat), versions="\n\n".join(versions), labels=labels)


async def teach(forge: Forge, converged: Converged, result: str, *, chosen: bool) -> Converged:
    """The explanation and up to three lessons, with what the record says of them. `chosen`: there is a winner."""
    if not forge.settings.convergence or not forge.board.drafts:
        return converged
    winner = converged.choice.winner
    shown = [] if winner is None else [forge.board.draft(winner.number)]
    teacher = forge.judge
    code = [code_of(draft, teacher, forge.author(draft), forge.key(0, "teach", teacher)) for draft in shown]
    told = forge.episodes[-MOST_ATTEMPTS:]
    lines = [
        f"{n}. {forge.names[each.agent]}, attempt {each.attempt}: "
        + ("passed." if each.passed else "not run." if each.passed is None else "failed.")
        + _reflected(forge, each, n)
        for n, each in enumerate(told, 1)
    ]
    prompt = prompts(
        "teach",
        task=forge.task(teacher),
        result="\n\n".join([result, *code]),
        attempts="\n".join(["The attempts:", *lines]) if lines else "",
        lessons=lessons_use.part(forge, teacher),
        aim=CHOSEN if chosen else NOT_CHOSEN,
    )
    returns = TeachingWithLessons if forge.lessons else Teaching
    try:
        given = await teacher.fresh().ask(
            forge.step("teach"), prompt, spared=True, returns=returns, shows="TEACHING", closing=True
        )
    except LimitReached as limit:
        forge.cut_short(limit)
        return converged
    forge.finished.add("convergence")
    if isinstance(given, Failed):
        return converged
    lessons_use.weigh(forge, given, told)
    kept: list[str] = []
    for each in given.lessons:
        cited = tuple(dict.fromkeys(told[n - 1].id for n in each.cites if 1 <= n <= len(told)))
        lesson = forge.stage.produce(Lesson(text=each.lesson, episodes=cited))
        kept.append(f"{lesson.text} ({'confirmed' if lesson.confirmed else 'not confirmed'} by the record)")
    return replace(converged, teaching=given, lessons=tuple(kept))


def _reflected(forge: Forge, episode: Episode, n: int) -> str:
    if not episode.reflection:
        return ""
    author = forge.stage.seat(episode.agent)
    at = f"{forge.key(0, 'teach', forge.judge)}/{n}"
    return f" It wrote: {said(forge.judge, episode.reflection, of=author, at=at)}"
