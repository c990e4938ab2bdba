"""The server's log file: append-only, limited in size, and quoted in errors."""

import os
import re
from pathlib import Path
from typing import BinaryIO

_ROTATE_BYTES = 10 * 1024 * 1024
_QUOTED_BYTES = 64 * 1024
_LINE = re.compile(r"^\d+:[A-Z] \d+ \S+ \d{4} \S+ [-.*#] (?P<message>.*)$")  # pid:role day time level message
_NOISE = "WARNING Memory overcommit"


class ServerLog:
    """The log of one run of the server."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._start = 0

    def open(self) -> BinaryIO:
        """Open the file for appending. A log over 10 MB is first renamed to `<name>.1`."""
        if self.path.exists() and self.path.stat().st_size > _ROTATE_BYTES:
            self.path.replace(self.path.with_name(f"{self.path.name}.1"))
        file = open(self.path, "ab", opener=_open_private)  # noqa: SIM115 - the caller closes it
        self._start = file.tell()
        return file

    def messages(self) -> list[str]:
        """Return the last lines of this run, oldest first, without pid, date and level."""
        with self.path.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(self._start, end - _QUOTED_BYTES))
            lines = file.read().decode("utf-8", "replace").splitlines()
        messages = (match["message"] if (match := _LINE.match(line)) else line for line in lines)
        return [message for message in messages if message.strip() and not message.startswith(_NOISE)]


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
