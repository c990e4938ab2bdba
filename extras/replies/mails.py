"""Mails from members: whether a person sent one, from which address, and which part of the text is their own.

Mails are hostile. The head is read first, the rest only for its text; all is bounded before, and read in linear
time. The standard library's parser needs seconds for parts in parts, one that builds a tree of HTML for unclosed
tags. Quotations are found line by line, by rules of our own: a mail of 8,000 empty lines keeps mail-parser-reply
busy for nine seconds, and one of 8,000 times "On " for half a minute.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from email.message import Message
from email.parser import HeaderParser
from email.utils import getaddresses
from itertools import groupby, islice
from typing import Any, NamedTuple

import webencodings

MOST_BYTES = 100_000  # size up to which mails are read
MARKER = "=-=-="  # begins the line of the site's mails above which members write
_RECIPIENTS = ("To", "Cc", "Delivered-To", "X-Original-To", "Envelope-To", "X-Envelope-To")
_MOST_CHARACTERS = 2_000  # characters of a header that are read
_MOST_LINES_OF_HEAD = 2_000
_MOST_PARTS, _DEEPEST = 100, 10
_MOST_EVENTS = 6_000  # tags and texts of HTML
_MOST_LINES = 10_000

_OF_MACHINES = ("List-Id", "List-Unsubscribe", "X-Auto-Response-Suppress", "X-Autoreply", "X-Autorespond")
_BULK = ("auto_reply", "bulk", "junk", "list")


class Unreadable(Exception):
    """The mail has no text that can be read."""


class IncomingMail(NamedTuple):
    """A mail, with as much of it as a reply needs."""

    head: Message
    body: bytes
    is_whole: bool  # whether it was read to its end; if not, this is its head

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
        plain = [_decoded(*one) for one in parts if one[0].get_content_type() == "text/plain"]
        html = next((one for one in parts if one[0].get_content_type() == "text/html"), None)
        if html and not "".join(plain).strip("\ufeff\u200b\xa0 \t\r\n"):
            return own_text(_text_of_html(_decoded(*html)))
        if not plain:
            raise Unreadable
        return own_text("\n\n".join(plain))


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
    """Yield head and body of the parts with content, not attached, in order. Raises Unreadable for too many."""
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
                text = str(encoding.codec_info.decode(raw, "strict")[0])
                return _unwrapped(text, _content_type(head).lower())
        except ValueError:
            continue
    raise Unreadable


_FLOWED = re.compile(r"format\s{0,9}=\s{0,9}\"?flowed")
_DELETES_SPACES = re.compile(r"delsp\s{0,9}=\s{0,9}\"?yes")


def _unwrapped(text: str, content_type: str) -> str:
    """Return a text with the lines of its paragraphs joined if it is format=flowed (RFC 3676)."""
    if not _FLOWED.search(content_type):
        return text
    deletes, written, is_open = bool(_DELETES_SPACES.search(content_type)), list[str](), False
    for stuffed in text.splitlines():
        line = stuffed.removeprefix(" ")
        is_fixed = stuffed.startswith(">") or line == "-- "
        if not is_open or is_fixed:
            written.append("\n")
        is_open = line.endswith(" ") and not is_fixed
        written.append(line[:-1] if is_open and deletes else line)
    return "".join(written[1:])


# HTML

_UNSEEN = ("title", "style", "script")
_BREAKS = dict.fromkeys(("div", "li", "tr", "dt", "dd", "section", "article", "header", "footer"), 1)
_BREAKS |= dict.fromkeys(("address", "aside", "center", "main", "nav", "caption", "figcaption", "summary"), 1)
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
    from justhtml import stream  # noqa: PLC0415 - it takes 2 MB: only where a mail in HTML is read

    events: Iterable[tuple[str, Any]] = stream(html)
    for number, (kind, data) in enumerate(events):
        if number == _MOST_EVENTS:
            raise Unreadable
        if kind == "start":
            yield kind, (data[0], {name: value or "" for name, value in data[1].items()})
        elif kind in ("text", "end"):
            yield kind, data


# Quotations

_DIVIDER = re.compile(r"[\s*]{0,9}-{2,40}(?:\s|&nbsp;){0,9}[^-|:\s][^-|:]{1,40}-{2,40}[\s*]*")
"""`-----Original Message-----`, `------------------ 原始邮件 ------------------`."""

_FIELD = re.compile(r"[\s*_|]{0,9}[^\W\d_](?:[^:：|\n]{0,30})[:：|](?!//)")
"""`Van: `, `**发件人：**`, `| 日期 |`: a field in the head of a quoted mail, in any language."""

_MOST_FIELDS = 30
_WRAPPED = 50  # characters of a line that a program may have continued on the next one
_LONGEST_INTRODUCTION = 300
_ADDRESS = re.compile(r"[^\s<>\[\]()]{1,100}@[^\s<>\[\]()]{1,100}")
_TIME = re.compile(r"\d{4}|\d[:.h]\d\d")
_DATE = re.compile(r"\d[^\d]{1,20}\d")
_SIGNATURE = re.compile("-- |--\xa0")
_MOST_LINES_OF_SIGNATURE = 10
_DEVICES = (
    "iphon|ipad|android|ios\\b|samsung|galaxy|huawei|xiaomi|redmi|oppo|vivo|blackberry|windows|outlook|mail|yahoo|"
    "proton|phone|telefo|téléphone|handy|mobil|móvil|cellulare|手机|手機|邮箱|郵箱|邮件|郵件"
)
_SENT = (
    "Sent (?:from|with|via) |Get \\[?Outlook for |发自|發自|发送自|來自|来自|从我的|從我的|Von mein|Gesendet |"
    "Diese Nachricht wurde von |Holen Sie sich |Envoyé |Télécharger |Enviad[oa] |Obtener |Obter |Inviato |"
    "Scarica |Verzonden |Verstuurd |Download |Sendt |Hent |Skickat |Hämta |Lähetetty |Hanki |Odesláno |Odoslané |"
    "Wysłan[eo] |Pobierz |Trimis |Posla[nt]o |Küldve |Отправлено |Надіслано |Изпратено |Στάλθηκε |Αποστολή |"
    "Dikirim |Được gửi |Đã gửi |נשלח |أُرسلت |تم الإرسال |ส่งจาก"
)
_SENT_LAST = "から送信|에서 보냄|gönderildi|küldve"
_SENT_FROM = re.compile(
    rf"[\s*_]{{0,9}}(?=[^,;!?]{{0,80}}(?i:{_DEVICES}))"
    rf"(?:(?:{_SENT})[^,;!?]{{1,120}}|[^,;!?]{{1,60}}(?:{_SENT_LAST})[.。]?[\s*_]{{0,9}})"
)
_RULES = " \t\xa0\u3000_*-"


def own_text(text: str) -> str:
    """Return what the sender wrote: all but the site's mail, what introduces it, and lines that begin with `>`.

    The site's mail is known by `MARKER`. Without a `>` it reaches to the end; else the reply may also be below it,
    or between its lines. Whatever is not certainly a quotation is kept. Raises Unreadable for too many lines.
    """
    lines = text.splitlines()
    if len(lines) > _MOST_LINES:
        raise Unreadable
    own, begin = list[str](), 0
    for is_quoted, group in groupby(_without_armor(lines), lambda line: line.lstrip().startswith(">")):
        found = list(group)
        marker = next((number for number, line in enumerate(found) if MARKER in line), -1)
        if not is_quoted:
            own += found if marker < 0 else found[:marker]
        if marker >= 0:
            own[begin:] = _before_site(
                own[begin:], is_quoted and any(one.strip("> \t\xa0") for one in found[:marker])
            )
            if not is_quoted:
                break
        elif is_quoted and own[begin:]:
            own[begin:] = _before_quotation(own[begin:])
        begin = len(own) if is_quoted else begin
    else:
        own[begin:] = _without_signature(own[begin:])
    _drop_empty(own)
    return "\n".join(own)


def _without_armor(lines: list[str]) -> list[str]:
    """Return the text that is signed with PGP (RFC 9580, 7), without what surrounds it."""
    if "-----BEGIN PGP SIGNED MESSAGE-----" not in lines or "-----BEGIN PGP SIGNATURE-----" not in lines:
        return lines
    begin, end = lines.index("-----BEGIN PGP SIGNED MESSAGE-----"), lines.index("-----BEGIN PGP SIGNATURE-----")
    text = next((number for number in range(begin, end) if not lines[number].strip()), end) + 1
    last = next(
        (number for number in range(end, len(lines)) if lines[number] == "-----END PGP SIGNATURE-----"), end
    )
    return [*lines[:begin], *(one.removeprefix("- ") for one in lines[text:end]), *lines[last + 1 :]]


def _before_site(lines: list[str], is_introduced: bool) -> list[str]:
    """Return the lines above the site's mail without its head, its introduction and a signature."""
    _drop_empty(lines)
    if not is_introduced:
        size = _size_of_head(lines) or _size_of_introduction(lines, _is_introduction)
        del lines[len(lines) - size :]
        _drop_empty(lines)
    if lines and _DIVIDER.fullmatch(lines[-1]):
        lines.pop()
    return _without_signature(lines)


