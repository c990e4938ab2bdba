"""A mail server."""

import mailbox
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.waiting import until


@contextmanager
def mail_server(port: int, folder: Path) -> Iterator[Callable[[], int]]:
    """A process that speaks SMTP; yield a function that counts the mails in its maildir."""
    command = [sys.executable, "-m", "aiosmtpd", "-n", "-l", f"127.0.0.1:{port}"]
    server = subprocess.Popen([*command, "-c", "aiosmtpd.handlers.Mailbox", str(folder)])
    try:
        until(lambda: _accepts(port))
        yield lambda: len(mailbox.Maildir(str(folder), create=folder.exists())) if folder.exists() else 0
    finally:
        server.terminate()
        server.wait(60)


def _accepts(port: int) -> bool:
    with socket.socket() as line:
        return line.connect_ex(("127.0.0.1", port)) == 0
