"""What the fetching process gives up before it reads anything: files, other processes, sockets of the site.

Landlock and seccomp are system calls of Linux, made by ctypes: the wheels that wrap them need a library of the
system (libseccomp), and have no releases for years. Elsewhere only the limits of resources apply.
"""

import ctypes
import os
import platform
import resource
import struct
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from contextlib import suppress

MEMORY_BYTES = 512 * 2**20  # address space of a process that fetches; what it uses is a tenth

CPU_SECONDS = 4

_READABLE = (
    "/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/services",
    "/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf",
    "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/dev/null",
    *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
)  # fmt: skip
"""Of the resolver and of Python, which import late: none has anything secret. All else cannot be opened."""

_PORTS = (53, 80, 443)  # of TCP connections; a resolver uses 53 for long answers

_PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 4, 22, 38
_SECCOMP_MODE_FILTER = 2
_LANDLOCK_CREATE, _LANDLOCK_ADD_RULE, _LANDLOCK_RESTRICT = 444, 445, 446  # the same number on every machine
_VERSION, _PATH_BENEATH, _NET_PORT = 1, 1, 2
_READ = 1 << 2 | 1 << 3  # files and directories
_CONNECT = 1 << 1


def _system_call(number: int, *arguments: object) -> int:
    return int(ctypes.CDLL(None, use_errno=True).syscall(number, *arguments))


def _control(option: int, value: int, further: object = ctypes.c_ulong(0)) -> bool:
    """Change an attribute of this process; return whether that succeeded."""
    none, library = ctypes.c_ulong(0), ctypes.CDLL(None, use_errno=True)
    return int(library.prctl(option, ctypes.c_ulong(value), further, none, none)) == 0


def limit_resources() -> None:
    """Limit the time and memory of this process. It can write no file, and start no process unless it is root."""
    limits = {
        resource.RLIMIT_CPU: CPU_SECONDS,
        resource.RLIMIT_AS: MEMORY_BYTES,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: 32,
        resource.RLIMIT_NPROC: 0,
    }
    for kind, most in limits.items():
        with suppress(ValueError, OSError):  # a lower one is set, or the system does not have it
            resource.setrlimit(kind, (most, most))


def give_up_files() -> bool:
    """Leave this process and its children `_READABLE` files and TCP to `_PORTS`; return whether the kernel can.

    Older kernels restrict files alone.
    """
    if sys.platform != "linux":
        return False
    _control(_PR_SET_NO_NEW_PRIVS, 1)
    version = _system_call(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))
    if version < 1:
        return False
    rights = [13, 14, 15, 15, 16][min(version, 5) - 1]
    attributes = [(1 << rights) - 1]
    if version >= 4:
        attributes.append(0b11)  # binding a TCP socket, and connecting it
    if version >= 6:
        attributes.append(0b11)  # abstract Unix sockets, and signals to processes outside
    packed = struct.pack(f"={len(attributes)}Q", *attributes)
    rules = _system_call(_LANDLOCK_CREATE, packed, ctypes.c_size_t(len(packed)), ctypes.c_uint32(0))
    if rules < 0:
        return False
    try:
        for path in filter(None, _READABLE):
            with suppress(OSError):
                _allow_reading(rules, path)
        for port in _PORTS if version >= 4 else ():
            _add_rule(rules, _NET_PORT, struct.pack("=QQ", _CONNECT, port))
        return _system_call(_LANDLOCK_RESTRICT, ctypes.c_int(rules), ctypes.c_uint32(0)) == 0
    finally:
        os.close(rules)


def _allow_reading(rules: int, path: str) -> None:
    folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        read = _READ if os.path.isdir(path) else _READ & 0b111
        _add_rule(rules, _PATH_BENEATH, struct.pack("=Qi", read, folder))
    finally:
        os.close(folder)


def _add_rule(rules: int, kind: int, packed: bytes) -> None:
    _system_call(_LANDLOCK_ADD_RULE, ctypes.c_int(rules), ctypes.c_int(kind), packed, ctypes.c_uint32(0))


_MACHINES: Mapping[str, tuple[int, Mapping[str, int]]] = {
    "x86_64": (
        0xC000003E,
        {"socket": 41, "fork": 57, "vfork": 58, "clone": 56, "execve": 59, "execveat": 322, "ptrace": 101}
        | {"kill": 62, "tkill": 200, "tgkill": 234, "process_vm_readv": 310, "process_vm_writev": 311}
        | {"bpf": 321, "perf_event_open": 298, "add_key": 248, "request_key": 249, "keyctl": 250}
        | {"mount": 165, "unshare": 272, "setns": 308, "userfaultfd": 323},
    ),
    "aarch64": (
        0xC00000B7,
        {"socket": 198, "clone": 220, "execve": 221, "execveat": 281, "ptrace": 117}
        | {"kill": 129, "tkill": 130, "tgkill": 131, "process_vm_readv": 270, "process_vm_writev": 271}
        | {"bpf": 280, "perf_event_open": 241, "add_key": 217, "request_key": 218, "keyctl": 219}
        | {"mount": 40, "unshare": 97, "setns": 268, "userfaultfd": 282},
    ),
}
"""The machine's sign in a filter, and the numbers of its system calls, from the kernel's tables."""

_EVERYWHERE = {
    "pidfd_send_signal": 424,
    "io_uring_setup": 425,
    "pidfd_open": 434,
    "clone3": 435,
    "pidfd_getfd": 438,
}

_FAMILIES = (2, 10, 16)
"""AF_INET, AF_INET6 and AF_NETLINK, by which the resolver learns its own addresses; no Unix socket: no store."""

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # linux/bpf_common.h
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050001  # SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO with EPERM
_NUMBER_AT, _MACHINE_AT, _ARGUMENT_AT = 0, 4, 16  # of struct seccomp_data
_X32 = 0x40000000


def give_up_calls() -> bool:
    """Refuse new processes, signals and other than internet sockets for good; return whether the kernel can."""
    if sys.platform != "linux" or platform.machine() not in _MACHINES or sys.maxsize < 2**32:
        return False
    _control(_PR_SET_NO_NEW_PRIVS, 1)
    _control(_PR_SET_DUMPABLE, 0)
    machine, numbers = _MACHINES[platform.machine()]
    filters = b"".join(struct.pack("=HBBI", *one) for one in _filters(machine, numbers))
    program = ctypes.create_string_buffer(filters)
    head = ctypes.create_string_buffer(struct.pack("@HP", len(filters) // 8, ctypes.addressof(program)))
    return _control(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, head)


def _filters(machine: int, numbers: Mapping[str, int]) -> Iterable[tuple[int, int, int, int]]:
    """Return the program: operation, how many to skip if true and if false, and its operand."""
    refused = [number for name, number in (*numbers.items(), *_EVERYWHERE.items()) if name != "socket"]
    return (
        (_LOAD, 0, 0, _MACHINE_AT),
        (_EQUAL, 1, 0, machine),
        (_RETURN, 0, 0, _REFUSE),
        (_LOAD, 0, 0, _NUMBER_AT),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _REFUSE),
        *(step for number in refused for step in ((_EQUAL, 0, 1, number), (_RETURN, 0, 0, _REFUSE))),
        (_EQUAL, 1, 0, numbers["socket"]),
        (_RETURN, 0, 0, _ALLOW),
        (_LOAD, 0, 0, _ARGUMENT_AT),
        *(step for family in _FAMILIES for step in ((_EQUAL, 0, 1, family), (_RETURN, 0, 0, _ALLOW))),
        (_RETURN, 0, 0, _REFUSE),
    )
