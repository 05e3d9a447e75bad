"""The examples in deploy/: what they name exists, there is time to drain, and nothing has more rights than it needs."""

from __future__ import annotations

import configparser
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from moot.cli.commands import COMMANDS
from moot.cli.parser import parser_of
from moot.config import OTHER_VARIABLES, load, strays
from moot.core.settings import Settings
from moot.runtime.worker import DRAIN_SECONDS

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
UNITS = sorted(DEPLOY.glob("*.service"))


def compose() -> Any:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def services(**built: bool) -> dict[str, Any]:
    return {name: each for name, each in compose()["services"].items() if ("build" in each) is built.get("built", True)}


def check_command(args: list[str]) -> None:
    name, *rest = args
    assert name in COMMANDS
    parser_of(name, COMMANDS[name]).parse_args(rest)


def check_environment(environ: dict[str, str]) -> None:
    ours = {name: value for name, value in environ.items() if name.startswith("MOOT_")}
    assert strays(ours) == []
    load({"MOOT_CONFIG": "/dev/null", **ours})


@pytest.mark.parametrize("name", services())
def test_a_service_runs_a_command_that_exists_with_settings_that_exist(name):
    service = services()[name]
    check_command(service["command"])
    check_environment(service["environment"])
    assert "PASSWORD" not in service["environment"]["MOOT_DATABASE_URL"]


def test_the_services_of_a_team():
    assert set(services()) == {"migrate", "worker", "serve"}
    assert set(services(built=False)) == {"postgres"}
    assert services()["worker"]["deploy"]["replicas"] >= 2
    for name in ("worker", "serve"):
        assert services()[name]["depends_on"] == {"migrate": {"condition": "service_completed_successfully"}}
    for each in compose()["services"].values():
        for port in each.get("ports", ()):
            assert port.startswith("127.0.0.1:")


def test_the_commands_in_the_comments_exist():
    text = (DEPLOY / "compose.yaml").read_text()
    said = re.findall(r"docker compose run --rm serve (.*?)(?:  +#.*)?$", text, re.MULTILINE)
    assert len(said) >= 2
    for line in said:
        check_command(shlex.split(line))


def test_a_worker_has_the_time_to_drain():
    service = services()["worker"]
    assert float(service["stop_grace_period"].removesuffix("s")) >= DRAIN_SECONDS + 10


def test_health_is_asked_where_it_is_told():
    port = services()["worker"]["command"][-1]
    assert f":{port}/healthz" in services()["worker"]["healthcheck"]["test"][-1]
    assert f":{services()['serve']['command'][-1]}/healthz" in services()["serve"]["healthcheck"]["test"][-1]


LIMITED = {"worker", "serve", "migrate", "postgres"}


def test_every_container_is_bounded_and_has_no_more_rights_than_it_needs():
    every = compose()["services"]
    assert set(every) == LIMITED
    for name, service in every.items():
        limits = service["deploy"]["resources"]["limits"]
        assert re.fullmatch(r"\d+G", limits["memory"]), name
        assert limits["pids"] <= 512, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service["read_only"] is True, name
        assert not {"privileged", "network_mode", "pid", "userns_mode"} & set(service), name
        assert "user" not in service or service["user"] != "root", name
        assert name == "postgres" or "cap_add" not in service, name
        assert name == "migrate" or service["healthcheck"]["test"], name
    for name in services():
        assert any(each.startswith("/data:") and "uid=10001" in each for each in every[name]["tmpfs"]), name


def unit(path: Path) -> configparser.ConfigParser:
    read = configparser.ConfigParser(strict=False, interpolation=None)
    read.optionxform = str  # type: ignore[assignment, method-assign]
    read.read(path)
    return read


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_a_unit_runs_a_command_that_drains_and_comes_back(path: Path):
    service = unit(path)["Service"]
    program, *args = shlex.split(service["ExecStart"].replace("%i", "1"))
    assert program.endswith("/moot")
    check_command(args)
    check_environment(dict(pair.split("=", 1) for pair in shlex.split(service["Environment"])))
    assert (service["Restart"], service["KillSignal"], service["KillMode"]) == ("always", "SIGTERM", "mixed")
    assert float(service["TimeoutStopSec"]) >= DRAIN_SECONDS + 10
    # In an environment file of systemd a value needs no quotes.
    commented = re.findall(r"^#   (MOOT_\w+)=(.*)$", path.read_text(), re.MULTILINE)
    assert commented
    check_environment(dict(commented))
    for line in re.findall(r"^#   .*/opt/moot/bin/moot (.*)$", path.read_text(), re.MULTILINE):
        check_command(shlex.split(line))


