"""The server's log file: appended to, bounded, and quoted in errors."""

import os
import re
from pathlib import Path
from typing import BinaryIO

_ROTATE_BYTES = 10 * 1024 * 1024
_QUOTED_BYTES = 64 * 1024
_LINE = re.compile(r"^\d+:[A-Z] \d+ \S+ \d{4} \S+ [-.*#] (?P<message>.*)$")  # pid:role day time level message
_NOISE = "WARNING Memory overcommit"


class ServerLog:
    """What one run of the server writes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._begin = 0

    def open(self) -> BinaryIO:
        """For the server to append to. A log over 10 MB is first moved to `<name>.1`."""
        if self.path.exists() and self.path.stat().st_size > _ROTATE_BYTES:
            self.path.replace(self.path.with_name(f"{self.path.name}.1"))
        file = open(self.path, "ab", opener=_open_private)  # noqa: SIM115 - the caller closes it
        self._begin = file.tell()
        return file

    def messages(self) -> list[str]:
        """This run's last lines, oldest first, without pid, date and level."""
        with self.path.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(self._begin, end - _QUOTED_BYTES))
            lines = file.read().decode("utf-8", "replace").splitlines()
        messages = (found["message"] if (found := _LINE.match(line)) else line for line in lines)
        return [message for message in messages if message.strip() and not message.startswith(_NOISE)]


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
