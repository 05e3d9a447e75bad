"""In every format, whatever models write: what is stated is what is recorded, and nobody wins with nothing said.

Participants and judges are scripted: they say nothing, copy, go round in circles, are cut off, contradict themselves,
refuse, or write what can't be read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from moot.core.script import Step
from moot.core.types import ABSTAINS, TIE, UNDECIDED, Failure, Outcome
from moot.formats import installed
from moot.formats.shared.checks import UNSETTLED, refuses
from moot.reasoning.sentences import first_sentence
from moot.reasoning.statements import has_words
from tests.formats.council import answers as council
from tests.formats.crucible import answers as crucible
from tests.formats.panel import answers as panel
from tests.formats.ways import simulation
from tests.playing import good, play, script_of

GARBAGE = Failure(kind="invalid", message="three times no JSON")
COPY = "The very same words that the other side has said, one after the other, all of them again."
LOOP = "and so it goes on and so it goes on and so it goes on and so it goes on and so it goes on"
REFUSAL = "As an AI language model I cannot judge this."
TEXTS = st.sampled_from(["own", "own", "", "…", COPY, LOOP, "broken off", "cut", REFUSAL])
SCORES = st.one_of(st.just(GARBAGE), st.tuples(st.integers(0, 10), st.integers(0, 10)))
CLOSINGS = ["It holds.", "Debater B wins.", "Basil wins.", REFUSAL, "…", "PostgreSQL is the winner."]


class Statements:
    """Texts in the order in which they are asked for; then only such as no other speaker says."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = iter(texts)
        self.own: set[str] = set()  # who said something that counts
        self._copied = ""  # who said the words first that are copied
        self.finish: dict[str, str] = {}  # finish reasons by key

    def next(self, step: Step) -> str:
        text = next(self._texts, "own")
        self.finish[step.key] = {"broken off": "incomplete", "cut": "length"}.get(text, "stop")
        if text == COPY:
            self._copied = self._copied or step.seat.id
        if text in ("own", "cut", REFUSAL) or (text == COPY and self._copied == step.seat.id):
            self.own.add(step.seat.id)
        written = text in ("own", "cut", "broken off")
        return f"Own {step.seat.id}-{step.key} words of {step.seat.id}, at {step.key}." if written else text


def run(name: str, answer: Any, statements: Statements, **settings: Any) -> Outcome:
    script = script_of(name, **settings)
    return play(script, answer, times=lambda step: {"finish_reason": statements.finish.get(step.key, "stop")}).outcome


def assert_honest(outcome: Outcome, spoke: set[str]) -> None:
    """What holds in every format."""
    if outcome.answer is not None:
        agreed = outcome.winner == TIE and outcome.details.get("agrees")
        unsettled = "" if outcome.decided or agreed else f"{UNSETTLED} "
        assert outcome.headline.startswith(f"{unsettled}{outcome.answer.value}")
        assert has_words(outcome.answer.value)
        assert not refuses(outcome.answer.value)
    else:
        assert outcome.winner in (TIE, UNDECIDED)
        assert outcome.headline.startswith(("Undecided", "A tie between"))
        assert outcome.reason
        if outcome.winner == TIE and len(set(outcome.scores.values())) > 1:
            assert not re.match(r"A tie[^.]* \d+ to \d+", outcome.headline)
    if outcome.winner not in (TIE, UNDECIDED, "consensus"):
        assert outcome.winner in spoke
    if outcome.headline.startswith("Undecided"):
        assert outcome.winner == UNDECIDED
    if outcome.verdict_source == "fallback":
        assert outcome.answer is None


def debating(statements: Statements, readers: list[Any], closing: str) -> Callable[[Step], Any]:
    """What two sides and their readers answer; a judge announces the verdict in these words."""
    votes = iter(readers)

    def answer(step: Step) -> Any:
        if step.phase == "speak":
            return statements.next(step)
        if step.phase == "ballot":
            vote = next(votes)
            return vote if vote is GARBAGE else {"reasoning": "r", "score_first": vote[0], "score_second": vote[1]}
        return closing if step.phase == "announce" else good(step)

    return answer


def run_sides(name: str, answer: Callable[[Step], Any], statements: Statements, **settings: Any) -> Outcome:
    length = {"max_rounds": 2} if name == "classic" else {"turns": 4}
    outcome = run(name, answer, statements, sides=("Redis", "PostgreSQL"), **length, **settings)
    assert_honest(outcome, statements.own)
    value = {"a": "Redis", "b": "PostgreSQL"}.get(outcome.winner)
    assert (outcome.answer and outcome.answer.value) == value
    if value is None:
        return outcome
    assert outcome.headline.startswith(f"{value}. ")
    if outcome.tally is None:
        assert (outcome.scores[outcome.winner] or 0) > (outcome.scores["b" if outcome.winner == "a" else "a"] or 0)
    else:
        assert outcome.tally[outcome.winner] == max(n for c, n in outcome.tally.items() if c != ABSTAINS)
    other = ("Basil wins." if name == "duel" else "Debater B wins.", REFUSAL, "PostgreSQL is the winner.")
    if outcome.winner == "a" and any(each in outcome.statement for each in other):
        assert [check.name for check in outcome.failed_checks if check.name == "statement"]
    return outcome