def _before_quotation(lines: list[str]) -> list[str]:
    """Return the lines above a quotation, which the sender may have made, without what a program wrote there."""
    kept = list(lines)
    _drop_empty(kept)
    size = _size_of_introduction(kept, _ADDRESS.search)
    return kept[: len(kept) - size] if size else lines


def _size_of_head(lines: list[str]) -> int:
    """Return how many lines at the end are the head of a mail: fields with an address or a time."""
    fields, begin = 0, len(lines)
    for number in range(len(lines) - 1, max(-1, len(lines) - 1 - 2 * _MOST_FIELDS), -1):
        line, above = lines[number], lines[number - 1] if number else ""
        if _FIELD.match(line[:_LONGEST_INTRODUCTION]):
            fields, begin = fields + 1, number
        elif not (
            line.strip() and _FIELD.match(above) and (len(above) > _WRAPPED or line[0] in " \t" or "@" in line)
        ):
            break
    above = next((one for one in reversed(lines[max(0, begin - 2) : begin]) if one.strip(" \t\xa0")), "")
    if _DIVIDER.fullmatch(above):
        return len(lines) - begin
    head = "\n".join(lines[begin:])
    return len(lines) - begin if fields >= 2 and ("@" in head or _TIME.search(head)) else 0


def _is_introduction(text: str) -> bool:
    return bool(_DATE.search(_ADDRESS.sub("", text)))


