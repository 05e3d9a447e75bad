"""Every default, once. Formats extend `DebateSettings`; `Settings` is what a process runs with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar, cast, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    StringConstraints,
    ValidationError,
    field_validator,
    model_validator,
)

from moot.core.answers import AnswerSpec
from moot.core.errors import InputError, UnknownName
from moot.core.explaining import Details, dotted, found_in
from moot.core.json_schema import NotASchema, check_schema
from moot.core.types import Frozen, Hat, Json, NonEmpty, Sampling

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

DATABASE_WAIT_SECONDS = 30
MAX_TOPIC_CHARS = 20_000
MOST_VALUES = 5_000  # of one document of settings, at any depth
MOST_UNKNOWN = 20  # names that are not known, that are looked at
SERVER_DEBATE_USD = (
    5.0  # what a debate may cost where `moot serve` or `moot mcp` runs it, unless the operator says else
)
NO_CEILING = "none"

# Marks a setting that names a folder of the machine: over HTTP, chat and MCP it takes the scope `admin`.
ON_THIS_MACHINE: Json = {"on_this_machine": True}

M = TypeVar("M", bound=BaseModel)

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60, pattern=r"^[^\n\"']+$")]
Text = Annotated[str, StringConstraints(strip_whitespace=True, max_length=20_000)]
Tokens = Annotated[int, Field(ge=1, le=1_000_000)]
Temperature = Annotated[float, Field(ge=0, le=2)]
RunningSeconds = Annotated[int, Field(ge=1, le=604_800, description="running time after which nothing new is asked")]
OutputTokens = Annotated[int, Field(ge=1, le=100_000_000, description="tokens that all models together may write")]


def _one_or_more(given: object) -> object:
    return [given] if isinstance(given, str) else given


class SeatSettings(Sampling):
    """Overrides for one seat; what is left out comes from the debate."""

    model: str | None = None
    max_tokens: Tokens | None = None
    hats: Annotated[tuple[str, ...], BeforeValidator(_one_or_more), Field(max_length=5)] = ()  # names of roles

    @property
    def sampling(self) -> Sampling:
        return Sampling(**{name: getattr(self, name) for name in Sampling.model_fields})


def folders_in(settings: type[BaseModel], given: Mapping[str, Any]) -> dict[str, str]:
    """The settings among those given that name a folder of the machine, with the folders."""
    marked = [name for name, info in settings.model_fields.items() if info.json_schema_extra == ON_THIS_MACHINE]
    return {name: given[name] for name in marked if isinstance(given.get(name), str) and given[name]}


class DebateSettings(Frozen):
    """What every format can be told."""

    max_runtime_seconds: RunningSeconds = 600
    max_total_output_tokens: OutputTokens = 8000
    max_cost_usd: float | None = Field(None, gt=0, le=1_000_000, description="money that all calls together may cost")
    max_calls: int | None = Field(
        None, ge=1, le=100_000, description="calls of models, with those that had to be made again"
    )
    debater_max_tokens: Tokens = Field(600, description="tokens in one statement")
    judge_max_tokens: Tokens = Field(400, description="tokens in one answer of a judge")
    model_debater: str | None = Field(None, description="model of the debaters")
    model_judge: str | None = Field(None, description="model of the judge")
    seats: dict[str, SeatSettings] = Field(
        default_factory=dict, description="model, max_tokens, hats (roles) and sampling settings of one seat"
    )
    custom_roles: tuple[Hat, ...] = Field(
        (), description="more roles for the hats of seats, or others of the same name; `moot roles` lists all"
    )
    sampling: Sampling = Field(
        Sampling(), description="temperature, top_p, min_p, top_k, penalties, seed and stop of all seats"
    )
    recall_decisions: bool = Field(False, description="tell the debaters of a similar question that was decided before")
    answer: AnswerSpec | None = Field(
        None, description="the answer it is to come to: its kind (choice, number, text, code or patch), and options"
    )
    answer_schema: Json | None = Field(
        None, description="JSON schema of an object, into which the judge's model puts the decision at the end"
    )

    @field_validator("custom_roles")
    @classmethod
    def _roles_differ(cls, roles: tuple[Hat, ...]) -> tuple[Hat, ...]:
        names = [role.name for role in roles]
        if len(names) != len(set(names)):
            raise ValueError("two of them have the same name")
        return roles

    @field_validator("answer_schema")
    @classmethod
    def _usable(cls, schema: Json | None) -> Json | None:
        try:
            if schema is not None:
                check_schema(schema)
        except NotASchema as error:
            raise ValueError(f"can't be used: {error}") from None
        return schema


class RateLimit(Frozen):
    """What a provider lets one account do in a minute; what is left out is not limited."""

    requests_per_minute: int | None = Field(None, ge=1, le=1_000_000)
    tokens_per_minute: int | None = Field(None, ge=1, le=1_000_000_000)


Dollars = Annotated[float, Field(gt=0, le=1_000_000)]


class Ceilings(Frozen):
    """What the operator lets debates use; None: as much as their own limits do. Tokens are output tokens."""

    debate_usd: Dollars | Literal["none"] | None = None  # "none" lifts the default of servers
    debate_tokens: OutputTokens | None = None
    caller_usd: Dollars | None = None  # in a day, by one token or by the local user
    caller_tokens: OutputTokens | None = None
    day_usd: Dollars | None = None  # in a day, by everyone
    day_tokens: OutputTokens | None = None


ChatTools = Literal["refuse", "ignore"]


class Preset(Frozen):
    """A format with settings of its own, under a name."""

    format: str = Field(max_length=100)
    settings: dict[str, Any] = Field(default_factory=dict)
    chat_tools: ChatTools | None = None  # None: as the setting of that name says


PresetName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,59}$")]


ToolServerName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]


class ToolServer(Frozen):
    """An MCP server whose tools debates about code may use: a program that is started, or an address."""

    command: list[NonEmpty] = Field(default_factory=list[str])
    url: Annotated[str, StringConstraints(pattern=r"^https?://")] | None = None
    tools: list[NonEmpty] = Field(min_length=1)  # those that may be used; no other is
    effects: list[NonEmpty] = Field(default_factory=list[str])  # those of them that may change something
    # Names of variables that the program gets beside PATH, HOME and the like.
    environment: list[NonEmpty] = Field(default_factory=list[str])
    token_variable: str = ""  # the variable whose value an address is sent as a bearer token
    timeout_seconds: float = Field(30, gt=0, le=600)

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if bool(self.command) == (self.url is not None):
            raise ValueError("it needs either `command` or `url`")
        if unknown := [name for name in self.effects if name not in self.tools]:
            raise ValueError(f"`effects` names {unknown[0]!r}, which `tools` does not")
        return self


WholePath = Annotated[str, StringConstraints(pattern=r"^(/|~/)")]


class LanguageServer(Frozen):
    """A language server that names what is wrong with code. It runs in the sandbox."""

    command: list[NonEmpty] = Field(min_length=1)
    languages: list[NonEmpty] = Field(min_length=1)  # those that it reads
    mounts: list[WholePath] = Field(default_factory=list[str])  # folders beside /usr that can be read inside
    environment: dict[str, str] = Field(default_factory=dict)  # variables and their values; it gets none of moot's own
    timeout_seconds: float = Field(30, gt=0, le=300)


class Settings(Frozen):
    """What a process runs with, and what it takes for new debates that don't say. `config.py` reads them."""

    format: str | None = Field(None, description="format of a new debate; `moot formats` marks the default")
    model: str | None = Field(None, description="model of all participants; chosen by what is there when unset")
    model_debater: str | None = Field(None, description="model of the debaters")
    model_judge: str | None = Field(None, description="model of the judge")
    defaults: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="for each format, settings of new debates"
    )
    presets: dict[PresetName, Preset] = Field(
        default_factory=dict,
        description="formats with settings of their own, by name; chat clients find each as the model `moot/NAME`",
    )
    database_url: str | None = Field(
        None, description="SQLite file, or postgresql://…; a file in the platform's data folder when unset"
    )
    data_dir: str | None = Field(None, description="folder for the database and the embedded model's weights")
    call_timeout_seconds: float = Field(
        120,
        gt=0,
        le=3600,
        description="time for one call of a model, retried once; of an embedded one, the time without a word",
    )
    backoff_tries: int = Field(
        5, ge=0, le=20, description="retries after a network error or rate limit, each after a longer wait"
    )
    concurrency: int = Field(8, ge=1, le=1000, description="calls at once to one provider")
    rate_limits: dict[str, RateLimit] = Field(
        default_factory=dict,
        description="for each model or provider, `requests_per_minute` and `tokens_per_minute` of all workers together",
    )
    tool_servers: dict[ToolServerName, ToolServer] = Field(
        default_factory=dict,
        description="MCP servers whose tools debates about code may use, by name: `command` or `url`, `tools`, "
        "`effects`, `environment`, `token_variable`, `timeout_seconds`; not from a project's file",
    )
    language_servers: dict[ToolServerName, LanguageServer] = Field(
        default_factory=dict,
        description="language servers that check code in the sandbox, by name: `command`, `languages`, `mounts`, "
        "`environment`, `timeout_seconds`; not from a project's file",
    )
    ceilings: Ceilings = Field(
        default_factory=Ceilings,
        description="what debates may use at most, whatever is asked for: `debate_usd`, `debate_tokens`, `caller_usd`, "
        "`caller_tokens`, `day_usd`, `day_tokens`; not from a project's file",
    )
    private_debates: bool = Field(
        False, description="over HTTP, chat and MCP, callers see only their own debates, except with the scope `admin`"
    )
    database_wait_seconds: float = Field(
        DATABASE_WAIT_SECONDS,
        ge=0,
        le=86_400,
        description="how long a debate waits for a PostgreSQL server that is gone",
    )
    lease_seconds: float = Field(
        15,
        ge=1,
        le=3600,
        description="how long a silent process keeps a debate; in that time a worker looks three times for debates "
        "that no process drives, and on SQLite a process 75 times for stop and cancel",
    )
    worker_debates: int = Field(100, ge=1, le=10_000, description="debates that one `moot worker` drives at once")
    retention_days: float | None = Field(
        None,
        gt=0,
        le=36_500,
        description="days after which `moot serve` and `moot worker` delete what has ended; kept for ever when unset",
    )
    episodes_kept: int = Field(
        500, ge=1, le=100_000, description="episodes that are kept for each owner of debates; the oldest make room"
    )
    log_format: Literal["text", "json"] = Field("text", description="how `moot worker` and `moot serve` write logs")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="the least that is logged")
    metrics_host: str = Field("127.0.0.1", description="address on which a worker shows its metrics")
    metrics_port: int | None = Field(
        None, ge=0, le=65_535, description="port on which a worker shows its metrics; nowhere when unset"
    )
    traces: bool = Field(False, description="send OpenTelemetry spans to where the OTEL_ variables say")
    trace_content: bool = Field(False, description="put what models read and write into spans, too")
    embedder: str | None = Field(
        None, description="compares meanings: `offline`, `none` or provider:model; `offline` where installed when unset"
    )
    templates_dir: str | None = Field(
        None, description="folder with your own reasoning templates; `templates` beside the user's file when unset"
    )
    serve_host: str = Field(
        "127.0.0.1", description="address that `moot serve` listens on; any but loopback demands tokens"
    )
    serve_port: int = Field(8421, ge=0, le=65_535, description="port that `moot serve` listens on; 0: any that is free")
    serve_hosts: list[str] = Field(
        default_factory=list, description="names under which a proxy reaches `moot serve`, besides its own address"
    )
    serve_origins: list[str] = Field(
        default_factory=list,
        description="origins of other sites whose pages may use `moot serve`, such as https://app.example; `*`, any, "
        "only where tokens are demanded",
    )
    serve_tokens: Literal["auto", "always"] = Field(
        "auto", description="whether `moot serve` demands tokens on loopback, too"
    )
    serve_rate: float = Field(200, gt=0, le=1_000_000, description="requests a second that one client may make")
    serve_connections: int = Field(
        4000,
        ge=10,
        le=1_000_000,
        description="connections to `moot serve` at once, a quarter of them for one client; fewer where the system "
        "lets a process open fewer files",
    )
    serve_streams: int = Field(
        2000,
        ge=1,
        le=1_000_000,
        description="live streams at once, chats and calls over MCP included; a tenth of them for one token",
    )
    serve_import_mb: int = Field(
        1000, ge=1, le=1_000_000, description="the most that one import over HTTP may have, unpacked"
    )
    serve_heartbeat_seconds: float = Field(
        10,
        gt=0,
        le=60,
        description="longest silence on a live stream; a token that was revoked ends its streams as soon",
    )
    chat_on_disconnect: Literal["stop", "continue"] = Field(
        "stop",
        description="what becomes of a debate when the chat client that began it goes away: it stops after the step "
        "in progress and can be resumed, or it goes on",
    )
    chat_tools: ChatTools = Field(
        "refuse",
        description="what becomes of requests that offer tools, which debates don't call: they are refused, or the "
        "tools are ignored and the answer is text; a preset can say otherwise",
    )
    trust_projects: list[str] = Field(
        default_factory=list, description="folders below which a project's moot.yaml may set anything"
    )

    @field_validator("trust_projects", "serve_hosts", "serve_origins", mode="before")
    @classmethod
    def _lists(cls, value: object) -> object:
        return _one_or_more(value)


