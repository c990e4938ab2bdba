"""A MariaDB server of its own for a test, which writes a dump."""

import os
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests import waiting

_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin"
_PROGRAMS = ("mariadbd", "mariadb-install-db", "mariadb", "mariadb-dump")


def missing():
    """Return why no server can be started; "" if one can."""
    return "" if all(shutil.which(name, path=_PATH) for name in _PROGRAMS) else "MariaDB is not installed"


@contextmanager
def started():
    """Start a server; yield the environment of its programs."""
    with TemporaryDirectory(prefix="mariadb-") as folder:
        place = [f"--datadir={folder}/data", "--user=root"]
        options = {"env": {**os.environ, "PATH": _PATH}, "capture_output": True}
        subprocess.run(["mariadb-install-db", "--no-defaults", "--skip-test-db", *place], check=True, **options)
        socket = f"--socket={folder}/socket"
        server = subprocess.Popen(
            [shutil.which("mariadbd", path=_PATH), "--no-defaults", *place, socket, "--skip-networking",
             "--skip-grant-tables", f"--pid-file={folder}/pid"],
            stderr=subprocess.DEVNULL,
        )  # fmt: skip

        Path(folder, ".my.cnf").write_text(f"[client]\n{socket.removeprefix('--')}\n", "utf-8")
        try:
            waiting.until(Path(folder, "socket").exists)
            yield {**options["env"], "HOME": folder}
        finally:
            server.terminate()
            server.wait(60)