def _size_of_introduction(lines: list[str], is_one: Callable[[str], object]) -> int:
    """Return how many lines at the end say who wrote what follows, and when: `On … wrote:`, in any language."""
    last = "".join(lines[-1:])[-_LONGEST_INTRODUCTION:].rstrip(_RULES + "\u200e\u200f\u202c\u2069")
    if not last.endswith((":", "：", "wrote", ">")):
        return 0
    addressed = 0
    for size in range(1, min(4, len(lines)) + 1):
        end = lines[-size:]
        if sum(map(len, end)) > _LONGEST_INTRODUCTION or not end[0].strip():
            break
        above = lines[-size - 1] if len(lines) > size else ""
        is_continued = (
            _ADDRESS.match(end[0].lstrip(" <")) or _ADDRESS.search(above) or above.rstrip().endswith("<")
        )
        if is_one(text := " ".join(end)) and not (is_continued and above.strip()):
            return size
        if _ADDRESS.search(text):
            addressed = addressed if addressed and not lines[-addressed].lstrip().startswith("<") else size
    return addressed


def _drop_empty(lines: list[str]) -> None:
    while lines and not lines[-1].strip(_RULES):
        lines.pop()


def _without_signature(lines: list[str]) -> list[str]:
    """Return the lines without a signature at their end, or a last line like `Sent from my iPhone`."""
    first = max(0, len(lines) - 1 - _MOST_LINES_OF_SIGNATURE)
    signature = next(
        (n for n in range(len(lines) - 1, first - 1, -1) if _SIGNATURE.fullmatch(lines[n])), len(lines)
    )
    lines = lines[:signature]
    _drop_empty(lines)
    if lines and _SENT_FROM.fullmatch(lines[-1]) and (len(lines) == 1 or not lines[-2].strip(_RULES)):
        lines.pop()
        _drop_empty(lines)
    return lines