def test_tokens_are_made_with_the_environment_of_the_server():
    """By systemd, as for the server: a shell would split values at spaces, and show them to every user."""
    path = DEPLOY / "moot-serve.service"
    service, comments = unit(path)["Service"], path.read_text().partition("[Unit]")[0]
    assert "$(" not in comments
    (command,) = re.findall(r"^#   (systemd-run (?:.*\\\n#)?.*)$", comments, re.MULTILINE)
    args = shlex.split(command.replace("\\\n#", " "))
    own = args[: args.index("/opt/moot/bin/moot")]
    assert f"--property=EnvironmentFile={service['EnvironmentFile']}" in own
    assert f"--uid={service['User']}" in own
    assert {each.removeprefix("--setenv=") for each in own if each.startswith("--setenv=MOOT_DATA")} <= set(
        shlex.split(service["Environment"])
    )
    assert any(each.startswith("--setenv=MOOT_DATA_DIR=") for each in own)


def test_keys_for_compose_are_for_their_owner_alone():
    comments = (DEPLOY / "compose.yaml").read_text().partition("\nname:")[0]
    assert 0 < comments.index("umask 077") < comments.index("> .env")
    assert ".env" in (ROOT / ".gitignore").read_text().split()


YES = (
    *(
        "NoNewPrivileges",
        "PrivateTmp",
        "PrivateDevices",
        "PrivateUsers",
        "PrivateMounts",
        "ProtectHome",
        "ProtectClock",
    ),
    *("ProtectHostname", "ProtectKernelLogs", "ProtectKernelTunables", "ProtectKernelModules", "ProtectControlGroups"),
    *("RestrictNamespaces", "RestrictRealtime", "RestrictSUIDSGID", "LockPersonality", "MemoryDenyWriteExecute"),
)


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_a_unit_has_no_more_rights_than_it_needs(path: Path):
    service = unit(path)["Service"]
    assert {name: service.get(name) for name in YES} == dict.fromkeys(YES, "yes")
    assert (service["ProtectSystem"], service["CapabilityBoundingSet"], service["UMask"]) == ("strict", "", "0077")
    assert service["User"] not in ("", "root")
    assert "SystemCallFilter=@system-service\n" in path.read_text()
    assert {"MemoryMax", "TasksMax", "LimitNOFILE"} <= set(service)
    # Owners of debates tell from /proc whether a process of another user lives.
    assert not {"ProtectProc", "ProcSubset", "PrivatePIDs"} & set(service)


EXPOSURE = 1.5  # of 10, as systemd counts, and it counts 1.2; what is left is the network and the root folder

# Every directive that the units use, as systemd spells it: for where there is no systemd that could read them.
DIRECTIVES = {
    "Unit": {"Description", "Wants", "After", "StartLimitIntervalSec"},
    "Service": {
        *YES,
        *("Type", "User", "Group", "EnvironmentFile", "Environment", "ExecStart", "WorkingDirectory", "UMask"),
        *("StateDirectory", "StateDirectoryMode", "KillMode", "KillSignal", "TimeoutStopSec", "Restart", "RestartSec"),
        *("LimitNOFILE", "MemoryMax", "TasksMax", "CapabilityBoundingSet", "AmbientCapabilities", "ProtectSystem"),
        *("RestrictAddressFamilies", "RemoveIPC", "SystemCallArchitectures", "SystemCallFilter"),
        "SystemCallErrorNumber",
    },
    "Install": {"WantedBy"},
}


def said_by_systemd(path: Path) -> list[str]:
    """What systemd finds wrong with a unit."""
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", path], capture_output=True, text=True)
    wrong = done.stderr.splitlines() or [f"exit code {done.returncode}"] * bool(done.returncode)
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", path], capture_output=True, text=True
    )
    found = re.search(r"Overall exposure level for \S+: (\d+\.\d)", done.stdout)
    assert found is not None, done.stderr
    return [*wrong, *([f"exposure {found[1]}"] if float(found[1]) > EXPOSURE else [])]


def said_by_rules(path: Path) -> list[str]:
    """What is wrong with a unit, as far as names and missing restrictions tell."""
    read = unit(path)
    wrong = [
        f"{section}: {name}"
        for section in read.sections()
        for name in read[section]
        if name not in DIRECTIVES.get(section, ())
    ]
    service = read["Service"]
    return wrong + [f"missing: {name}" for name in sorted(DIRECTIVES["Service"] - set(service))]


READERS = [said_by_rules, *([said_by_systemd] if shutil.which("systemd-analyze") else [])]


