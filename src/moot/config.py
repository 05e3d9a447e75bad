"""Loading settings from built-in defaults, the user's file, the project's file, the environment and flags.

The later wins, setting by setting. A project's file may come from another person, so it can't choose where data goes,
or change the user's server: see `_refuse_reach`.
"""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast, get_args

from pydantic import BaseModel, ValidationError

from moot import formats, yamlfile
from moot.core.errors import InputError, UnknownName
from moot.core.masking import masked as masked
from moot.core.settings import Settings, explained, read
from moot.core.types import Json
from moot.formats import Format
from moot.models import providers
from moot.models.choice import Choice
from moot.models.embedding import check_embedder
from moot.models.pace import limits_by_spec
from moot.models.spec import COMPATIBLE_KEY, parse, provider_of
from moot.request import merged

Layer = Literal["default", "user", "project", "environment", "flag"]
LAYERS: tuple[Layer, ...] = get_args(Layer)
PROJECT_FILE = "moot.yaml"
OTHER_VARIABLES = {
    "MOOT_CONFIG": "the user's config file, instead of the one in the platform's config folder",
    COMPATIBLE_KEY: "key for a server that a model's spec names with `@URL`",
    "MOOT_DEBUG": "when set, an error comes with its traceback",
    "MOOT_SIM_LOG": "file to which simulated models append a line for each call",
    "MOOT_WEBHOOK_URL": "where `moot record` sends what it writes",
    "MOOT_WEBHOOK_SECRET": "signs what is sent there",
}

