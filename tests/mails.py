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
    "Auto-Submitted: auto-replied", "Auto-Submitted: auto-generated; owner-email=x",
    "Auto-Submitted: AUTO-NOTIFIED", "Precedence: bulk", "Precedence: Junk", "Precedence: list",
    "Precedence: auto_reply", "List-Id: <news.example.org>", "List-Unsubscribe: <https://example.org>",
    "X-Auto-Response-Suppress: All", "X-Autoreply: yes", "X-Autorespond: x", "Return-Path: <>",
    "Content-Type: multipart/report; report-type=delivery-status; boundary=x",
)  # fmt: skip
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
    "900 parts in parts, and empty lines": DEEP[: DEEP.index("boundary=900")] + "\n\n" + "\n" * 45_000,
    "parts in parts with one boundary": "Content-Type: multipart/mixed; boundary=b\n\n--b\n" * 1_900,
    "boundaries that end nothing": "Content-Type: multipart/mixed; boundary=b\n\n" + "--b--\n" * 16_000,
    "boundaries with blanks": "Content-Type: multipart/mixed; boundary=b\n\n" + ("--b" + " " * 97) * 900,
    "boundaries almost": "Content-Type: multipart/mixed; boundary=" + "-" * 60 + "\n\n" + "-" * 98_000,
    "a long boundary": f"Content-Type: multipart/mixed; boundary={'b' * 90_000}\n\n--b\n",
    "boundary= again and again": "Content-Type: multipart/mixed" + "; boundary" * 9_000 + "\n\nx",
    "heads of parts": "Content-Type: multipart/mixed; boundary=b\n\n" + f"--b\n{'a:b' * 3}\n\n" * 6_000,
    "returns": "\n" + "\r" * 99_000,
    "returns and line feeds": "\n" + "\r\n" * 49_000,
    "Received": "Received: from x by y; z\n" * 3_900 + "\nx",
    "folded": "Subject: a" + "\n b" * 33_000 + "\n\nx",
    "recipients in lines": "To: a@b.c\n" * 9_900 + "\nx",
    "recipients of other bytes": "To: \xff\n" * 12_000 + "\nx",
    "senders": "From: " + "a@b.c," * 16_000,
    "a group without end": "From: g:" + "a@b.c,g:" * 12_000,
    "brackets in a header": "From: " + "<[" * 49_000,
    "quotation marks in a header": "From: " + '"\\' * 49_000,
    "encoded words of all kinds": "From: " + "=?utf-8?q?=41?= =?gb18030?b?xeM=?= " * 2_500,
    "a name in RFC 2231": "Content-Disposition: x;" + "".join(f" filename*{n}*=utf-8''%41;" for n in range(3_400)),
    "no head": "x" * 99_000,
    "no colon": "x\n" * 49_000,
    "quoted-printable": "Content-Transfer-Encoding: quoted-printable\n\n" + "=41=\n" * 19_000,
    "base64 in lines": "Content-Transfer-Encoding: base64\n\n" + "QQ==\n" * 19_000,
    "uuencoded": "Content-Transfer-Encoding: x-uuencode\n\nbegin 666 a\n" + '"04%!\n' * 16_000,
    "escapes": "Content-Type: text/plain; charset=iso-2022-jp\n\n" + "\x1b$B0!\x1b(B" * 12_000,
    "UTF-16": "Content-Type: text/plain; charset=utf-16le\n\n" + "\n\0" * 49_000,
    "open tags": "Content-Type: text/html\n\n" + "<td>" * 24_000,
    "tags that never end": "Content-Type: text/html\n\n" + "<a b=" * 19_000,
    "tags that are closed": "Content-Type: text/html\n\n" + "</p>" * 24_000,
    "numbered lists": "Content-Type: text/html\n\n" + "<ol><li>" * 12_000,
    "formats in paragraphs": "Content-Type: text/html\n\n"
    + "".join(f"<b x={n}>" for n in range(4_000))
    + "<p>" * 15_000,
    "foreign elements": "Content-Type: text/html\n\n" + "<svg><p>" * 12_000,
    "tables in tables": "Content-Type: text/html\n\n" + "<table><tr><td>x" * 6_000,
    "comments in HTML": "Content-Type: text/html\n\n" + "<!--" * 24_000,
    "entities": "Content-Type: text/html\n\n" + "&notit;&#x1F600;" * 6_000,
    "signs of tags": "Content-Type: text/html\n\n" + "<" * 98_000,
    "a long link": f"Content-Type: text/html\n\n<a href=http://{'a' * 50_000}>" + "x<br>" * 9_000,
    "links": "Content-Type: text/html\n\n" + "<a href=http://a.b>x" * 4_900,
    "scripts": "Content-Type: text/html\n\n" + "<script>" * 12_000,
    "plain text in HTML": "Content-Type: text/html\n\n" + "<plaintext>" * 8_900,
    "quoted lines in HTML": "Content-Type: text/html\n\n<blockquote><pre>" + "\n" * 98_000,
}
"""Mails of the largest size that is read, each of which keeps something busy."""
