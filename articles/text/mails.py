"""Mails from members: whether a person sent one, from which address, and which part of the text is their own.

Mails are hostile. The head is read first, the rest only for its text; all is bounded before, and read in linear
time. The standard library's parser needs seconds for parts in parts, one that builds a tree of HTML for unclosed
tags. Quotations are found line by line, by rules of our own: a mail of 8,000 empty lines keeps mail-parser-reply
busy for nine seconds, and one of 8,000 times "On " for half a minute.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from email.message import Message
from email.parser import HeaderParser
from email.utils import getaddresses
from itertools import islice
from typing import Any, NamedTuple

import webencodings
from justhtml import stream

MOST_BYTES = 100_000
"""Size up to which mails are read."""

MARKER = "=-=-="
"""Begins the line of the site's mails above which members write."""

_RECIPIENTS = ("To", "Cc", "Delivered-To", "X-Original-To", "Envelope-To", "X-Envelope-To")
_MOST_CHARACTERS = 2_000
"""Characters of a header that are read."""

_MOST_LINES_OF_HEAD = 2_000
_MOST_PARTS, _DEEPEST = 100, 10
_MOST_EVENTS = 6_000
"""Tags and texts of HTML."""

_MOST_LINES = 10_000

_OF_MACHINES = ("List-Id", "List-Unsubscribe", "X-Auto-Response-Suppress", "X-Autoreply", "X-Autorespond")
_BULK = ("auto_reply", "bulk", "junk", "list")


class Unreadable(Exception):
    """The mail has no text that can be read."""


class IncomingMail(NamedTuple):
    """A mail, with as much of it as a reply needs."""

    head: Message
    body: bytes
    is_whole: bool
    """Whether it was read to its end; if not, this is its head."""

    @classmethod
    def of(cls, raw: bytes) -> "IncomingMail":
        """Return the mail with its head read; without its body if it is larger than `MOST_BYTES`."""
        head, body = _divided(raw[:MOST_BYTES])
        lines = head.splitlines(keepends=True)
        is_whole = len(raw) <= MOST_BYTES and len(lines) <= _MOST_LINES_OF_HEAD
        return cls(_read_head(b"".join(lines[:_MOST_LINES_OF_HEAD])), body if is_whole else b"", is_whole)

    def header(self, name: str) -> str:
        """Return the beginning of a header on one line; "" without it."""
        return " ".join(str(self.head.get(name, ""))[:_MOST_CHARACTERS].split())

    @property
    def recipients(self) -> str:
        """The headers that name recipients, as one text."""
        found = (one for name in _RECIPIENTS for one in self.head.get_all(name, [])[:10])
        return "\n".join(one[:_MOST_CHARACTERS] for one in found)

    @property
    def senders(self) -> list[str]:
        """The addresses that it claims to be from: one, in an honest mail."""
        headers = [one[:_MOST_CHARACTERS] for one in self.head.get_all("From", [])[:2]]
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
            or self.head.get_content_type() == "multipart/report"
            or any(name in self.head for name in _OF_MACHINES)
        )

    @property
    def text(self) -> str:
        """What the sender wrote, without quotations, signature and attachments. Raises Unreadable."""
        if not self.is_whole:
            raise Unreadable
        parts = list(_parts(self.head, self.body))
        if plain := [_decoded(*one) for one in parts if one[0].get_content_type() == "text/plain"]:
            return own_text("\n\n".join(plain))
        for one in parts:
            if one[0].get_content_type() == "text/html":
                return own_text(_text_of_html(_decoded(*one)))
        raise Unreadable


_EMPTY_LINE = re.compile(rb"^\r?\n", re.MULTILINE)


def _divided(raw: bytes) -> tuple[bytes, bytes]:
    """Return the head and the body of a mail or of a part of one."""
    end = _EMPTY_LINE.search(raw)
    return (raw[: end.start()], raw[end.end() :]) if end else (raw, b"")


def _read_head(raw: bytes) -> Message:
    return HeaderParser().parsestr(raw.decode("utf-8", "replace"))


_IS_FILE = re.compile(r"attachment|filename", re.IGNORECASE)
_BOUNDARY = re.compile(r"""\bboundary\s{0,9}=\s{0,9}(?:"([^"\r\n]{1,200})"|([^\s;"]{1,200}))""", re.IGNORECASE)


def _parts(head: Message, body: bytes) -> Iterator[tuple[Message, bytes]]:
    """Yield head and body of the parts that have a content, in order, without attachments and attached mails.

    Raises Unreadable if there are too many.
    """
    waiting, seen = [(head, body, 0)], 1
    while waiting:
        head, body, depth = waiting.pop()
        if head.get_content_maintype() == "multipart":
            found = _split(body, _BOUNDARY.search(_content_type(head)), _MOST_PARTS - seen)
            seen += len(found)
            if depth == _DEEPEST or seen >= _MOST_PARTS:
                raise Unreadable
            waiting += [(_read_head(one), rest, depth + 1) for one, rest in map(_divided, reversed(found))]
        elif head.get_content_maintype() != "message" and not _IS_FILE.search(
            str(head.get("Content-Disposition", ""))[:_MOST_CHARACTERS]
        ):
            yield head, body


