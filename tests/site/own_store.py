"""A Redis or Valkey server of its own for a test, with the settings of deploy/store.conf."""

import shutil
import subprocess
from pathlib import Path

import redis
from django.conf import settings

from tests.waiting import until
from voting_site.embedded.binary import find_binary


class OwnStore:
    """A server on a Unix socket in `folder`: Debian's Redis if it is installed, Valkey otherwise.

    `options`: further words of its command line; `login`: a user with a password, before the `@` of a URL.
    """

    def __init__(self, folder: Path, *options: str, login: str = "") -> None:
        self._socket, self._login = folder / "s.sock", login
        conf = Path(settings.BASE_DIR, "deploy", "store.conf")
        place = ["--port", "0", "--dir", str(folder), "--unixsocket", str(self._socket)]
        self._process = subprocess.Popen(
            [shutil.which("redis-server") or find_binary(), conf, *place, *options], stdout=subprocess.DEVNULL
        )
        until(self._answers)

    @property
    def url(self) -> str:
        """The value of REDIS_URL."""
        return f"unix://{self._login}{self._socket}?db=0"

    def _answers(self) -> bool:
        with redis.Redis.from_url(self.url) as client:
            try:
                return bool(client.ping())
            except redis.ConnectionError:
                return False

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(60)