def read(model: type[M], given: Mapping[str, Any], what: str = "setting", *, strict: bool | None = None) -> M:
    """Validate, or say in one line what is wrong and what to write instead."""
    check_size(given, what)
    unknown = [name for name in given if name not in model.model_fields]
    left_out = set(unknown[MOST_UNKNOWN:])  # each would be an error of its own, and a few say enough
    try:
        made = model.model_validate(
            {name: value for name, value in given.items() if name not in left_out}, strict=strict
        )
    except ValidationError as invalid:
        raise explained(model, invalid.errors(), what) from None
    wrong: list[Any] = [{"type": "int_type", "loc": loc, "input": value} for loc, value in _no_numbers(given, made)]
    if wrong:
        raise explained(model, wrong, what)
    return made


_SCALARS = frozenset({str, int, float, bool, type(None)})


def check_size(given: object, what: str = "setting") -> None:
    """Raises InputError if a document has very many values, at any depth: looking at each would take long."""
    left, count = [given], 0
    while left:
        each = left.pop()
        if type(each) in _SCALARS:  # almost all are, and to ask whether one is a mapping takes long
            pass
        elif isinstance(each, list | tuple):
            left += cast("list[Any]", each)
        elif isinstance(each, Mapping):
            left += cast("Mapping[Any, Any]", each).values()
        count += 1
        if count + len(left) > MOST_VALUES:
            raise InputError(f"There are more than {MOST_VALUES:,} values in the {what}s. Give fewer.")


