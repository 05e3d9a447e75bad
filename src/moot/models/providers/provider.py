"""What a provider of models is: one record. A new provider is a module with one of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlencode

from moot.core.errors import InputError
from moot.core.settings import Settings
from moot.core.types import Model, Price, Sampling, Tier, Turn
from moot.models.providers.api import Api

Loader = Callable[[str], Awaitable[Mapping[str, Turn]]]
"""Loads the turns of a debate, by key."""
Progress = Callable[[int, int], None]
"""Called during a download with the bytes that are there and their total."""

EVERY_SETTING = frozenset(Sampling.model_fields)
OPENAI_SETTINGS = EVERY_SETTING - {"min_p", "top_k"}
FREE = Price(usd_in=0, usd_out=0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """A model that is chosen, and why."""

    spec: str
    reason: str  # completes "… because {reason}"


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelSpec:
    """One model; a cascade is a tuple of them."""

    provider: str
    model: str = ""
    url: str | None = None
    options: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        if not (self.model or self.url or self.options):
            return self.provider
        at = f"@{self.url}" if self.url else ""
        options = f"?{urlencode(self.options)}" if self.options else ""
        return f"{self.provider}:{self.model}{at}{options}"


class Closable(Protocol):
    async def close(self) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Opening:
    """What a provider may use to open a model."""

    settings: Settings
    environ: Mapping[str, str]
    keep: Callable[[Closable], None]  # closes what it is given when the registry is closed
    load_turns: Loader | None = None  # None: recorded debates can't be read here
    progress: Progress | None = None


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A model as its provider opens it. The registry puts time limits, rate limits, retries and prices around it."""

    model: Model
    server: str = ""  # calls to the same server share its slots
    slots: int | None = None  # calls at once to that server; None: any number
    timed: bool = True  # False: it limits the time of a call by itself
    priced: bool = True  # False: its replies carry their cost
    counted: bool = True  # False: no model is called, so there is nothing to measure


@dataclass(frozen=True, kw_only=True)
class Provider:
    """Where models come from. Its specs are written `name:model`.

    With `api`, its models are behind an HTTP API and moot opens them; without, `open` does.
    """

    name: str
    example: str  # how one of its models is written
    about: str = ""  # for lists of providers
    api: Api | None = None
    open: Callable[[ModelSpec, Opening], Opened] | None = None
    read: Callable[[str, str], ModelSpec] | None = None  # takes what follows the colon, and the whole text
    check: Callable[[ModelSpec, Opening], None] | None = None  # raises InputError for what can't work; no network
    installed: Callable[[], bool] = lambda: True  # what it needs is installed

    # What is chosen where nothing is said
    discover: Callable[[Settings, Mapping[str, str]], Choice | None] | None = None  # asked where no key is set
    models: Mapping[Tier, str] = field(default_factory=dict[Tier, str])  # inexpensive ones, with known prices
    rank: int = 100  # of several whose key is set, the lowest is chosen
    model_variable: str = ""  # an environment variable for each tier begins so: DEEPSEEK_MODEL_JUDGE
    prefixes: tuple[str, ...] = ()  # of its models' names, to guess what a name without a provider means

    # What its models can do
    sampling: frozenset[str] = OPENAI_SETTINGS  # the settings that they take
    reasoning_sampling: frozenset[str] | None = None  # those of models that always reason; None: there are none
    price: Callable[[ModelSpec], Price] | None = None  # None: looked up
    demonstration: bool = False  # their answers mean nothing
    small: Callable[[ModelSpec], bool] = lambda spec: False  # questions may be worded more simply
    restricted: Callable[[ModelSpec], bool] | None = None  # see `restricts`

    @property
    def remote(self) -> bool:
        """Whether moot opens its models over HTTP."""
        return self.open is None

    def restricts(self, spec: ModelSpec) -> bool:
        """Whether a model reads files or other debates, so that not every caller may choose it. Of a provider that
        opens its models itself and does not say, every model counts."""
        return not self.remote if self.restricted is None else self.restricted(spec)


def checked(name: str, loaded: object) -> Provider:
    """What an entry point refers to, as a provider. Raises InputError."""
    if not isinstance(loaded, Provider):
        raise InputError("It is not a `moot.models.providers.Provider`.")
    faults: list[str] = []
    if loaded.name != name:
        faults.append(f"It calls itself {loaded.name!r}; its entry point must have the same name.")
    if name != name.strip().lower() or any(each in name for each in ":|@ \t"):
        faults.append("Its name must be in lower case, without spaces, `:`, `|` and `@`.")
    if loaded.example.partition(":")[0] != name:
        faults.append(f"Its example {loaded.example!r} is none of its own models.")
    if loaded.api is None and loaded.open is None:
        faults.append("It needs an `api` or a function `open`.")
    api = loaded.api
    if api is not None and loaded.open is None and loaded.read is None and not (api.url or api.address):
        faults.append("Its `api` needs a `url`.")
    unknown = sorted((loaded.sampling | (loaded.reasoning_sampling or frozenset())) - EVERY_SETTING)
    if unknown:
        faults.append(f"`sampling` names {', '.join(unknown)}; there are {', '.join(sorted(EVERY_SETTING))}.")
    if faults:
        raise InputError(" ".join(faults))
    return loaded
