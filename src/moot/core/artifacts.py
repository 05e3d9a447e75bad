"""Artifacts: typed results that the rules produce beside what they show, each stored with the turn that it follows.

The rules know an artifact by a name that is unique in its debate, such as `version-3`. In a store it has an id that is
unique over all debates and is derived from that name, so that storing it twice stores it once.
"""

from __future__ import annotations

import hashlib
import json
import math
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, fields, replace
from difflib import unified_diff
from typing import Any, ClassVar, Literal, TypeVar, cast, get_args

from moot.core.errors import ScriptError
from moot.core.types import Debate, Json, Outcome, Turn, record
from moot.core.values import sha256_of, storable

ArtifactKind = Literal["version", "episode", "lesson", "use"]
ARTIFACTS: tuple[ArtifactKind, ...] = get_args(ArtifactKind)
MOST_COMPARED = 4_000_000  # pairs of lines that a diff compares; more than that is shown as one replacement


@record
class Artifact:
    """What all artifacts have in common. `Stage.produce` fills in these fields."""

    kind: ClassVar[ArtifactKind]

    id: str = ""  # in the rules a name in the debate, in the store unique over all debates
    debate_id: str = ""  # only in the store
    number: int = 0  # from 1, in its debate and kind
    turn_key: str = ""  # the turn that it follows, or an earlier one that the rules name; empty: before all turns
    round: int = 0  # that of the turn with this key, if the rules don't say; so is the phase
    phase: str = ""
    created_at: float = 0.0  # that of the turn it follows: it is stored with it


@record
class Version(Artifact):
    """A version of a piece of code. What was not run has no pass rate and no score."""

    kind: ClassVar[ArtifactKind] = "version"

    author: str  # a seat's id
    language: str
    code: str
    sha256: str = ""  # of the code; filled in
    parent: str | None = None  # the id of the version that it changes
    test_pass_rate: float | None = None  # 0 to 1
    quality_score: float | None = None  # 0 to 1
    metrics: Json = field(default_factory=dict[str, Any])
    diff_from_previous: str = ""  # from the parent's code; filled in
    label: str = ""


@record
class Episode(Artifact):
    """One attempt at a task, with what came of it and what its author makes of that."""

    kind: ClassVar[ArtifactKind] = "episode"

    agent: str  # a seat's id, or a role
    task: str
    attempt: int = 1
    code: str = ""  # its sha256
    passed: bool | None = None  # all tests; None: nothing was run
    test_results: Json = field(default_factory=dict[str, Any])
    failure_analysis: str = ""
    reflection: str = ""
    improvement: str = ""
    confidence: float | None = None  # 0 to 1
    model: str = ""  # that of the turn with its key, if the rules don't say
    demonstration: bool = False  # a demonstration model took part in the debate; only in the store


@record
class Lesson(Artifact):
    """Something general that was learnt from episodes. Code decides whether the record confirms it."""

    kind: ClassVar[ArtifactKind] = "lesson"

    text: str
    applies_when: str = ""
    episodes: tuple[str, ...] = ()  # the ids of the episodes that it cites
    confirmed: bool = False  # a cited episode failed, and the same agent passed the same task later; filled in
    model: str = ""  # that of the turn with its key, if the rules don't say
    demonstration: bool = False  # a demonstration model took part in the debate; only in the store


@record
class LessonUse(Artifact):
    """That a lesson of an earlier debate was recalled, and whether it held in this one."""

    kind: ClassVar[ArtifactKind] = "use"

    lesson: str  # its id, as memory gave it
    held: bool | None  # None: the record says neither
    note: str = ""


M = TypeVar("M", bound=Artifact)

_MEASURED = {"author", "sha256", "pass_rate", "quality", "metrics"}
_RATES = ("test_pass_rate", "quality_score", "confidence")
# What depends on where an artifact is stored, and not on the turns.
OF_THE_PLACE: Mapping[str, Any] = {"demonstration": False}


class Artifacts:
    """What the rules of one debate have produced so far, in order."""

    def __init__(self) -> None:
        self.made: list[Artifact] = []
        self._by_id: dict[str, Artifact] = {}

    def add(self, artifact: M, turn: Turn | None, named: Turn | None = None) -> M:
        """Complete an artifact and keep it. `turn`: the one it follows; `named`: the one that the rules name as that
        in which it was made, if they do. Raises ScriptError."""
        number = 1 + sum(each.kind == artifact.kind for each in self.made)
        made = named or turn
        done = replace(artifact, id=f"{artifact.kind}-{number}", number=number, **_after(artifact, turn, made))
        done = _cleaned(done)
        done = replace(done, **self._filled(done, made))
        self.made.append(done)
        self._by_id[done.id] = done
        return done

    def _filled(self, artifact: Artifact, turn: Turn | None) -> Json:
        """The fields that code fills in."""
        model = "" if turn is None else turn.model
        match artifact:
            case Version():
                before = None if artifact.parent is None else self._named(artifact.parent, Version)
                return {"sha256": sha256_of(artifact.code), "diff_from_previous": _changes(before, artifact)}
            case Episode():
                return {"model": artifact.model or model}
            case Lesson():
                cited = [self._named(each, Episode) for each in artifact.episodes]
                episodes = [each for each in self.made if isinstance(each, Episode)]
                return {"model": artifact.model or model, "confirmed": confirmed(cited, episodes)}
            case _:
                return {}

    def _named(self, id: str, type_: type[M]) -> M:
        found = self._by_id.get(id)
        if not isinstance(found, type_):
            raise ScriptError(f"The rules name the {type_.kind} {id!r}, which they have not produced.")
        return found


