"""Attempts to get out of a sandbox, or to use more than it allows, beside those that the package makes itself. Runs
inside, below those (`tests.tools.probing.program`), with the standard library alone."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import glob
import mmap
import os
import platform
import socket
import stat
import subprocess
import sys
import time

from moot.tools.sandbox.attempts import RESULTS, attempt, call, known, libc, main, reached, socket_of

PR_GET_NO_NEW_PRIVS = 39
SIGCHLD = 17
NEW_USER_NAMESPACE = 0x10000000
TIOCSTI = 0x5412
WANTED_FDS = frozenset((0, 1, 2, RESULTS))
MEGABYTE = 1024 * 1024


@attempt
def clone3() -> str:
    return reached(known["clone3"], -1, -1, held=errno.ENOSYS)


@attempt
def clone_with_user_namespace() -> str:
    result, error = call(known["clone"], NEW_USER_NAMESPACE | SIGCHLD, 0, 0, 0, 0)
    if result == 0:
        os._exit(0)
    if result > 0:
        os.waitpid(result, 0)
        return "a user namespace"
    return "" if error == known["denied"] else f"the kernel answered {errno.errorcode.get(error, error)}"


@attempt
def newer_calls() -> str:
    return reached(known["newest"] + 1, -1, -1, -1, held=errno.ENOSYS)


@attempt
def x32_calls() -> str:
    return "" if platform.machine() != "x86_64" else reached(0x40000000 + 39)


@attempt
def compat_calls() -> str:
    """getpid in the 32-bit ABI, whose numbers mean other calls."""
    if platform.machine() != "x86_64":
        return ""
    child = os.fork()
    if child == 0:
        code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
        getpid = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
        os._exit(1 if getpid() > 0 else 0)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return "a 32-bit call" if ended == 1 else ""


@attempt
def inet6() -> str:
    return socket_of(socket.AF_INET6)


@attempt
def netlink() -> str:
    return socket_of(socket.AF_NETLINK)


@attempt
def vsock() -> str:
    return socket_of(socket.AF_VSOCK, socket.SOCK_STREAM)


@attempt
def packet() -> str:
    return socket_of(socket.AF_PACKET)


@attempt
def dns() -> str:
    """A question to a name server that listens outside."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
            server.connect(("127.0.0.1", known["port"]))
            server.send(b"?")
            time.sleep(0.05)
            server.send(b"?")  # is refused if no one listens
            return "a name server"
    except OSError:
        return ""


@attempt
def shadow() -> str:
    return _readable("/etc/shadow")


@attempt
def command_lines() -> str:
    """Paths of the outside on anyone's command line."""
    for place in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(place, "rb") as line:
                content = line.read()
        except OSError:
            continue
        if any(path.encode() in content for path in known["paths"]):
            return place
    return ""


@attempt
def descriptors() -> str:
    found: list[int] = []
    for fd in range(1024):
        try:
            fcntl.fcntl(fd, fcntl.F_GETFD)
        except OSError:
            continue
        if fd not in WANTED_FDS and fd not in known["own"]:
            found.append(fd)
    return f"descriptors {found}" if found else ""


@attempt
def other_roots() -> str:
    """Files of the outside, by way of a process that has them."""
    wanted = ("/etc/shadow", *known["homes"])
    for place in glob.glob("/proc/[0-9]*/root"):
        if any(os.path.exists(place + each) for each in wanted):
            return place
    return ""


@attempt
def sysrq() -> str:
    return _writable("/proc/sysrq-trigger")


@attempt
def core_pattern() -> str:
    return _writable("/proc/sys/kernel/core_pattern")


