"""The examples in deploy/ name commands, flags, settings and metrics that exist, and leave time to drain."""

from __future__ import annotations

import configparser
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from moot.cli.commands import COMMANDS
from moot.cli.parser import parser_of
from moot.config import OTHER_VARIABLES, load, strays
from moot.core.settings import Settings
from moot.store.overview import Overview
from moot.store.queue import Depth
from moot.telemetry.instruments import Instruments, of_database, of_process

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
UNIT = DEPLOY / "moot-worker@.service"
DRAIN = Settings().worker_drain_seconds


def compose() -> Any:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def services(**built: bool) -> dict[str, Any]:
    return {name: each for name, each in compose()["services"].items() if ("build" in each) is built.get("built", True)}


def check_command(args: list[str]) -> None:
    name, *rest = args
    assert name in COMMANDS
    parser_of(name).parse_args(rest)


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
    drain = float(service["environment"]["MOOT_WORKER_DRAIN_SECONDS"])
    assert float(service["stop_grace_period"].removesuffix("s")) >= drain + 10
    assert float(unit()["Service"]["TimeoutStopSec"]) >= DRAIN + 10


def test_health_is_asked_where_it_is_told():
    port = services()["worker"]["command"][-1]
    assert f":{port}/healthz" in services()["worker"]["healthcheck"]["test"][-1]
    assert f":{services()['serve']['command'][-1]}/healthz" in services()["serve"]["healthcheck"]["test"][-1]


def unit() -> configparser.ConfigParser:
    read = configparser.ConfigParser(strict=False, interpolation=None)
    read.optionxform = str  # type: ignore[assignment, method-assign]
    read.read(UNIT)
    return read


def test_the_unit_runs_a_worker_that_drains_and_comes_back():
    service = unit()["Service"]
    program, *args = shlex.split(service["ExecStart"].replace("%i", "1"))
    assert program.endswith("/moot")
    check_command(args)
    check_environment(dict(pair.split("=", 1) for pair in shlex.split(service["Environment"])))
    assert (service["Restart"], service["KillSignal"], service["KillMode"]) == ("always", "SIGTERM", "mixed")
    # In an environment file of systemd a value needs no quotes.
    commented = re.findall(r"^#   (MOOT_\w+)=(.*)$", UNIT.read_text(), re.MULTILINE)
    assert len(commented) >= 2
    check_environment(dict(commented))


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
def test_systemd_can_read_the_unit(tmp_path):
    moot = Path(sys.executable).with_name("moot")
    (tmp_path / "moot-worker@1.service").write_text(UNIT.read_text().replace("/opt/moot/bin/moot", str(moot)))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", tmp_path / "moot-worker@1.service"], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_image_has_what_the_project_offers():
    text = (DEPLOY / "Dockerfile").read_text()
    extras = re.search(r'"\.\[([\w,]+)\]"', text)
    assert extras is not None
    offered = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(extras[1].split(",")) <= set(offered)
    assert {"postgres", "telemetry"} <= set(extras[1].split(","))
    kept = [line[1:] for line in (DEPLOY / "Dockerfile.dockerignore").read_text().split() if line.startswith("!")]
    assert all((ROOT / name).exists() for name in kept)
    assert set(re.findall(r"\b(MOOT_\w+)=", text)) <= {f"MOOT_{name.upper()}" for name in Settings.model_fields} | {
        *OTHER_VARIABLES
    }


def test_alerts_are_about_metrics_that_exist():
    rules = yaml.safe_load((DEPLOY / "prometheus-alerts.yaml").read_text())["groups"][0]["rules"]
    metrics = [*Instruments().all(), *of_process(), *of_database(Overview(now=0, queue=Depth()))]
    known = {metric.name: set(metric.labels) for metric in metrics} | {"moot_database_up": set()}
    docs = (ROOT / "docs" / "operations.md").read_text()
    for rule in rules:
        used = re.findall(r"\b(moot_\w+)(?:\{(.*?)\})?", rule["expr"])
        assert used
        for name, labels in used:
            assert name in known
            assert set(re.findall(r"(\w+)!?=", labels)) <= known[name]
        assert f"`{rule['alert']}`" in docs
