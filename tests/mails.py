"""Mails as programs and attackers send them, and a mail server."""

import mailbox
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from articles.text.mails import MARKER
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


AUTOMATIC = (
    "Auto-Submitted: auto-replied",
    "Auto-Submitted: auto-generated; owner-email=x",
    "Auto-Submitted: AUTO-NOTIFIED",
    "Precedence: bulk",
    "Precedence: Junk",
    "Precedence: list",
    "Precedence: auto_reply",
    "List-Id: <news.example.org>",
    "List-Unsubscribe: <https://example.org>",
    "X-Auto-Response-Suppress: All",
    "X-Autoreply: yes",
    "X-Autorespond: x",
    "Return-Path: <>",
    "Content-Type: multipart/report; report-type=delivery-status; boundary=x",
)
"""Heads of mails that programs send."""

DEEP = "".join(f"Content-Type: multipart/mixed; boundary={n}\n\n--{n}\n" for n in range(1000))

HOSTILE = {
    "parts in parts": DEEP,
    "parts in parts, with lines": DEEP + "x\n" * 20_000,
    "mails in mails": "Content-Type: message/rfc822\n\n" * 3_300,
    "many parts": "Content-Type: multipart/mixed; boundary=a\n\n" + "--a\n\n" * 19_000,
    "parameters": "Content-Type: multipart/mixed;" + ";" * 98_000 + "\n\nx",
    "quotation marks": "Content-Type: multipart/mixed;" + '";' * 49_000 + "\n\nx",
    "continued parameters": "Content-Type: text/plain;" + "".join(f" a*{n}*=x;" for n in range(8_000)) + "\n\nx",
    "headers": "a:\n" * 33_000,
    "recipients": f"To: {'reply+1-1-aaaaaaaaaaaaaaaa@' * 3_000}\n\nx",
    "comments in a header": "From: " + "(\n " * 33_000,
    "encoded words": "From: " + "=?utf-8?b?" * 9_000 + "\n\nx",
    "empty lines": "\n" * 99_000,
    "blanks": "\n" + " " * 99_000,
    "On": "\n" + "On " * 33_000,
    "introductions": "\n" + "On 2026:\n>\n" * 9_000,
    "a long line before quotations": "\n" + "a" * 50_000 + ":\n" + "\n>\n" * 16_000,
    "heads": "\n" + "From: a\n" * 12_000,
    "dashes": "\n" + "-" * 99_000,
    "dividers": "\n" + "---- a" * 16_000,
    "stars before From": "\n" + "* " * 49_000 + "From:",
    "markers": "\n" + MARKER * 19_000,
    "base64": "Content-Transfer-Encoding: base64\n\n" + "A" * 99_000,
    "tags": "Content-Type: text/html\n\n" + "<b><p>" * 16_000,
    "quotations in HTML": "Content-Type: text/html\n\n" + "<blockquote>x" * 7_000,
    "lists in HTML": "Content-Type: text/html\n\n" + "<ul><li>" * 12_000,
    "NUL": "From: a\0b\n\n\0\0",
}
"""Mails of the largest size that is read, each of which keeps something busy."""