@attempt
def cgroups() -> str:
    for base in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified", *glob.glob("/sys/fs/cgroup/*")):
        place = f"{base}/moot-{os.getpid()}"
        try:
            os.mkdir(place)
        except OSError:
            continue
        os.rmdir(place)
        return base
    return ""


@attempt
def terminal_input() -> str:
    letter = ctypes.c_char(b" ")
    ctypes.set_errno(0)
    for fd in (0, 1, 2):
        result = libc.ioctl(fd, ctypes.c_ulong(TIOCSTI), ctypes.byref(letter))
        if result == 0 or ctypes.get_errno() != known["denied"]:
            return f"the kernel answered {errno.errorcode.get(ctypes.get_errno(), 'yes')}"
    try:
        os.close(os.open("/dev/tty", os.O_RDWR))
    except OSError:
        return ""
    return "/dev/tty"


@attempt
def setuid_programs() -> str:
    if libc.prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1:
        return ""
    for place in glob.glob("/usr/bin/*"):
        try:
            found = os.stat(place)
        except OSError:
            continue
        if found.st_mode & stat.S_ISUID and not os.statvfs(place).f_flag & os.ST_NOSUID:
            return place
    return ""


@attempt
def clock() -> str:
    """Sets no clock that can be set."""
    moment = (ctypes.c_long * 2)(0, 0)
    return reached(known["calls"]["clock_settime"], 1, ctypes.addressof(moment))


# What uses more than is allowed. Each ends by itself where nothing stops it; how the run ended says whether it held.


@attempt
def fork_bomb() -> str:
    for _ in range(known["amount"]):
        try:
            if os.fork() == 0:
                time.sleep(20)
                os._exit(0)
        except OSError as error:
            time.sleep(0.1)
            return "" if error.errno == errno.EAGAIN else f"fork failed: {error}"
    return f"{known['amount']} processes"


@attempt
def zombies() -> str:
    for _ in range(known["amount"]):
        try:
            if os.fork() == 0:
                os._exit(0)
        except OSError as error:
            return "" if error.errno == errno.EAGAIN else f"fork failed: {error}"
    return f"{known['amount']} zombies"


@attempt
def memory_across_forks() -> str:
    """Children that are each small enough, and together are not."""
    made: list[int] = []
    ready, tell = os.pipe()
    each = known["amount"] * MEGABYTE // 8
    for _ in range(8):
        child = os.fork()
        if child == 0:
            held = bytearray(each)
            held[:: mmap.PAGESIZE] = b"x" * len(held[:: mmap.PAGESIZE])
            os.write(tell, b"x")
            time.sleep(20)
            os._exit(0)
        made.append(child)
    for _ in made:
        os.read(ready, 1)
    time.sleep(0.3)
    return f"{known['amount']} MB"


@attempt
def shared_memory() -> str:
    """Memory that belongs to no process, in files without a name."""
    try:
        fd = os.memfd_create("x")
    except OSError:
        return ""
    for _ in range(known["amount"]):
        os.write(fd, b"x" * MEGABYTE)
    return f"{known['amount']} MB"


@attempt
def cpu() -> str:
    start = time.process_time()
    while time.process_time() - start < known["amount"]:
        pass
    return f"{known['amount']} s"


@attempt
def sleep() -> str:
    time.sleep(known["amount"])
    return f"{known['amount']} s"


@attempt
def output() -> str:
    line = b"x" * 1023 + b"\n"
    for _ in range(known["amount"]):
        os.write(1, line)
    return ""


@attempt
def disk() -> str:
    """Fills every folder that can be written."""
    total = 0
    for name in ("/tmp/one", "/tmp/two", "/dev/shm/three"):
        try:
            with open(name, "wb") as file:
                for _ in range(known["amount"]):
                    file.write(b"x" * MEGABYTE)
                    file.flush()
                    total += 1
        except OSError:
            continue
    return f"{total} MB" if total > known["allowed"] else ""


@attempt
def files() -> str:
    for number in range(known["amount"]):
        try:
            os.close(os.open(f"/tmp/{number}", os.O_CREAT | os.O_WRONLY, 0o600))
        except OSError as error:
            return "" if error.errno == errno.ENOSPC else f"open failed: {error}"
    time.sleep(0.3)
    return f"{known['amount']} files"


@attempt
def daemon() -> str:
    """A process of a session of its own, which would outlive us."""
    code = f"import time; time.sleep({known['amount']})"
    subprocess.Popen([sys.executable, "-I", "-S", "-c", code, known["mark"]], start_new_session=True)
    return ""


@attempt
def symlinks() -> str:
    """Links where results might be looked for. Nothing outside follows them: results come over a descriptor."""
    for name in ("result", "results.json", "report.xml", "junit.xml"):
        try:
            os.symlink(known["private"], f"/tmp/{name}")
        except OSError:
            continue
    return _readable("/tmp/result")


def _readable(place: str) -> str:
    try:
        with open(place, "rb") as file:
            return place if file.read(1) else ""
    except OSError:
        return ""


def _writable(place: str) -> str:
    try:
        os.close(os.open(place, os.O_WRONLY))
    except OSError:
        return ""
    return place


if __name__ == "__main__":
    main()