def copied(path: Path, folder: Path, old: str = "", new: str = "") -> Path:
    """A unit that starts the moot of the tests, with a change."""
    text = path.read_text().replace("/opt/moot/bin/moot", str(Path(sys.executable).with_name("moot")))
    assert old in text
    copy = folder / path.name.replace("@", "@1")
    copy.write_text(text.replace(old, new) if old else text)
    return copy


@pytest.mark.parametrize("said", READERS)
@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_a_unit_can_be_read_and_is_hardened(tmp_path: Path, path: Path, said: Callable[[Path], list[str]]):
    assert said(copied(path, tmp_path)) == []


@pytest.mark.parametrize("said", READERS)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("NoNewPrivileges=yes", "NoNewPrivilege=yes"),
        ("[Install]", "[Installation]"),
        # Each matters little to systemd by itself.
        ("\n".join(f"{name}=yes" for name in YES[1:5]), ""),
    ],
)
def test_a_mistake_in_a_unit_is_found(tmp_path: Path, old: str, new: str, said: Callable[[Path], list[str]]):
    path = DEPLOY / "moot-serve.service"
    assert said(copied(path, tmp_path, old, new)) != []


def closure(wanted: list[str]) -> set[str]:
    """The names of packages that these requirements need, by what is installed here."""
    seen: dict[str, set[str]] = {}
    waiting = [Requirement(each) for each in wanted]
    while waiting:
        needed = waiting.pop()
        name = canonicalize_name(needed.name)
        extras = ({""} | needed.extras) - seen.get(name, set())
        if not extras:
            continue
        seen.setdefault(name, set()).update(extras)
        waiting += [
            each
            for each in map(Requirement, distribution(name).requires or ())
            if each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in extras)
        ]
    return set(seen)


def test_the_image_has_what_the_project_needs_and_no_more():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    offered = project["project"]["optional-dependencies"]
    runtime = closure([*project["project"]["dependencies"], *offered["postgres"], *offered["telemetry"]])
    assert set((DEPLOY / "packages.txt").read_text().split()) == runtime
    assert set((DEPLOY / "build-packages.txt").read_text().split()) == closure(project["build-system"]["requires"])
    assert "moot[postgres,telemetry]" in (DEPLOY / "Dockerfile").read_text()


def test_the_image_is_built_with_hashes_and_runs_as_its_own_user():
    text = (DEPLOY / "Dockerfile").read_text()
    installs = [line for line in text.splitlines() if "pip " in line and " install " in line]
    assert len(installs) == 3
    for line in installs:
        assert "--no-deps" in line
        assert "--require-hashes -r" in line or "--no-index /dist/moot-*.whl" in line
    last = text.rpartition("\nFROM ")[2]
    assert re.search(r"^USER 10001:10001$", last, re.MULTILINE)
    assert last.index("\nUSER ") < last.index("\nENTRYPOINT ")
    kept = [line[1:] for line in (DEPLOY / "Dockerfile.dockerignore").read_text().split() if line.startswith("!")]
    assert all((ROOT / name).exists() for name in kept)
    for copied in re.findall(r"^COPY (?!--)(.*) \S+$", text, re.MULTILINE):
        assert set(copied.split()) <= {*kept, "."}
    assert set(re.findall(r"\b(MOOT_\w+)=", text)) <= {f"MOOT_{name.upper()}" for name in Settings.model_fields} | {
        *OTHER_VARIABLES
    }


def pick(folder: Path, names: str) -> subprocess.CompletedProcess[str]:
    (folder / "names.txt").write_text(names)
    shutil.copy(ROOT / "constraints.txt", folder)
    return subprocess.run(
        [sys.executable, DEPLOY / "pick.py", "names.txt"], cwd=folder, capture_output=True, text=True, check=False
    )


def test_picking_takes_versions_and_hashes_from_the_constraints(tmp_path: Path):
    done = pick(tmp_path, "hatchling\npluggy\n")
    assert re.findall(r"^(\S+)==", done.stdout, re.MULTILINE) == ["hatchling", "pluggy"]
    for entry in re.split(r"\n(?=\w)", done.stdout.strip()):
        assert entry in (ROOT / "constraints.txt").read_text()
        assert "--hash=sha256:" in entry
    assert "does not pin nosuch" in pick(tmp_path, "nosuch\n").stderr