_ROLE_MODELS = ("model_debater", "model_judge")
_PATHS = ("database_url", "data_dir", "templates_dir", "trust_projects")  # relative to the file that sets them
# A project's file may set what concerns its own debates. A test checks that every setting is in one of these three.
PROJECT_MAY = frozenset(
    {
        "format",
        "model",
        *_ROLE_MODELS,
        "defaults",
        "presets",
        "call_timeout_seconds",
        "backoff_tries",
        "concurrency",
        "rate_limits",
    }
)
# Refused in a project's file, even in a trusted one.
PROJECT_NEVER = {
    "trust_projects": "a project can't trust itself",
    "ceilings": "a project can't say what its debates may use at most",
    "tool_servers": "a project can't say which programs and servers are used",
    "language_servers": "a project can't say which programs are run",
}
# Refused unless the project is trusted: what each would do.
PROJECT_TRUSTED = {
    **dict.fromkeys(("database_url", "data_dir", "templates_dir"), "choose where data is stored"),
    "private_debates": "change who sees your debates",
    "retention_days": "delete your debates",
    "episodes_kept": "delete what your debates have learned",
    "embedder": "send your past decisions to an embedder of its choice",
    **dict.fromkeys(
        (
            "database_wait_seconds",
            "lease_seconds",
            "worker_debates",
        ),
        "change how your processes drive debates",
    ),
    **dict.fromkeys(("log_format", "log_level"), "change how the process is logged and measured"),
    **dict.fromkeys(("metrics_host", "metrics_port"), "change how the process is logged and measured"),
    **dict.fromkeys(("traces", "trace_content"), "send traces elsewhere"),
    **dict.fromkeys(("serve_host", "serve_hosts", "serve_origins", "serve_tokens"), "let others reach your server"),
    **dict.fromkeys(
        (
            "serve_port",
            "serve_rate",
            "serve_connections",
            "serve_streams",
            "serve_import_mb",
            "serve_heartbeat_seconds",
        ),
        "change how your server is reached and what it allows",
    ),
    **dict.fromkeys(("chat_on_disconnect", "chat_tools"), "change how your server answers chat clients"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    layer: Layer = "default"
    source: str = ""  # the file, the variable or the flag


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A setting and where its value comes from."""

    name: str  # dotted below `defaults`
    value: Any
    origin: Origin


@dataclass(frozen=True, kw_only=True)
class Config:
    settings: Settings
    origins: Mapping[str, Origin] = field(default_factory=dict[str, Origin])  # by dotted name; absent: a default

    def entries(self) -> list[Entry]:
        """Every setting, in the order of the schema."""
        values = {name: _plain(getattr(self.settings, name)) for name in Settings.model_fields}
        found = [(".".join(path), value) for path, value in _leaves(values)]
        return [Entry(name=name, value=value, origin=self._origin(name)) for name, value in found]

    def debate(self, format: str) -> Json:
        """Default settings of new debates of a format, without models, which `model` gives."""
        own = self.settings.defaults.get(format, {})
        return {name: value for name, value in own.items() if name not in _ROLE_MODELS}

    def model(self, tier: str, format: str) -> Choice | None:
        """The model that the highest layer sets for a tier, if any; within a layer the more specific name wins."""
        own = self.settings.defaults.get(format, {})
        specs = {
            f"defaults.{format}.model_{tier}": own.get(f"model_{tier}"),
            f"model_{tier}": getattr(self.settings, f"model_{tier}", None),
            "model": self.settings.model,
        }
        names = [name for name, spec in specs.items() if spec]
        if not names:
            return None
        name = max(names, key=lambda each: LAYERS.index(self._origin(each).layer))
        source = self._origin(name).source
        return Choice(spec=specs[name] or "", reason=f"{_short(source) if source else 'the configuration'} sets {name}")

    def _origin(self, name: str) -> Origin:
        return self.origins.get(name, Origin())


@dataclass(frozen=True, kw_only=True)
class Files:
    user: Path
    project: Path | None


def files(environ: Mapping[str, str], folder: Path | None = None) -> Files:
    """The config files for a folder, by default the current one. The user's may not exist."""
    user, project = user_file(environ), _find_project(folder)
    return Files(user=user, project=None if project is not None and _same(project, user) else project)


def user_file(environ: Mapping[str, str]) -> Path:
    if environ.get("MOOT_CONFIG"):
        return Path(os.path.expanduser(environ["MOOT_CONFIG"])).absolute()
    import platformdirs

    return Path(platformdirs.user_config_dir("moot", appauthor=False)) / "config.yaml"


def load(
    environ: Mapping[str, str],
    *,
    flags: Mapping[str, tuple[str, Any]] | None = None,
    folder: Path | None = None,
) -> Config:
    """Read and merge all layers. `flags`: the flag and its value, by setting. Raises InputError with the place and the
    setting."""
    found = files(environ, folder)
    environment = _read_environment(environ)
    layers = [environment, *(_Layer.of_flag(name, *flag) for name, flag in (flags or {}).items())]
    user = _Layer(layer="user")
    if environ.get("MOOT_CONFIG") or os.path.exists(found.user):
        user = _read_file("user", found.user)
    if found.project is not None:
        trusted = environment.values.get("trust_projects", user.values.get("trust_projects", []))
        layers.insert(0, _read_project(found.project, found.user, trusted))
    layers.insert(0, user)
    return _resolved(layers)


def variable(name: str) -> str:
    return f"MOOT_{name.upper()}"


def strays(environ: Mapping[str, str]) -> list[str]:
    """A warning for each MOOT_ variable that is no setting: most often a typing error."""
    known = [*map(variable, Settings.model_fields), *OTHER_VARIABLES]
    warnings: list[str] = []
    for name in sorted(environ):
        if name.startswith("MOOT_") and name not in known:
            rest = [each.removeprefix("MOOT_") for each in known]
            close = difflib.get_close_matches(name.removeprefix("MOOT_"), rest, n=1)
            advice = f" Did you mean MOOT_{close[0]}?" if close else ""
            default = _default_of_format(name.removeprefix("MOOT_").lower())
            advice = f" It is a setting of formats: set MOOT_DEFAULTS to '{default}'." if default else advice
            warnings.append(f"The variable {name} is set, but moot has no such setting.{advice}")
    return warnings


def _default_of_format(name: str) -> str | None:
    """How `defaults` sets a setting of formats; None for any other."""
    for format_ in formats.installed().values():
        if name in format_.settings.model_fields:
            return f"{{{format_.name}: {{{name}: …}}}}"
    return None


def shown(value: Any) -> Any:
    """A value with passwords masked, to print."""
    if isinstance(value, dict):
        return {name: shown(inner) for name, inner in cast(Json, value).items()}
    if isinstance(value, list):
        return [shown(inner) for inner in cast("list[Any]", value)]
    return masked(value) if isinstance(value, str) else value


@dataclass(frozen=True, kw_only=True)
class _Layer:
    """The settings of one layer."""

    layer: Layer
    values: Json = field(default_factory=dict[str, Any])
    sources: Mapping[str, str] = field(default_factory=dict[str, str])  # by setting

    @classmethod
    def of_flag(cls, name: str, flag: str, value: Any) -> _Layer:
        with _located(flag):
            return cls(layer="flag", values=_checked({name: value}), sources={name: flag})


def _resolved(layers: Sequence[_Layer]) -> Config:
    values: Json = {}
    for each in layers:
        values = merged(values, each.values)
    origins: dict[str, Origin] = {}
    for path, _ in _leaves(values):
        top = next((each for each in reversed(layers) if _holds(each.values, path)), None)
        if top is not None:
            origins[".".join(path)] = Origin(layer=top.layer, source=top.sources[path[0]])
    return Config(settings=Settings.model_validate(values), origins=origins)


def _find_project(folder: Path | None) -> Path | None:
    """The nearest `moot.yaml`, from the current folder up to the root of its repository or the home folder."""
    try:
        start = (folder or Path.cwd()).resolve()
    except OSError:  # the current folder is gone
        return None
    home = Path(os.path.realpath(os.path.expanduser("~")))
    for here in (start, *start.parents):
        file = here / PROJECT_FILE
        if os.path.isfile(file) and not _is_shared(here):
            return file
        if here == home or os.path.exists(here / ".git"):
            return None
    return None


def _is_shared(folder: Path) -> bool:
    """Whether it is a folder like /tmp, in which anyone can leave a file."""
    return folder.stat().st_mode & (stat.S_IWOTH | stat.S_ISVTX) == stat.S_IWOTH | stat.S_ISVTX


def _same(one: Path, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _read_project(path: Path, user: Path, trusted: Sequence[str]) -> _Layer:
    layer = _read_file("project", path)
    for name, refusal in PROJECT_NEVER.items():
        if name in layer.values:
            raise InputError(f"In {path}: {refusal}. Put {name} into {user} or {variable(name)}.")
    folder = path.parent
    if not any(folder.is_relative_to(os.path.realpath(os.path.expanduser(each))) for each in trusted):
        _refuse_reach(layer.values, path, user)
    return layer


def _refuse_reach(values: Json, path: Path, user: Path) -> None:
    """Raise InputError if an untrusted project sets more than concerns its debates, or could send questions or keys
    elsewhere, or read or write files."""
    for name in values:
        if name not in PROJECT_MAY:
            raise InputError(_distrust(name, PROJECT_TRUSTED[name], path, user))
    found = reaching(values)
    if found is not None:
        raise InputError(_distrust(found[0], f"choose the model {masked(found[1])[:80]!r}", path, user))


def reaching(values: Json) -> tuple[str, str] | None:
    """The first setting, and its text, that names a model with an address or one that reads files or other debates."""
    known = frozenset(providers.DOOR.names())
    return next(((name, text) for name, text in _texts(values) if _reaches(text, known)), None)


def _distrust(name: str, effect: str, path: Path, user: Path) -> str:
    return (
        f"In {path}: {name} would {effect}, and a project's file may come from someone else. If you trust it, put "
        f"`trust_projects: [{path.parent}]` into {user}, or set {variable('trust_projects')}={path.parent}."
    )


def _reaches(text: str, known: frozenset[str]) -> bool:
    """Whether the text is a model that has an address, or reads or writes files or other debates."""
    # Most texts are no models at all, and the error that says so takes longer to make than all the rest.
    if any(part.partition(":")[0].strip().lower() not in known for part in text.split("|")):
        return False
    try:
        members = parse(text)
    except InputError:
        return False
    return any(member.url or provider_of(member).restricts(member) for member in members)


def _read_file(layer: Layer, path: Path) -> _Layer:
    given = yamlfile.read_mapping(path, "config file", "settings", may_be_empty=True)
    with _located(f"In {path}"):
        values = _checked({name: value for name, value in given.items() if value is not None}, strict=True)
    for name in _PATHS:
        if name in values:
            values[name] = _anchored(values[name], path.parent)
    return _Layer(layer=layer, values=values, sources=dict.fromkeys(values, str(path)))


def _read_environment(environ: Mapping[str, str]) -> _Layer:
    values: Json = {}
    sources: dict[str, str] = {}
    for name, info in Settings.model_fields.items():
        text = environ.get(variable(name))
        if text:
            with _located(variable(name)):
                values |= _checked({name: yamlfile.parse(text, "Its value") if info.default_factory else text})
            sources[name] = variable(name)
    return _Layer(layer="environment", values=values, sources=sources)


@contextmanager
def _located(place: str) -> Generator[None]:
    try:
        yield
    except InputError as error:
        raise InputError(f"{place}: {error}") from None


def _checked(given: Json, *, strict: bool | None = None) -> Json:
    """The values of one layer, each validated by itself."""
    if isinstance(given.get("defaults"), dict):
        own = cast(Json, given["defaults"])
        given = {**given, "defaults": {name: {} if value is None else value for name, value in own.items()}}
    try:
        settings = read(Settings, given, strict=strict)
    except UnknownName as unknown:
        default = _default_of_format(unknown.name)
        if default is None:
            raise
        hint = f"It is a setting of formats: write `defaults: {default}`."
        raise UnknownName("setting", unknown.name, (), hint=hint) from None
    values: Json = {name: _plain(getattr(settings, name)) for name in given}
    if "format" in values and values["format"] != formats.AUTO:
        formats.get(values["format"])
    for name in ("model", *_ROLE_MODELS):
        _check_model(name, values.get(name))
    if values.get("embedder") is not None:
        with _located("Setting embedder"):
            check_embedder(values["embedder"])
    if "rate_limits" in values:
        with _located("Setting rate_limits"):
            limits_by_spec(settings.rate_limits)
    for name, own in values.get("defaults", {}).items():
        with _located(f"defaults.{name}"):
            _check_defaults(formats.get(name), own)
    for name, preset in values.get("presets", {}).items():
        with _located(f"presets.{name}"):
            _check_preset(name, preset)
    return values


def _check_preset(name: str, preset: Json) -> None:
    if name in formats.installed():
        raise InputError(f"{name!r} is a format. Choose another name for the preset.")
    _check_defaults(formats.get(preset["format"]), preset.get("settings", {}))


def _check_defaults(format_: Format, given: Json) -> None:
    """Validate defaults of a format. Settings may be missing: the debate's own can complete them."""
    try:
        format_.settings.model_validate(given)
    except ValidationError as invalid:
        wrong = [error for error in invalid.errors() if error["loc"] and not _may_follow(error["type"], error["loc"])]
        if wrong:
            raise explained(format_.settings, wrong) from None
    for name in _ROLE_MODELS:
        _check_model(name, given.get(name))


def _may_follow(problem: str, loc: tuple[int | str, ...]) -> bool:
    # Mappings are merged later; lists are not.
    return problem == "missing" and all(isinstance(part, str) for part in loc)


def _check_model(name: str, spec: str | None) -> None:
    if spec is not None:
        with _located(f"Setting {name}"):
            parse(spec)


def _plain(value: Any) -> Any:
    """Models as mappings of the fields that were set, so that they can be merged."""
    if isinstance(value, BaseModel):
        return value.model_dump(exclude_unset=True)
    return {name: _plain(inner) for name, inner in cast(Json, value).items()} if isinstance(value, dict) else value


def _leaves(values: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Values that are not mappings, and empty mappings, with their paths."""
    for name, value in values.items():
        path = (*above, str(name))
        if isinstance(value, dict) and value:
            yield from _leaves(cast(Json, value), path)
        else:
            yield path, value


def _holds(values: Json, path: tuple[str, ...]) -> bool:
    inside: Any = values
    for name in path:
        if not isinstance(inside, dict) or name not in inside:
            return False
        inside = cast(Json, inside)[name]
    return True


def _texts(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict):
        for each, inner in cast("dict[object, Any]", value).items():
            yield name, str(each)
            yield from _texts(inner, f"{name}.{each}" if name else str(each))
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            yield from _texts(inner, name)


def _anchored(value: str | list[str], folder: Path) -> Any:
    if isinstance(value, list):
        return [_anchored(each, folder) for each in value]
    scheme = "sqlite:///" if value.startswith("sqlite:///") else ""
    if "://" in value and not scheme:
        return value
    return scheme + os.path.join(folder, os.path.expanduser(value.removeprefix(scheme)))


def _short(source: str) -> str:
    """A path relative to the current folder or to the home folder, if it is below one."""
    path, home = Path(source), Path(os.path.expanduser("~"))
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else source
