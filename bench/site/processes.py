"""Processes of a measurement. Each has a session of its own, and is ended by its id when its block ends."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from voting_site.embedded import launch

ROOT = Path(__file__).resolve().parents[2]

_START_SECONDS = 120.0
_STOP_SECONDS = 20.0

_OF_THE_OPERATOR = ("REDIS_URL", "CACHE_URL", "EMAIL_URL", "DATABASE_URL", "SECRET_KEY", "SITE_URL", "DEBUG")
"""Variables that would let the measured site use something that is not its own."""

Process = subprocess.Popen[bytes]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment(own: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a process with the site's defaults, except for its own."""
    inherited = {name: value for name, value in os.environ.items() if name not in _OF_THE_OPERATOR}
    return inherited | {"DJANGO_SETTINGS_MODULE": "voting_site.settings"} | dict(own)


@contextmanager
def running(
    command: Sequence[str | Path],
    log: Path,
    own: Mapping[str, str],
    *,
    user: str | None = None,
    descriptors: Sequence[int] = (),
    stop_signal: signal.Signals = signal.SIGTERM,
    folder: Path = ROOT,
) -> Iterator[Process]:
    """Yield a process whose output goes to `log`. At the end of the block it is stopped, or else killed.

    On Linux it also ends if this process is killed, unless it runs as another `user`.
    """
    if user is None:
        own_end = [sys.executable, "-I", "-S", launch.__file__, str(os.getpid()), str(int(stop_signal))]
        command = [*own_end, *command]
    with log.open("ab") as output:
        process = subprocess.Popen(
            command,
            cwd=folder if user is None else log.parent,
            env=environment(own),
            stdout=output,
            stderr=output,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=descriptors,
            user=user,
        )
    try:
        yield process
    finally:
        _stop(process, stop_signal)


def _stop(process: Process, stop_signal: signal.Signals) -> None:
    if process.poll() is None:
        process.send_signal(stop_signal)
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # its own session, so nothing else
        process.wait()


def wait_until(is_ready: Callable[[], bool], process: Process, log: Path) -> float:
    """Block until a process is ready; return the seconds it took. Exits with the end of its log if it fails."""
    began = time.monotonic()
    while not is_ready():
        if process.poll() is not None or time.monotonic() - began > _START_SECONDS:
            sys.exit(f"{log.stem} did not start:\n{log.read_text('utf-8')[-2000:]}")
        time.sleep(0.02)
    return time.monotonic() - began


def descendants(pid: int) -> list[int]:
    """Return the ids of a process and of all its descendants. Linux only."""
    ids = [pid]
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in thread.read_text("ascii").split():
                ids += descendants(int(child))
    return ids


def command_line(pid: int) -> bytes:
    """Return a process's command; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def end_on_signals() -> None:
    """Let Ctrl-C and SIGTERM end this process through every `finally`, which further ones do not interrupt."""
    both = (signal.SIGINT, signal.SIGTERM)

    def end(number: int, _frame: object) -> None:
        for each in both:
            signal.signal(each, signal.SIG_IGN)
        sys.exit(128 + number)

    for each in both:
        signal.signal(each, end)