def _split(body: bytes, boundary: re.Match[str] | None, most: int) -> list[bytes]:
    """Return the parts of a multipart body (RFC 2046, 5.1.1), at most `most`."""
    if not boundary:
        return []
    name = re.escape((boundary[1] or boundary[2]).rstrip().encode())
    lines = re.finditer(rb"^--" + name + rb"(--)?[ \t]*(?:\r?\n|\Z)", body, re.MULTILINE)
    found, begin = list[bytes](), -1
    for line in islice(lines, most + 1):
        if begin >= 0:
            found.append(body[begin : line.start()].removesuffix(b"\n").removesuffix(b"\r"))
        begin = -1 if line[1] else line.end()
        if line[1]:
            break
    if begin >= 0:
        found.append(body[begin:])
    return found[:most]


def _content_type(head: Message) -> str:
    return str(head.get("Content-Type", ""))[:_MOST_CHARACTERS]


_CHARSET = re.compile(r"""charset\s{0,9}=\s{0,9}["']?([\w.:+-]{1,40})""", re.IGNORECASE)


def _decoded(head: Message, body: bytes) -> str:
    """Return the text of a part. Raises Unreadable."""
    head.set_payload(body.decode("ascii", "surrogateescape"))
    raw = head.get_payload(decode=True)
    if not isinstance(raw, bytes):
        raise Unreadable
    declared = _CHARSET.search(_content_type(head))
    label = declared[1].lower() if declared else ""
    known = None if label in ("us-ascii", "ascii") else webencodings.lookup(label)
    for encoding in (known, webencodings.UTF8):
        try:
            if encoding:
                return str(encoding.codec_info.decode(raw, "strict")[0])
        except ValueError:
            continue
    raise Unreadable


# HTML

_UNSEEN = ("title", "style", "script")
_BREAKS = dict.fromkeys(("div", "li", "tr", "dt", "dd", "section", "article", "header", "footer"), 1)
_BREAKS |= dict.fromkeys(("p", "blockquote", "ul", "ol", "table", "pre", "hr", *(f"h{n}" for n in range(1, 7))), 2)
"""Elements on lines of their own, with the number of line breaks around each."""

_SIGNS = {"br": "\n", "hr": "---\n\n", "li": "* "}
_STYLES = {"b": "**", "strong": "**", "i": "*", "em": "*"}
_SPACES = re.compile(r"[ \t\r\n\f]+")


def _text_of_html(html: str) -> str:
    """Return the text of HTML, as a mail without HTML would have it. Raises Unreadable if it has too many tags.

    Quoted lines begin with `>`; links, bold and italic text are written as Markdown.
    """
    written, breaks, link = list[str](), 2, ""
    inside = dict.fromkeys((*_UNSEEN, *_STYLES, "blockquote", "pre"), 0)
    for kind, data in _events(html):
        if kind == "text":
            text = str(data)
        else:
            name, attributes = data if kind == "start" else (data, {})
            text = " " if name in ("td", "th") else attributes.get("alt", "") if name == "img" else ""
            link = _SPACES.sub("", attributes.get("href", "")) if name == "a" else link
            if name in inside:
                inside[name] = max(0, inside[name] + (1 if kind == "start" else -1))
            if (missing := _BREAKS.get(name, 0) - breaks) > 0:
                written.append("\n" * missing)
                breaks += missing
            if kind == "start" and name in _SIGNS:
                written.append(_SIGNS[name])
                breaks += name == "br"
        if not inside["pre"]:
            text = _SPACES.sub(" ", text).lstrip(" " if breaks else "")
        if not text or any(inside[name] for name in _UNSEEN):
            continue
        if bare := text.strip():
            marks = "".join(mark for name, mark in _STYLES.items() if inside[name])
            shown = f"[{bare}]({link})" if link.startswith(("http:", "https:")) and link != bare else bare
            text, link = text.replace(bare, f"{marks}{shown}{marks[::-1]}"), ""
        quote = "> " if inside["blockquote"] else ""
        written.append((quote if breaks else "") + text.replace("\n", f"\n{quote}"))
        breaks = 0
    return "".join(written)


def _events(html: str) -> Iterator[tuple[str, Any]]:
    """Yield the tags and texts of HTML. Raises Unreadable after `_MOST_EVENTS`."""
    events: Iterable[tuple[str, Any]] = stream(html)
    for number, (kind, data) in enumerate(events):
        if number == _MOST_EVENTS:
            raise Unreadable
        if kind == "start":
            yield kind, (data[0], {name: value or "" for name, value in data[1].items()})
        elif kind in ("text", "end"):
            yield kind, data


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

    So the reply may also be below the quotation, or between its lines. Raises Unreadable for too many lines.
    """
    own: list[str] = []
    lines = text.splitlines()
    if len(lines) > _MOST_LINES:
        raise Unreadable
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