READ_ONLY = """
set -e
mount --make-rprivate /
mount -t tmpfs -o size=64m,mode=0700,uid=10001,gid=10001 tmpfs "$ROOT/data"
for each in $(awk '$2 != ENVIRON["ROOT"] "/data" && $2 !~ "^/(proc|sys|dev)" {print $2}' /proc/mounts); do
  mount -o remount,bind,ro "$each" 2>/dev/null || true
done
cd "$ROOT/data"
! touch "$ROOT/x" 2>/dev/null
exec setpriv --reuid 10001 --regid 10001 --clear-groups --no-new-privs --bounding-set=-all "$@"
"""


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("packages", ["copied", pytest.param("downloaded", marks=pytest.mark.soak)])
def test_the_build_runs_in_a_clean_folder_and_what_it_makes_on_a_read_only_root(packages: str):
    """The steps of the Dockerfile, with its paths moved into a folder; then a debate as its user. The 80 packages of
    others are copied from here, or downloaded as the Dockerfile does."""
    root = Path(tempfile.mkdtemp(prefix="moot-image-"))
    try:
        root.chmod(0o755)
        build(root, downloaded=packages == "downloaded")
        program = root / "opt" / "moot" / "bin" / "moot"
        environ = {
            "PATH": os.environ["PATH"],
            "ROOT": str(root),
            "HOME": f"{root}/data",
            "MOOT_DATA_DIR": f"{root}/data",
        }
        command = [str(program), "debate", "Tabs or spaces?", "--model", "sim:?tokens=20", "--set", "max_rounds=1"]
        (root / "data").mkdir()
        if not can_unshare():
            command = ["sh", "-c", 'cd "$ROOT/data" && exec "$@"', "sh", *command]
        else:
            command = ["unshare", "--mount", "sh", "-c", READ_ONLY, "sh", *command]
        done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        assert "moot record" in done.stdout + done.stderr
        refused = subprocess.run(
            [*command[: command.index(str(program)) + 1], "debate", "Tabs or spaces?", "--model", "local"],
            env=environ,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert 'pip install "moot[local]"' in refused.stderr, "the image is a lean one"
    finally:
        shutil.rmtree(root)


def build(root: Path, *, downloaded: bool) -> None:
    source = root / "src"
    source.mkdir()
    for line in (DEPLOY / "Dockerfile.dockerignore").read_text().split():
        if line.startswith("!"):
            kept, to = ROOT / line[1:], source / line[1:]
            to.parent.mkdir(exist_ok=True)
            shutil.copytree(kept, to, ignore=shutil.ignore_patterns("__pycache__")) if kept.is_dir() else shutil.copy(
                kept, to
            )
    first = (DEPLOY / "Dockerfile").read_text().split("\nFROM ")[1]
    for each in ("pick.py", "packages.txt", "build-packages.txt"):
        shutil.copy(DEPLOY / each, source)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root / "builder"], check=True)
    copy_installed(["pip"], root / "builder")
    (root / "builder/bin/pip").write_text('#!/bin/sh\nexec python -m pip "$@"\n')
    (root / "builder/bin/pip").chmod(0o755)
    environ = {**os.environ, "PATH": f"{root}/builder/bin:{os.environ['PATH']}", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    environ["PIP_NO_COMPILE"] = "1"  # that takes longer than to install it
    environments = {"packages.txt": root / "opt/moot", "build-packages.txt": root / "builder"}
    for step in re.findall(r"^RUN (.*)$", first, re.MULTILINE):
        if "--require-hashes" in step and not downloaded:
            names = "build-packages.txt" if "build.txt" in step else "packages.txt"
            copy_installed((source / names).read_text().split(), environments[names])
            continue
        moved = step.replace("/opt/moot", f"{root}/opt/moot").replace("/dist", f"{root}/dist")
        done = subprocess.run(["sh", "-c", moved], cwd=source, env=environ, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, f"{step}\n{done.stderr}"


def copy_installed(names: list[str], environment: Path) -> None:
    """Copy packages that are installed here into another environment."""
    (site,) = environment.glob("lib/python*/site-packages")
    for file in (file for name in names for file in distribution(name).files or () if ".." not in file.parts):
        (site / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file.locate(), site / file)


def can_unshare() -> bool:
    probe = ["unshare", "--mount", "setpriv", "--reuid", "10001", "true"]
    return shutil.which("setpriv") is not None and subprocess.run(probe, capture_output=True).returncode == 0


def test_alerts_are_about_metrics_that_exist():
    rules = yaml.safe_load((DEPLOY / "prometheus-alerts.yaml").read_text())["groups"][0]["rules"]
    docs = (ROOT / "docs" / "operations.md").read_text()
    rows = [line.split("|") for line in docs.splitlines() if line.startswith(("| `moot_", "| `process_"))]
    known = {row[1].strip(" `"): set(row[2].replace(",", " ").split()) for row in rows}
    for rule in rules:
        used = re.findall(r"\b(moot_\w+)(?:\{(.*?)\})?", rule["expr"])
        assert used
        for name, labels in used:
            assert name in known
            assert set(re.findall(r"(\w+)!?=", labels)) <= known[name]
        assert f"`{rule['alert']}`" in docs