@given(
    name=st.sampled_from(["classic", "duel"]),
    texts=st.lists(TEXTS, min_size=4, max_size=4),
    judge=SCORES,
    readers=st.lists(SCORES, min_size=6, max_size=6),
    swap=st.booleans(),
    jury=st.sampled_from([0, 1, 3]),
    closing=st.sampled_from(CLOSINGS),
)
def test_two_sides(name: str, texts: list[str], judge: Any, readers: list[Any], swap: bool, jury: int, closing: str):
    statements = Statements(texts)
    usual = debating(statements, readers, closing)

    def answer(step: Step) -> Any:
        if step.phase not in ("verdict", "confirm", "extract"):
            return usual(step)
        if judge is GARBAGE or step.phase != "verdict":
            return judge if judge is GARBAGE else good(step)
        scores = {"score_a": judge[0], "score_b": judge[1]}
        return {"summary": closing, "no_new_substantive_arguments": False, **scores}

    run_sides(name, answer, statements, swap=swap, jury=jury)


SCORED = st.one_of(st.just(GARBAGE), st.integers(0, 10))


@given(
    name=st.sampled_from(["classic", "duel"]),
    texts=st.lists(TEXTS, min_size=4, max_size=4),
    cases=st.tuples(SCORED, SCORED),
    readers=st.lists(SCORES, min_size=6, max_size=6),
    jury=st.sampled_from([0, 0, 1, 3]),
    closing=st.sampled_from(CLOSINGS),
)
def test_two_sides_of_small_models(
    name: str, texts: list[str], cases: Any, readers: list[Any], jury: int, closing: str
):
    statements, scored = Statements(texts), dict(zip("ab", cases, strict=True))
    usual = debating(statements, readers, closing)

    def answer(step: Step) -> Any:
        if step.phase in ("points", "plan"):
            count = step.returns.model_json_schema()["properties"]["points"]["minItems"]  # pyright: ignore
            return {"points": [f"Reason {n} of {step.seat.id}" for n in range(count)]}
        if step.phase.startswith("case-"):
            score = scored[step.phase[-1]]
            marks = dict.fromkeys(("logic", "evidence", "relevance"), score)
            return score if score is GARBAGE else {"strength": closing, "weakness": "It is short.", **marks}
        if step.phase == "score":
            return {"reasoning": "It holds.", "score": 5 if cases[0] is GARBAGE else cases[0]}
        if step.phase in ("confirm", "extract") and GARBAGE in cases:
            return GARBAGE
        return usual(step)

    outcome = run_sides(name, answer, statements, small=True, jury=jury)
    if outcome.winner in ("a", "b") and outcome.tally is None:
        assert GARBAGE not in cases


POSITIONS = st.tuples(st.sampled_from(["hold", "agree", "concede"]), st.sampled_from(["own", COPY, LOOP, "…"]))


@given(
    texts=st.lists(TEXTS, min_size=4, max_size=4),
    positions=st.lists(POSITIONS, min_size=4, max_size=4),
    states=st.lists(st.sampled_from(["converging", "stagnating", "new_ground", GARBAGE]), min_size=2, max_size=2),
    closing=st.sampled_from([*CLOSINGS, GARBAGE]),
)
def test_a_panel(texts: list[str], positions: list[Any], states: list[Any], closing: Any):
    statements, taken, found = Statements(texts), iter(positions), iter(states)
    names = {"p1": "Performance Advocate", "p2": "Operational Simplicity"}

    def rebut(step: Step) -> Any:
        position, text = next(taken)
        words = f"Own answer of {step.seat.id} at {step.key}, as only it can say." if text == "own" else text
        if text == "own":
            statements.own.add(step.seat.id)
        other = names["p2" if step.seat.id == "p1" else "p1"]
        return panel.rebuttal(position, other if position == "concede" else "", words, words)

    def evaluate(_: Step) -> Any:
        state = next(found)
        return state if state is GARBAGE else panel.assessment(state)

    answer = panel.answers(
        argue=statements.next,
        rebut=rebut,
        evaluate=evaluate,
        synthesize=closing if closing is GARBAGE else {**panel.SYNTHESIS, "recommendation": closing},
    )
    outcome = run("panel", answer, statements, perspectives=2, max_rounds=2, checkpoints=False)
    # Another may have said the copied words first, in a rebuttal: who has words of its own is checked by the answer.
    assert_honest(outcome, {*names} if statements.own else set())
    if not statements.own and COPY not in texts and all(text != COPY for _, text in positions):
        assert outcome.answer is None
    if outcome.answer is not None:
        assert outcome.answer.value == first_sentence(closing)
        stated = {"The panel agrees.": "consensus", "The recommendation has low confidence.": UNDECIDED}
        assert outcome.winner == stated.get(outcome.how, outcome.winner)
        if outcome.how not in stated:
            assert outcome.how == f"{names[outcome.winner]} prevails."


