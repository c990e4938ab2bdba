"""Replace this process by a command that may use only some system calls, as systemd would run it.

python confine.py <file: a system call per line> <address families, by number, with commas> <command> …

A program of its own: the filters hold for the process that loads them, and for all that follow it.
"""

import ctypes
import errno
import os
import sys
from pathlib import Path

_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000  # seccomp.h
_EQUAL, _GREATER, _MASKED_EQUAL = 4, 6, 7
_WRITE, _EXEC = 2, 4  # sys/mman.h
_SHM_EXEC = 0o100000


class _Comparison(ctypes.Structure):
    _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


class _Filter:
    def __init__(self, default: int) -> None:
        self._library = ctypes.CDLL("libseccomp.so.2", use_errno=True)
        self._library.seccomp_init.restype = ctypes.c_void_p
        self._context = ctypes.c_void_p(self._library.seccomp_init(ctypes.c_uint32(default)))

    def add(self, action: int, call: str, *comparisons: _Comparison) -> None:
        number = self._library.seccomp_syscall_resolve_name(call.encode())
        if number < 0:  # not of this machine
            return
        array = (_Comparison * len(comparisons))(*comparisons)
        self._check(
            self._library.seccomp_rule_add_array(
                self._context, ctypes.c_uint32(action), number, len(comparisons), array
            )
        )

    def load(self) -> None:
        self._check(self._library.seccomp_load(self._context))

    def _check(self, result: int) -> None:
        if result:
            raise OSError(-result, os.strerror(-result))


def _allow_calls(names: list[str]) -> None:
    """SystemCallFilter= and SystemCallErrorNumber=EPERM."""
    calls = _Filter(_ERRNO | errno.EPERM)
    for name in names:
        calls.add(_ALLOW, name)
    calls.load()


def _deny_writable_code() -> None:
    """MemoryDenyWriteExecute=."""
    memory = _Filter(_ALLOW)
    denied = _ERRNO | errno.EPERM
    memory.add(denied, "mmap", _Comparison(2, _MASKED_EQUAL, _WRITE | _EXEC, _WRITE | _EXEC))
    for call in ("mprotect", "pkey_mprotect"):
        memory.add(denied, call, _Comparison(2, _MASKED_EQUAL, _EXEC, _EXEC))
    memory.add(denied, "shmat", _Comparison(2, _MASKED_EQUAL, _SHM_EXEC, _SHM_EXEC))
    memory.load()


def _allow_families(numbers: set[int]) -> None:
    """RestrictAddressFamilies=."""
    sockets = _Filter(_ALLOW)
    denied = _ERRNO | errno.EAFNOSUPPORT
    for number in set(range(max(numbers))) - numbers:
        sockets.add(denied, "socket", _Comparison(0, _EQUAL, number, 0))
    sockets.add(denied, "socket", _Comparison(0, _GREATER, max(numbers), 0))
    sockets.load()


def main(calls: str, families: str, *command: str) -> None:
    """Load the filters, and become the command. Never returns."""
    names = Path(calls).read_text("ascii").split()
    _deny_writable_code()
    _allow_families({int(number) for number in families.split(",")})
    _allow_calls(names)
    os.execv(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
