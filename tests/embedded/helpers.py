"""Helpers of the tests of the embedded store."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

import voting_site.embedded
from tests.waiting import until
from voting_site.embedded import StorePaths, probe

KEYS = 100  # in the store of the fixture `used`

ROOT = Path(voting_site.embedded.__file__).parents[2]

# A process that supervises the store until its input ends.
SITE = """
import sys
from pathlib import Path
from voting_site.embedded import StorePaths, Supervisor

supervisor = Supervisor(StorePaths(Path(sys.argv[1])))
supervisor.start(60)
print("owns" if supervisor.owns else "attached", flush=True)
sys.stdin.read()
supervisor.stop()
"""


def answers(paths: StorePaths) -> bool:
    return probe.ping(paths.socket) is probe.Answer.READY


def is_alive(pid: int) -> bool:
    """Return False for a process that has ended, reaped or not."""
    if sys.platform != "linux":
        state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], check=False, capture_output=True).stdout
        return bool(state.strip()) and not state.startswith(b"Z")
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2][:1] not in {b"Z", b"X"}
    except (FileNotFoundError, ProcessLookupError):
        return False


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@contextmanager
def client(paths: StorePaths, db: int = 0) -> Iterator[redis.Redis]:
    """A client without retries."""
    connection = redis.Redis.from_url(paths.url(db), retry=Retry(NoBackoff(), 0), decode_responses=True)
    try:
        yield connection
    finally:
        connection.close()


def server_pid(paths: StorePaths) -> int:
    with client(paths) as connection:
        return connection.info("server")["process_id"]


def fill(paths: StorePaths, count: int, size: int = 5) -> None:
    """Write the keys `key:0` … `key:<count - 1>` one by one."""
    with client(paths) as connection:
        for number in range(count):
            connection.set(f"key:{number}", "v" * size)


def rewrite(paths: StorePaths) -> None:
    """Make the server write all data into a new base file."""
    with client(paths) as connection:
        connection.bgrewriteaof()
    until(lambda: "appendonly.aof.2.base.rdb" in paths.manifest.read_text())


@contextmanager
def site(data_dir: Path) -> Iterator[Any]:
    """A supervising process that may still be starting."""
    with subprocess.Popen(
        [sys.executable, "-c", SITE, str(data_dir)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.communicate(timeout=60)
