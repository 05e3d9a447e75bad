"""The system-call filter of the sandbox, as a raw BPF program. No library is needed, but one table per architecture.

A call that is not on the table is allowed if it is older than `NEWEST`; what a later kernel adds does not exist here.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Iterator
from typing import NamedTuple

# A denied call fails with an error that the kernel does not give for it, so that a probe sees that it never got there.
DENIED = errno.EOPNOTSUPP
NEWEST = 456


class Architecture(NamedTuple):
    audit: int  # AUDIT_ARCH_*
    column: int  # of the table below


ARCHITECTURES = {"x86_64": Architecture(0xC000003E, 0), "aarch64": Architecture(0xC00000B7, 1)}

# Name: number on x86_64, on aarch64; None: it does not exist there.
DENIED_CALLS: dict[str, tuple[int | None, int | None]] = {
    # mounts and namespaces
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    # other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "perf_event_open": (298, 241),
    # parts of the kernel that programs seldom need and attacks often do
    "bpf": (321, 280),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "userfaultfd": (323, 282),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "personality": (135, 92),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "lookup_dcookie": (212, 18),
    "remap_file_pages": (216, 234),
    "vmsplice": (278, 75),
    "modify_ldt": (154, None),
    "uselib": (134, None),
    "sysfs": (139, None),
    "ustat": (136, None),
    "_sysctl": (156, None),
    # the machine
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "create_module": (174, None),
    "query_module": (178, None),
    "get_kernel_syms": (177, None),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "syslog": (103, 116),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "nfsservctl": (180, 42),
    "vhangup": (153, 58),
    "iopl": (172, None),
    "ioperm": (173, None),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "sync": (162, 81),
    "syncfs": (306, 267),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "mbind": (237, 235),
    "set_mempolicy": (238, 237),
    "get_mempolicy": (239, 236),
    "set_mempolicy_home_node": (450, 450),
    # memory that belongs to no process, which no limit would see
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "shmdt": (67, 197),
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "mq_timedsend": (242, 182),
    "mq_timedreceive": (243, 183),
    "mq_notify": (244, 184),
    "mq_getsetattr": (245, 185),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
}

CLONE3 = (435, 435)
CLONE = (56, 220)
SOCKET = (41, 198)
SOCKETPAIR = (53, 199)
IOCTL = (16, 29)

_NEW_NAMESPACES = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
_AF_UNIX = 1
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_X32 = 0x40000000

_LOAD, _EQUAL, _GREATER, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x25, 0x35, 0x45, 0x06
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data

_ALLOW, _ERROR, _KILL = 0x7FFF0000, 0x00050000, 0x80000000


def supported() -> bool:
    return platform.machine() in ARCHITECTURES


def program(machine: str | None = None) -> bytes:
    """The filter for a machine, by default for this one, as an array of `struct sock_filter`. Raises KeyError for an
    architecture without a table."""
    audit, column = ARCHITECTURES[machine or platform.machine()]
    return b"".join(struct.pack("<HBBI", *each) for each in _instructions(audit, column))


def _instructions(audit: int, column: int) -> Iterator[tuple[int, int, int, int]]:
    yield _LOAD, 0, 0, _ARCH
    yield _EQUAL, 1, 0, audit
    yield _RETURN, 0, 0, _KILL
    yield _LOAD, 0, 0, _NUMBER
    if column == 0:
        yield _AT_LEAST, 0, 1, _X32
        yield _RETURN, 0, 0, _ERROR | DENIED
    yield _GREATER, 0, 1, NEWEST
    yield _RETURN, 0, 0, _ERROR | errno.ENOSYS
    yield _EQUAL, 0, 1, CLONE3[column]
    yield _RETURN, 0, 0, _ERROR | errno.ENOSYS  # libc then uses clone, whose flags can be read here
    for numbers in DENIED_CALLS.values():
        number = numbers[column]
        if number is not None:
            yield _EQUAL, 0, 1, number
            yield _RETURN, 0, 0, _ERROR | DENIED
    # Arguments are compared by their lower half, which is all that the kernel reads of these.
    yield _EQUAL, 0, 4, CLONE[column]
    yield _LOAD, 0, 0, _ARGUMENTS
    yield _ANY_BIT, 0, 1, _NEW_NAMESPACES
    yield _RETURN, 0, 0, _ERROR | DENIED
    yield _RETURN, 0, 0, _ALLOW
    for call in (SOCKET, SOCKETPAIR):
        yield _EQUAL, 0, 4, call[column]
        yield _LOAD, 0, 0, _ARGUMENTS
        yield _EQUAL, 1, 0, _AF_UNIX
        yield _RETURN, 0, 0, _ERROR | errno.EAFNOSUPPORT
        yield _RETURN, 0, 0, _ALLOW
    yield _EQUAL, 0, 4, IOCTL[column]
    yield _LOAD, 0, 0, _ARGUMENTS + 8
    yield _EQUAL, 1, 0, _TIOCSTI
    yield _EQUAL, 0, 1, _TIOCLINUX
    yield _RETURN, 0, 0, _ERROR | DENIED
    yield _RETURN, 0, 0, _ALLOW
