#!/usr/bin/env python3
"""Backups of a site and their restores into other servers, databases and numbers of shards: a table.

    python -m bench.backups [--articles N] [--directory DIR]

Each row restores a backup into an empty site and audits the result, of which later rows take a backup. Rows whose
server is not installed are left out.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench.orm_peer.server import missing, postgres_server

ROOT = Path(__file__).resolve().parent.parent
EMBEDDED = "embedded Valkey, SQLite, 1 shard"


@dataclass
class Place:
    """A site that is not running: its data directory and its settings."""

    data_dir: Path
    settings: dict[str, str] = field(default_factory=dict)

    def run(self, *command: str) -> float:
        """Run Python; return the seconds it took, with its start and the store's. Exits if it fails."""
        own = {"REDIS_URL": "", "DATABASE_URL": "", "STORE_SHARDS": "1"} | self.settings
        own |= {"DJANGO_SETTINGS_MODULE": "voting_site.settings"}
        environment = os.environ | own | {"DATA_DIR": str(self.data_dir), "LOG_LEVEL": "WARNING"}
        began = time.perf_counter()
        done = subprocess.run(
            [sys.executable, *command],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode:
            sys.exit(f"{' '.join(command)}: {done.stdout}")
        return time.perf_counter() - began


@contextmanager
def redis_server(folder: Path) -> Iterator[str]:
    """Yield the URL of a Redis server, of the version that is installed."""
    folder.mkdir()
    socket = folder / "redis.sock"
    command = [
        "redis-server",
        "--port",
        "0",
        "--unixsocket",
        str(socket),
        "--appendonly",
        "yes",
        "--dir",
        str(folder),
    ]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        while not socket.exists():
            time.sleep(0.05)
        yield f"unix://{socket}?db=0"
    finally:
        server.terminate()
        server.wait()


def places(folder: Path, stack: ExitStack) -> Iterator[tuple[str, str, Place]]:
    """Yield from where a backup comes, where it goes, and the empty site there."""
    four = "embedded Valkey, SQLite, 4 shards"
    yield EMBEDDED, EMBEDDED, Place(folder / "same")
    yield EMBEDDED, four, Place(folder / "four", {"STORE_SHARDS": "4"})
    yield four, EMBEDDED, Place(folder / "one")
    if shutil.which("redis-server"):
        version = subprocess.run(["redis-server", "--version"], capture_output=True, text=True, check=True).stdout
        redis = f"Redis {version.partition('v=')[2].partition(' ')[0]}, SQLite, 1 shard"
        url = stack.enter_context(redis_server(folder / "redis-server"))
        yield EMBEDDED, redis, Place(folder / "redis", {"REDIS_URL": url})
        yield redis, EMBEDDED, Place(folder / "from-redis")
    if not missing():
        postgres = "embedded Valkey, PostgreSQL, 1 shard"
        sockets, _process = stack.enter_context(postgres_server())
        url = f"postgres://postgres@/postgres?host={sockets}"
        yield EMBEDDED, postgres, Place(folder / "postgres", {"DATABASE_URL": url})
        yield postgres, EMBEDDED, Place(folder / "from-postgres")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--articles", type=int, default=100_000)
    parser.add_argument("--directory", type=Path)
    options = parser.parse_args()
    print("| backup of | restored into | size (MB) | backup (s) | restore and audit (s) |", flush=True)
    print("| --- | --- | --- | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory(dir=options.directory) as name, ExitStack() as stack:
        folder = Path(name)
        first = Place(folder / "first")
        first.run("-m", "bench.site.content", str(options.articles))
        made = {EMBEDDED: _backup(first, folder / "backup-0")}
        for number, (origin, target, place) in enumerate(places(folder, stack), start=1):
            backup, megabytes, backup_seconds = made[origin]
            seconds = place.run("manage.py", "restore", str(backup))
            print(f"| {origin} | {target} | {megabytes:.1f} | {backup_seconds:.1f} | {seconds:.1f} |", flush=True)
            made.setdefault(target, _backup(place, folder / f"backup-{number}"))


def _backup(place: Place, folder: Path) -> tuple[Path, float, float]:
    """Make a backup; return its folder, its size in MB, and the seconds it took."""
    seconds = place.run("manage.py", "backup", str(folder))
    return folder, sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6, seconds


if __name__ == "__main__":
    main()