CRITIQUES = st.one_of(st.just(GARBAGE), st.tuples(st.integers(0, 10), st.booleans(), st.booleans()))


@given(
    texts=st.lists(TEXTS, min_size=2, max_size=2),
    critiques=st.lists(CRITIQUES, min_size=2, max_size=2),
    closing=st.sampled_from(CLOSINGS),
)
def test_a_crucible(texts: list[str], critiques: list[Any], closing: str):
    statements, given_ = Statements(texts), iter(critiques)

    def answer(step: Step) -> Any:
        if step.phase == "rag":
            return crucible.FOUND
        if step.phase == "critique":
            found = next(given_)
            if found is GARBAGE:
                return found
            score, ready, open = found
            return crucible.critique(*([crucible.issue()] if open else []), score=score, ready=ready)
        return closing if step.phase == "synthesize" else statements.next(step)

    outcome = run("crucible", answer, statements, min_rounds=1, max_rounds=2)
    assert_honest(outcome, statements.own)
    if outcome.answer is not None:
        assert statements.own == {"proposer"}
        assert outcome.answer.value == first_sentence(closing)
    if outcome.winner == "consensus":
        assert outcome.ended_by in ("satisfied", "no_critical")


BALLOTS = st.one_of(st.just(GARBAGE), st.permutations(["m1/0", "m2/0", "m3/0"]))


@given(
    texts=st.lists(TEXTS, min_size=3, max_size=3),
    ballots=st.lists(BALLOTS, min_size=3, max_size=3),
    behind=st.sets(st.sampled_from(["m1/0", "m2/0", "m3/0"])),
    closing=st.sampled_from([*CLOSINGS, GARBAGE]),
    departs=st.booleans(),
)
def test_a_council(texts: list[str], ballots: list[Any], behind: set[str], closing: Any, departs: bool):
    statements, votes = Statements(texts), iter(ballots)
    held: dict[str, str] = {}

    def opine(step: Step) -> Any:
        text = statements.next(step)
        held[step.seat.id] = text or "…"  # the shape does not let an empty answer through
        return council.opinion(step.seat.id, 0, answer=held[step.seat.id])

    def rank(step: Step) -> Any:
        favourites = next(votes)
        return favourites if favourites is GARBAGE else council.ballot(step, favourites, behind)

    synthesis = closing if closing is GARBAGE else {"answer": closing, "departs": departs}
    answer = council.council(answer=opine, rank=rank, synthesize=synthesis)
    outcome = run("council", answer, statements, depth="vote", **council.NAMES)
    spoke = {seat for seat, text in held.items() if has_words(text) and text != LOOP}
    assert_honest(outcome, spoke)
    if outcome.answer is not None:
        winning = f"What {outcome.winner} holds at 0"
        kept = closing is not GARBAGE and not departs and has_words(closing) and closing != REFUSAL
        if outcome.winner in spoke and not kept:
            assert outcome.answer.value == winning
        else:
            assert outcome.answer.value == first_sentence(closing)
    if outcome.winner in spoke and outcome.tally is not None:
        assert outcome.winner in outcome.tally or outcome.support is not None


MANNERS = st.sampled_from(["own", "own", "garbage", "…", COPY, LOOP, REFUSAL])


@given(
    name=st.sampled_from(["panel", "crucible", "council"]),
    seed=st.integers(0, 50),
    manners=st.lists(MANNERS, min_size=30, max_size=30),
)
def test_several_small_models(name: str, seed: int, manners: list[str]):
    """Each answer is valid, made up, and then bent: what it says in words is replaced, or it can't be read at all."""
    spoke: set[str] = set()
    left = iter(manners)

    def answer(step: Step) -> Any:
        made, manner = simulation(seed)(step), next(left, "own")
        if step.returns is None:
            made = made if manner in ("own", "garbage") else manner
        elif manner == "garbage" and step.tolerant:
            return GARBAGE
        elif manner not in ("own", "garbage"):
            bent = {field: manner if isinstance(value, str) else value for field, value in made.items()}
            with suppress(ValidationError):
                step.returns.model_validate(bent)
                made = bent
        words = made if isinstance(made, str) else " ".join(each for each in made.values() if isinstance(each, str))
        if words.replace("…", "").replace(LOOP, "").strip():
            spoke.add(step.seat.id)
        return made

    settings = {**installed()[name].small, **({"checkpoints": False} if name == "panel" else {})}
    outcome = run(name, answer, Statements([]), small=True, **settings)
    assert_honest(outcome, spoke)


def test_a_broken_off_statement_is_marked_as_such():
    statements = Statements(["own", "broken off", "own", "own"])
    outcome = run("panel", panel.answers(argue=statements.next), statements, perspectives=2, max_rounds=1)
    (cut,) = outcome.failed_checks
    assert cut.words == "Operational Simplicity's argument in round 1 was broken off by the provider"
