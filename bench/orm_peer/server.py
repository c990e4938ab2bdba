"""A PostgreSQL server for a measurement, and the peer on top of it."""

import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.site.content import Content
from bench.site.processes import ROOT, descendants, environment, running, wait_until
from bench.site.servers import Server, workers

_USER = "postgres"
"""PostgreSQL refuses to run as root."""

_BINARIES = os.pathsep.join(
    [os.environ.get("PATH", ""), *(str(folder) for folder in Path("/usr/lib/postgresql").glob("*/bin"))]
)
_SETTINGS = {"shared_buffers": "512MB", "random_page_cost": "1.1", "max_wal_size": "2GB"}


def missing() -> str:
    """Return why the peer cannot be measured; "" if it can."""
    if not all(shutil.which(name, path=_BINARIES) for name in ("initdb", "postgres")):
        return "PostgreSQL is not installed"
    if os.getuid() == 0 and _USER not in {entry.pw_name for entry in pwd.getpwall()}:
        return "PostgreSQL does not run as root"
    return ""


def _binary(name: str) -> str:
    return shutil.which(name, path=_BINARIES) or name


@contextmanager
def postgres_server() -> Iterator[tuple[Path, int]]:
    """Yield the folder of a server's socket, and its process's id."""
    user = _USER if os.getuid() == 0 else None
    with tempfile.TemporaryDirectory(prefix="bench-postgres-") as name:
        folder, log = Path(name), Path(name) / "postgres.log"
        if user:
            shutil.chown(folder, user)
        initdb = [
            _binary("initdb"),
            "--no-sync",
            "--auth=trust",
            f"--username={_USER}",
            "-D",
            str(folder / "data"),
        ]
        subprocess.run(initdb, check=True, capture_output=True, cwd=folder, user=user)
        tuned = [f"--{name}={value}" for name, value in _SETTINGS.items()]
        command = [_binary("postgres"), "-D", str(folder / "data"), "-k", name, "-h", "", *tuned]
        with running(command, log, {}, user=user, stop_signal=signal.SIGINT) as process:
            wait_until(lambda: "ready to accept connections" in log.read_text("utf-8"), process, log)
            yield folder, process.pid


@contextmanager
def orm_peer(folder: Path, data_dir: Path, articles: int) -> Iterator[tuple[Server, Content]]:
    """Yield the peer, with as many articles as the site whose static files and secret key it uses."""
    with postgres_server() as (sockets, postgres):
        variables = {
            "DATA_DIR": str(data_dir),
            "ORM_PEER_SOCKETS": str(sockets),
            "DJANGO_SETTINGS_MODULE": "bench.orm_peer.settings",
            "LOG_LEVEL": "ERROR",
        }
        command = [sys.executable, "-m", "bench.orm_peer.fill", str(articles)]
        done = subprocess.run(command, cwd=ROOT, env=environment(variables), stdout=subprocess.PIPE, check=True)
        with workers("bench.orm_peer.settings", folder, variables) as server:
            server.store = lambda: descendants(postgres)
            yield server, Content(**json.loads(done.stdout))