def confirmed(cited: Iterable[Episode], episodes: Sequence[Episode]) -> bool:
    """Whether the record has a cited failure after which the same agent passed the same task."""
    return any(
        one.passed is False
        and any(
            later.passed and later.number > one.number and (later.agent, later.task) == (one.agent, one.task)
            for later in episodes
        )
        for one in cited
    )


def difference(before: str, after: str, names: tuple[str, str]) -> str:
    """A unified diff of code; empty if it is the same. Code that is too long to be compared is replaced as a whole: it
    may be a model's, and comparing can take a time that grows with the third power of its length."""
    one, two = before.splitlines(), after.splitlines()
    if one == two:
        return ""
    if len(one) * len(two) > MOST_COMPARED:
        head = [f"--- {names[0]}", f"+++ {names[1]}", f"@@ -1,{len(one)} +1,{len(two)} @@"]
        lines = [*head, *(f"-{line}" for line in one), *(f"+{line}" for line in two)]
    else:
        lines = list(unified_diff(one, two, *names, lineterm=""))
    return "\n".join(lines) + "\n"


def _changes(before: Version | None, after: Version) -> str:
    if before is None:
        return ""
    return difference(before.code, after.code, (f"{before.author} {before.number}", f"{after.author} {after.number}"))


def stored_id(debate_id: str, name: str) -> str:
    """The id in a store of what the rules of a debate know by `name`: a UUID of version 8."""
    digest = hashlib.sha256(f"{debate_id}/{name}".encode()).digest()
    return str(uuid.UUID(int=int.from_bytes(digest[:16], "big") & ~(0xF << 76 | 0x3 << 62) | 0x8 << 76 | 0x2 << 62))


def placed(artifact: M, debate: Debate, *, demonstration: bool = False) -> M:
    """The artifact as it is stored."""
    changes: Json = {"id": stored_id(debate.id, artifact.id), "debate_id": debate.id}
    if not artifact.turn_key:
        changes["created_at"] = debate.created_at
    if isinstance(artifact, Version) and artifact.parent is not None:
        changes["parent"] = stored_id(debate.id, artifact.parent)
    if isinstance(artifact, Lesson):
        changes["episodes"] = tuple(stored_id(debate.id, each) for each in artifact.episodes)
    if isinstance(artifact, Episode | Lesson):
        changes["demonstration"] = demonstration
    return replace(artifact, **changes)


def as_measured_last(versions: Sequence[Version], outcome: Outcome | None) -> list[Version]:
    """Versions with the figures that the outcome has of them in `details["versions"]`. What is stored with a version
    was measured then; tests that count may have been added since."""
    listed: Any = None if outcome is None else outcome.details.get("versions")
    rows = cast("list[Any]", listed) if isinstance(listed, list) else []  # a plug-in may mean something else by it
    measured = [cast("Json", each) for each in rows if isinstance(each, dict) and each.keys() >= _MEASURED]
    known = {(each["author"], each["sha256"]): each for each in measured}
    return [_with_figures(each, known.get((each.author, each.sha256))) for each in versions]


def _with_figures(version: Version, row: Json | None) -> Version:
    if row is None:
        return version
    metrics: Json = row["metrics"]
    return replace(version, test_pass_rate=row["pass_rate"], quality_score=row["quality"], metrics=metrics)


def anywhere(artifact: M) -> M:
    """The artifact without what depends on where it is stored: equal turns give equal ones."""
    return replace(artifact, **{name: OF_THE_PLACE[name] for name in OF_THE_PLACE if hasattr(artifact, name)})


def _after(artifact: Artifact, turn: Turn | None, made: Turn | None) -> Json:
    if turn is None or made is None:
        return {"turn_key": "", "round": artifact.round, "phase": artifact.phase}
    return {
        "turn_key": artifact.turn_key or turn.key,
        "round": artifact.round or made.round,
        "phase": artifact.phase or made.phase,
        "created_at": turn.created_at,
    }


def _cleaned(artifact: M) -> M:
    """The artifact with text that every database can hold, and JSON as it comes back from one. Raises ScriptError."""
    changes: Json = {}
    for name in (each.name for each in fields(artifact)):
        value: Any = getattr(artifact, name)
        if isinstance(value, str):
            changes[name] = storable(value)
        elif isinstance(value, dict):
            changes[name] = _json(value)
        elif name in _RATES and value is not None:
            changes[name] = _rate(name, value)
    return replace(artifact, **changes)


def _json(value: Any) -> Any:
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        raise ScriptError("The rules produce something with figures that can't be stored as JSON.") from None


def _rate(name: str, value: float) -> float:
    if not (math.isfinite(value) and 0 <= value <= 1):
        raise ScriptError(f"The rules produce something with `{name}` {value!r}; it must lie between 0 and 1.")
    return float(value)
