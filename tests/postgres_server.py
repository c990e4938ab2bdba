"""A PostgreSQL server of its own for a test."""

import os
import pwd
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

import psycopg

_USER = "postgres"  # PostgreSQL refuses to run as root


def missing() -> str:
    """Return why no server can be started; "" if one can."""
    if not all(map(shutil.which, ("initdb", "postgres"))):
        return "PostgreSQL is not installed"
    if os.getuid() == 0 and _USER not in {entry.pw_name for entry in pwd.getpwall()}:
        return "PostgreSQL does not run as root"
    return ""


class PostgresServer:
    """A server on a Unix socket in `folder`, which other users can enter and no other test run closes."""

    def __init__(self) -> None:
        self._temporary = TemporaryDirectory(prefix="postgres-")
        self.folder = folder = Path(self._temporary.name)
        self._data = folder / "data"
        folder.chmod(0o755)
        self._as_user = {"user": _USER} if os.getuid() == 0 else {}
        if os.getuid() == 0:
            shutil.chown(folder, _USER)
        initdb = ["initdb", "--no-sync", "--auth=trust", f"--username={_USER}", "-D", str(self._data)]
        subprocess.run(initdb, check=True, capture_output=True, cwd=folder, **self._as_user)
        self._process = subprocess.Popen(
            ["postgres", "-D", str(self._data), "-k", str(folder), "-h", "", "-F"],
            cwd=folder,
            stderr=subprocess.DEVNULL,
            **self._as_user,
        )

    @property
    def address(self) -> dict[str, str]:
        return {"HOST": str(self.folder), "USER": _USER, "NAME": _USER, "PASSWORD": "", "PORT": ""}

    @property
    def url(self) -> str:
        """The value of DATABASE_URL."""
        return f"postgres://{_USER}@/{_USER}?host={quote(str(self.folder), safe='')}"

    def answers(self) -> bool:
        try:
            psycopg.connect(host=str(self.folder), user=_USER, dbname=_USER).close()
        except psycopg.OperationalError:
            return False
        return True

    def _processes(self) -> list[int]:
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text("ascii")
        return [self._process.pid, *map(int, children.split())]

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """Let the server answer nothing inside the block."""
        stopped = self._processes()
        for pid in stopped:
            with suppress(ProcessLookupError):  # some of the server's processes live for a moment only
                os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in stopped:
                with suppress(ProcessLookupError):  # ended when its connection was closed
                    os.kill(pid, signal.SIGCONT)

    def stop(self) -> None:
        self._process.send_signal(signal.SIGINT)
        self._process.wait(60)
        self._temporary.cleanup()
