"""Mails from members: whether a person sent one, from which address, and which part of the text is their own.

Mails are hostile: `MOST_BYTES` bounds what is read. Quotations are found line by line, by rules of our own: a mail
of 8,000 empty lines keeps mail-parser-reply busy for nine seconds, and one of 8,000 times "On " for half a minute.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from email import message_from_bytes
from email.message import Message
from email.parser import BytesHeaderParser
from email.utils import getaddresses
from typing import NamedTuple

import webencodings
from justhtml import JustHTML

MOST_BYTES = 100_000
"""Size up to which mails are read."""

MARKER = "=-=-="
"""Begins the line of the site's mails above which members write."""

_RECIPIENTS = ("To", "Cc", "Delivered-To", "X-Original-To", "Envelope-To", "X-Envelope-To")
_MOST_CHARACTERS = 2_000
"""Characters of a header that are read."""

_OF_MACHINES = ("List-Id", "List-Unsubscribe", "X-Auto-Response-Suppress", "X-Autoreply", "X-Autorespond")
_BULK = ("auto_reply", "bulk", "junk", "list")


class Unreadable(Exception):
    """The mail has no text that can be read."""


class IncomingMail(NamedTuple):
    """A mail, with as much of it as a reply needs."""

    message: Message
    is_whole: bool
    """Whether it was read to its end; if not, this is its head."""

    @classmethod
    def of(cls, raw: bytes) -> "IncomingMail":
        """Return the mail; only its head if it is larger than `MOST_BYTES`."""
        if len(raw) <= MOST_BYTES:
            with suppress(RecursionError):  # parts in parts in parts
                return cls(message_from_bytes(raw), is_whole=True)
        return cls(BytesHeaderParser().parsebytes(raw[:MOST_BYTES]), is_whole=False)

    def header(self, name: str) -> str:
        """Return the beginning of a header on one line; "" without it."""
        return " ".join(str(self.message.get(name, ""))[:_MOST_CHARACTERS].split())

    @property
    def recipients(self) -> str:
        """The headers that name recipients, as one text."""
        found = (str(one) for name in _RECIPIENTS for one in self.message.get_all(name, [])[:10])
        return "\n".join(one[:_MOST_CHARACTERS] for one in found)

    @property
    def senders(self) -> list[str]:
        """The addresses that it claims to be from: one, in an honest mail."""
        headers = [str(one)[:_MOST_CHARACTERS] for one in self.message.get_all("From", [])[:2]]
        with suppress(RecursionError):  # comments in comments
            return [address for _name, address in getaddresses(headers)]
        return []

    @property
    def is_automatic(self) -> bool:
        """Whether a program sent it (RFC 3834): a mailing list, an absence note, a report on failed delivery."""
        return (
            self.header("Auto-Submitted").partition(";")[0].strip().lower() not in ("", "no")
            or self.header("Precedence").lower() in _BULK
            or self.header("Return-Path") == "<>"
            or self.message.get_content_type() == "multipart/report"
            or any(name in self.message for name in _OF_MACHINES)
        )

    @property
    def text(self) -> str:
        """What the sender wrote, without quotations, signature and attachments. Raises Unreadable."""
        if not self.is_whole:
            raise Unreadable
        parts = list(_parts(self.message))
        if plain := [_decoded(one) for one in parts if one.get_content_type() == "text/plain"]:
            return own_text("\n\n".join(plain))
        for one in parts:
            if one.get_content_type() == "text/html":
                return own_text(str(JustHTML(_decoded(one)).to_markdown()))
        raise Unreadable


_IS_FILE = re.compile(r"attachment|filename", re.IGNORECASE)


def _parts(message: Message) -> Iterator[Message]:
    """Yield the parts of a mail that have a content, in their order, without attachments and attached mails."""
    waiting = [message]
    while waiting:
        part = waiting.pop()
        if part.is_multipart():
            if part.get_content_maintype() == "multipart":
                waiting += reversed(part.get_payload())  # type: ignore[arg-type]
        elif not _IS_FILE.search(str(part.get("Content-Disposition", ""))[:_MOST_CHARACTERS]):
            yield part


_CHARSET = re.compile(r"""charset\s{0,9}=\s{0,9}["']?([\w.:+-]{1,40})""", re.IGNORECASE)


def _decoded(part: Message) -> str:
    """Return the text of a part. Raises Unreadable."""
    raw = part.get_payload(decode=True)
    if not isinstance(raw, bytes):
        raise Unreadable
    declared = _CHARSET.search(str(part.get("Content-Type", ""))[:_MOST_CHARACTERS])
    label = declared[1].lower() if declared else ""
    known = None if label in ("us-ascii", "ascii") else webencodings.lookup(label)
    for encoding in (known, webencodings.UTF8):
        try:
            if encoding:
                return str(encoding.codec_info.decode(raw, "strict")[0])
        except ValueError:
            continue
    raise Unreadable


# Quotations

_FROM = "From|Von|De|Da|От|差出人|发件人|寄件者|寄件人"
_SUBJECT = "Subject|Betreff|Objet|Asunto|Oggetto|Assunto|Тема|件名|主题|主旨"
_HEADER = r"^[\s*_]{{0,9}}(?:{})[\s*_]{{0,9}}[:：]"
_FIRST_OF_HEAD = re.compile(_HEADER.format(_FROM))
_LATER_IN_HEAD = re.compile(_HEADER.format(_SUBJECT))
_LINES_OF_HEAD = 8

_DIVIDER = re.compile(r"\s{0,9}-{4,40}(?:\s|&nbsp;){0,9}[^-|:\s][^-|:]{1,40}-{4,40}\s*")
"""`-----Original Message-----`, `------------------ 原始邮件 ------------------`."""

_SIGNATURES = ("-- ", "--")
_SENT_FROM = re.compile(
    r"\s{0,9}(?:Sent (?:from|with|via) |Get Outlook for |发自我的|发送自|来自我的|從我的|發自我的)"
)
_TIME = re.compile(r"\d{4}|\d:\d\d")
_LONGEST_INTRODUCTION = 300
_RULES = " \t\xa0_*-"


def own_text(text: str) -> str:
    """Return what the sender wrote: the lines before a whole quoted mail, without those that begin with `>`.

    So the reply may also be below the quotation, or between its lines.
    """
    own: list[str] = []
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if line.lstrip().startswith(">"):
            _drop_introduction(own)
        elif line in _SIGNATURES:
            break
        elif MARKER in line or _DIVIDER.fullmatch(line) or _begins_head(lines, number):
            _drop_introduction(own)
            break
        else:
            own.append(line)
    _drop_empty(own)
    if own and _SENT_FROM.match(own[-1]):
        own.pop()
    return "\n".join(own)


def _begins_head(lines: list[str], number: int) -> bool:
    """Return whether the head of a quoted mail begins at this line, as Outlook writes it."""
    following = lines[number + 1 : number + _LINES_OF_HEAD]
    return bool(_FIRST_OF_HEAD.match(lines[number])) and any(map(_LATER_IN_HEAD.match, following))


def _drop_empty(lines: list[str]) -> None:
    while lines and not lines[-1].strip(_RULES):
        lines.pop()


def _drop_introduction(lines: list[str]) -> None:
    """Drop the lines at the end that say who wrote what follows, and when: `On … wrote:`, in any language."""
    _drop_empty(lines)
    for size in (1, 2, 3):
        end = lines[-size:]
        if sum(map(len, end)) > _LONGEST_INTRODUCTION or not "".join(end).rstrip().endswith((":", "：")):
            return
        if _TIME.search(" ".join(end)):
            del lines[-size:]
            return
