"""Why there is no sandbox on this machine, and what to do about it."""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass
from pathlib import Path

from moot.tools.sandbox import seccomp
from moot.tools.sandbox.recipe import bubblewrap

APPARMOR_PROFILE = """\
abi <abi/4.0>,
include <tunables/global>
profile bwrap /usr/bin/bwrap flags=(unconfined) {
  userns,
  include if exists <local/bwrap>
}"""
DOCKER_OPTIONS = (
    "--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined"
)


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    what: str  # one sentence, for everyone
    fix: str  # for who runs the machine


def before() -> Diagnosis | None:
    """What can be said without trying."""
    if sys.platform != "linux":
        return Diagnosis(
            what="The sandbox needs Linux.", fix="Run a worker on Linux, or in a virtual machine with Linux."
        )
    if not seccomp.supported():
        known = " and ".join(seccomp.ARCHITECTURES)
        return Diagnosis(
            what=f"The sandbox has no system-call filter for {platform.machine()}.", fix=f"Run a worker on {known}."
        )
    if bubblewrap() is None:
        return Diagnosis(
            what="bubblewrap is not installed.",
            fix="Install it: apt-get install bubblewrap (Debian, Ubuntu), dnf install bubblewrap (Fedora), "
            "apk add bubblewrap (Alpine), pacman -S bubblewrap (Arch).",
        )
    return None


def after(problem: str) -> Diagnosis:
    """Why a sandbox could not be started, from what it said and from the settings of the system."""
    if _setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
        return Diagnosis(
            what="AppArmor keeps bubblewrap from making user namespaces, as Ubuntu does since 23.10.",
            fix="As root, write these lines to /etc/apparmor.d/bwrap, then run `apparmor_parser -r "
            f"/etc/apparmor.d/bwrap`:\n{APPARMOR_PROFILE}",
        )
    if _setting("kernel/unprivileged_userns_clone") == "0":
        return Diagnosis(
            what="The kernel is set to allow user namespaces to root alone.",
            fix="As root: `sysctl -w kernel.unprivileged_userns_clone=1`; to keep it, the same in /etc/sysctl.d/.",
        )
    if _setting("user/max_user_namespaces") == "0":
        return Diagnosis(
            what="The kernel is set to allow no user namespaces.",
            fix="As root: `sysctl -w user.max_user_namespaces=10000`; to keep it, the same in /etc/sysctl.d/.",
        )
    if in_container():
        return Diagnosis(
            what=f"The container does not allow the sandbox to be made. {problem}",
            fix=f"Start it with {DOCKER_OPTIONS} (Docker, Podman), or `security_opt: [seccomp:unconfined, "
            "apparmor:unconfined, systempaths=unconfined]` (compose). Nothing more is needed: no --privileged, no "
            "capabilities. Or run a worker outside of the container.",
        )
    return Diagnosis(what=problem, fix="Check that `bwrap --unshare-all --ro-bind / / true` works for this user.")


def in_container() -> bool:
    if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists():
        return True
    return bool(_read("/proc/1/environ").count("container="))


def _setting(name: str) -> str:
    return _read(f"/proc/sys/{name}").strip()


def _read(place: str) -> str:
    try:
        return Path(place).read_text(errors="replace")
    except OSError:
        return ""
