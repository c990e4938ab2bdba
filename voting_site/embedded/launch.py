"""Replace this process by the server: python -I -S launch.py <parent's pid> <signal> <binary> <argument>…

This is a separate program because PR_SET_PDEATHSIG must be set between fork and exec, where Python code of a
process with threads may deadlock. The kernel sends the signal when the parent *thread* ends.
"""

import ctypes
import os
import sys

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def end_with(parent: int, number: int) -> None:
    """Let the kernel send this process a signal when the thread that started it ends. Only on Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, number)
        if os.getppid() != parent:
            sys.exit("the supervisor ended before its server started")


def main(parent: str, number: str, *command: str) -> None:
    """Replace this process by the command. Never returns."""
    end_with(int(parent), int(number))
    os.execv(command[0], command)  # nosec B606 # noqa: S606 - our own binary


if __name__ == "__main__":
    main(*sys.argv[1:])