def _no_numbers(given: object, made: object, loc: tuple[int | str, ...] = ()) -> Iterator[tuple[tuple[Any, ...], bool]]:
    """Where `true` or `false` was given for a number, which the validator takes for 1 or 0."""
    if isinstance(given, bool):
        if isinstance(made, int | float) and not isinstance(made, bool):
            yield loc, given
    elif isinstance(given, Mapping):
        values = cast("Mapping[str, object]", made if isinstance(made, Mapping) else getattr(made, "__dict__", {}))
        for name, value in cast("Mapping[str, object]", given).items():
            yield from _no_numbers(value, values.get(name), (*loc, name))
    elif isinstance(given, list | tuple) and isinstance(made, list | tuple):
        pairs = zip(cast("Sequence[object]", given), cast("Sequence[object]", made), strict=False)
        for at, (value, item) in enumerate(pairs):
            yield from _no_numbers(value, item, (*loc, at))


def explained(model: type[BaseModel], errors: Sequence[ErrorDetails], what: str = "setting") -> InputError:
    """The error for invalid settings, in plain English: the first problem in full, and how many follow."""
    # A name that is not known explains the one that is missing.
    ordered = sorted(errors, key=lambda error: error["type"] != "extra_forbidden")
    first = ordered[0]
    if first["type"] == "extra_forbidden":
        path = dotted(first["loc"][:-1])
        name, known = dotted(first["loc"][-1:]), _names_beside(model, first["loc"])
        return UnknownName(what, name, known, place=path, hint=_plain_name(name, known))
    mistakes = found_in(model, cast("Sequence[Details]", ordered))
    more = len(mistakes) - 1
    follow = f" {more} more {'problem follows' if more == 1 else 'problems follow'}." if more else ""
    whole = "The settings" if what == "setting" else f"The {what}"
    said = mistakes[0].of(what.capitalize() if mistakes[0].path else whole)
    return InputError(f"{said}{'' if said.endswith('?') else '.'}{follow}")


_NEW_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")  # where `maxRounds` becomes `max_rounds`


def _plain_name(name: str, known: Sequence[str]) -> str:
    plain = _NEW_WORD.sub("_", name.strip()).replace("-", "_").casefold()
    return f"Call it {plain!r} here." if plain in known else ""


def _names_beside(model: type[BaseModel], loc: tuple[int | str, ...]) -> list[str]:
    """The field names that would have been right where the unknown one stands."""
    fields: Mapping[str, Any] = model.model_fields
    for part in loc[:-1]:
        info = fields.get(str(part))
        inner = _model_in(info.annotation) if info is not None else None
        if inner is not None:
            fields = inner.model_fields
    return list(fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in get_args(annotation):
        found = _model_in(inner)
        if found is not None:
            return found
    return None
