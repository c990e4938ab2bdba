"""From the bytes of a page to what it says about itself: title, canonical address, language, description."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

import webencodings
from ada_url import URL
from justhtml import stream

MOST_TITLE, MOST_DESCRIPTION, MOST_ADDRESS = 1_000, 500, 2_048
"""Characters that are handed on; the site refuses longer titles and addresses anyway."""

_MOST_LANGUAGE = 35

_MOST_EVENTS = 50_000  # tags and texts that are looked at: a head has hundreds
_PRESCAN_BYTES = 1024  # where a page has to declare its encoding (HTML, section 4.2.5.4)

_HTML = ("text/html", "application/xhtml+xml")
_KINDS = {**dict.fromkeys(_HTML, "page"), "text/plain": "text", "application/pdf": "pdf"}

_MOST_BROKEN = 0.25
"""The largest share of broken characters in a page whose encoding is guessed: a wrong guess has more."""

_XML_ENCODING = re.compile(r"""<\?xml[^>]{0,200}\sencoding\s*=\s*["']([^"'>]{1,40})["']""")
_CHARSET = re.compile(r"""charset\s*=\s*["']?\s*([^\s;"'>]{1,40})""", re.IGNORECASE)
_LANG_ATTRIBUTE = re.compile(rb"""<html[^>]{0,500}?\slang\s*=\s*["']?([A-Za-z-]{2,12})""", re.IGNORECASE)

_GUESSES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("zh", "zh-cn", "zh-hans", ".cn"), ("gb18030", "big5")),
    **dict.fromkeys(("zh-tw", "zh-hk", "zh-hant", ".tw", ".hk"), ("big5", "gb18030")),
    **dict.fromkeys(("ja", ".jp"), ("iso-2022-jp", "euc-jp", "shift_jis")),
    **dict.fromkeys(("ko", ".kr"), ("euc-kr",)),
    **dict.fromkeys(("ru", "be", "bg", "uk", ".ru", ".by", ".bg", ".ua"), ("windows-1251",)),
    **dict.fromkeys(("el", ".gr"), ("windows-1253",)),
    **dict.fromkeys(("he", ".il"), ("windows-1255",)),
    **dict.fromkeys(("ar", "fa", ".ir", ".eg", ".sa"), ("windows-1256",)),
    **dict.fromkeys(("pl", "cs", "hu", "sk", "hr", ".pl", ".cz", ".hu", ".sk", ".hr"), ("windows-1250",)),
    **dict.fromkeys(("tr", ".tr"), ("windows-1254",)),
    **dict.fromkeys(("th", ".th"), ("windows-874",)),
}
"""What pages without a declared encoding are in, by their language or the end of their host's name."""
_UNSEEN = ("script", "style")
_BLOCKS = frozenset(("br", "div", "hr", "li", "p", "svg", "td", "th"))
"""Elements within a heading that set words apart."""
_TAG = re.compile(r"</?[a-z][a-z0-9]*(?:\s[^<>]*)?/?>", re.IGNORECASE)

_SEPARATOR = re.compile(
    r"\s+[-–—|·•:»«/~]{1,2}\s+|\s*[|｜]\s*|\s*(?:——|－)\s*|(?<![A-Za-z0-9_])_+|_+(?![A-Za-z0-9_])|(?P<colon>:\s+|：)"
)
"""What stands between a title and the site's name. A colon may also follow what the page is about."""
_SECOND_LEVEL = ("ac", "co", "com", "edu", "gov", "net", "or", "org")


class Page(NamedTuple):
    """What is proposed. `kind` is "page", "text", "pdf" or "other"; the rest is empty if it is not "page"."""

    kind: str
    title: str = ""
    canonical: str = ""
    language: str = ""
    description: str = ""


def read(body: bytes, content_type: str, address: str) -> Page:
    """Return what a page says about itself. `address`: where it was found at last."""
    name, _semicolon, parameters = content_type.partition(";")
    kind = _KINDS.get(name.strip().lower(), "other") if "/" in name else "page"
    if kind != "page":
        return Page(kind)
    url = URL(address)
    found = _Facts().read(decode(body, "".join(_CHARSET.findall(parameters)[:1]), url.hostname))
    base = _joined(found.base, address) or address
    return Page(
        kind,
        title=_title(found, url.hostname)[:MOST_TITLE],
        canonical=_joined(found.canonical or found.named.get("og:url", ""), base),
        language=found.language[:_MOST_LANGUAGE],
        description=_line(_unmarked(found.named.get("og:description") or found.named.get("description", "")))[
            :MOST_DESCRIPTION
        ],
    )


def _joined(address: str, base: str) -> str:
    """Return an absolute address of the web; "" if it is none."""
    try:
        url = URL(address.strip(), base) if address.strip() else None
    except ValueError:
        return ""
    if url is None or url.protocol not in ("http:", "https:") or url.username or len(url.href) > MOST_ADDRESS:
        return ""
    return str(url.href)


def decode(body: bytes, charset: str, host: str) -> str:
    """Return the text of a page: by its byte order mark, the header, what it declares itself, or a guess."""
    encoding = webencodings.lookup(charset) or _declared(body[:_PRESCAN_BYTES]) or _guessed(body, host)
    if encoding.name == "gbk":
        encoding = webencodings.lookup("gb18030") or encoding  # its decoder, by the standard
    text: str = webencodings.decode(body, encoding, errors="replace")[0]
    return text


def _events(html: str) -> Iterator[tuple[str, Any]]:
    """Yield the tags and texts of a page, each with its kind."""
    yield from stream(html)


def _declared(beginning: bytes) -> Any:
    """Return the encoding that a page names in its first bytes, or None."""
    text = beginning.decode("latin-1")
    labels = [match[1] for match in [_XML_ENCODING.match(text)] if match]
    for kind, data in _events(text):
        if kind == "start" and data[0] == "meta":
            attributes = {name: value or "" for name, value in data[1].items()}
            if "charset" in attributes:
                labels.insert(0, attributes["charset"])
            elif attributes.get("http-equiv", "").strip().lower() == "content-type":
                labels[:0] = _CHARSET.findall(attributes.get("content", ""))[:1]
    for encoding in filter(None, map(webencodings.lookup, labels)):
        # A page whose declaration can be read as ASCII is not in UTF-16.
        instead = {"utf-16le": "utf-8", "utf-16be": "utf-8", "x-user-defined": "windows-1252"}
        return webencodings.lookup(instead.get(encoding.name, encoding.name))
    return None


def _guessed(body: bytes, host: str) -> Any:
    """Return UTF-8 if the page is in it; else what its language or its country uses, else windows-1252.

    Few broken bytes among the other characters beyond ASCII do not matter: pages quote what others wrote.
    """
    match = _LANG_ATTRIBUTE.search(body[: 4 * _PRESCAN_BYTES])
    language = match[1].decode().lower() if match else ""
    keys = (language, language.partition("-")[0], f".{host.rpartition('.')[2]}")
    names = ("utf-8", *dict.fromkeys(name for key in keys for name in _GUESSES.get(key, ())))
    broken = {name: _broken(body, webencodings.lookup(name)) for name in names}
    best = min(names[1:], key=broken.__getitem__, default="utf-8")
    name = next((name for name in ("utf-8", best) if broken[name] <= _MOST_BROKEN), "windows-1252")
    return webencodings.lookup(name)


def _broken(body: bytes, encoding: Any) -> float:
    """Return the share of the characters beyond ASCII that are none, apart from one that the end cuts."""
    try:
        encoding.codec_info.incrementaldecoder("strict").decode(body)
    except (UnicodeError, ValueError):
        text = encoding.codec_info.decode(body, "replace")[0]
        return float(text.count("\ufffd") / max(1, len(text) - len(text.encode("ascii", "ignore"))))
    return float(encoding.name == "iso-2022-jp" and b"\x1b$" not in body)


@dataclass
class _Facts:
    """What a page says, up to its first heading. Of the body, only titles count: visitors may have written it."""

    language: str = ""
    texts: dict[str, str] = field(default_factory=dict)  # the first title and the first heading that is not empty
    canonical: str = ""
    base: str = ""
    named: dict[str, str] = field(default_factory=dict)
    """The contents of `meta`, by name or property; the first counts."""
    is_in_body: bool = False
    foreign: int = 0  # open pictures and formulas: their titles are not the page's
    open: dict[str, list[str]] = field(default_factory=dict)

    def read(self, html: str) -> "_Facts":
        is_unseen = False
        for kind, data in islice(_events(html), _MOST_EVENTS):
            name = data[0] if kind == "start" else str(data)
            if kind == "text":
                self._add("" if is_unseen else name)
                continue
            is_unseen = kind == "start" and name in _UNSEEN
            self._add(" " if name in _BLOCKS else "")
            if kind == "start":
                self._begin(name, {key: value or "" for key, value in data[1].items()})
            elif kind == "end":
                self._end(name)
                if "h1" in self.texts:
                    break
        for name in list(self.open):  # the page is cut before their end
            self._end(name)
        return self

    def _add(self, text: str) -> None:
        for words in self.open.values():
            words.append(text)

    def _begin(self, name: str, attributes: Mapping[str, str]) -> None:
        self.foreign += name in ("svg", "math")
        self.is_in_body = self.is_in_body or name == "body"
        if name == "html":
            self.language = self.language or (attributes.get("lang") or attributes.get("xml:lang", "")).strip()
        elif name in ("title", "h1") and not self.foreign and name not in self.texts:
            self.open[name] = []
        elif name == "meta" and not self.is_in_body:
            key = (attributes.get("property") or attributes.get("name", "")).strip().lower()
            if attributes.get("content", "").strip():
                self.named.setdefault(key, attributes["content"])
        elif name == "link" and not self.is_in_body and "canonical" in attributes.get("rel", "").lower().split():
            self.canonical = self.canonical or attributes.get("href", "")
        elif name == "base":
            self.base = self.base or attributes.get("href", "")

    def _end(self, name: str) -> None:
        self.foreign -= name in ("svg", "math") and self.foreign > 0
        if words := "".join(self.open.pop(name, ())).strip():
            self.texts[name] = words


def _unmarked(text: str) -> str:
    """Return the text without tags, if it begins with one: some sites describe a page in HTML."""
    return _TAG.sub(" ", text) if _TAG.match(text.lstrip()) else text


def _line(text: str) -> str:
    """Return the text as one line, without characters that control."""
    return " ".join("".join(char if unicodedata.category(char) != "Cc" else " " for char in text).split())


def _title(found: _Facts, host: str) -> str:
    """Return the best title: as it is shared, of the page, or its heading; without the site's name."""
    names = frozenset(filter(None, map(_folded, _names_of(found, host))))
    given = (found.named.get("og:title", ""), found.texts.get("title", ""), found.texts.get("h1", ""))
    titles = [title for title in (_line(text[: 4 * MOST_TITLE]) for text in given) if title]
    for title in titles:
        others = frozenset(_folded(other) for other in titles if other != title)
        if (short := without_site(title, names, others)) and _folded(short) not in names:
            return short
    return titles[0] if titles else ""  # the page of the site itself


def _names_of(found: _Facts, host: str) -> Iterable[str]:
    """Yield what the site is certainly called: by itself, and by its host."""
    yield _line(found.named.get("og:site_name", "")[:200])
    yield host
    host = host.removeprefix("www.")
    yield host
    labels = host.split(".")
    if len(labels) > 1:
        has_two_ends = len(labels) > 2 and labels[-2] in _SECOND_LEVEL
        yield labels[-3 if has_two_ends else -2]


def _folded(name: str) -> str:
    """Return the letters and digits of a name, by which two spellings are one."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", name).casefold()))


def without_site(title: str, names: frozenset[str], others: frozenset[str]) -> str:
    """Return the title without a first or last part that is the site's name.

    "Redis: a guide" on redis.io is about Redis: at a colon, a name goes only if another title of the page is
    without it. `names` and `others` are in the form of `_folded`.
    """
    parts = [(title[: cut.start()], title[cut.end() :], cut["colon"]) for cut in _SEPARATOR.finditer(title)]
    parts += [(after, before, colon) for before, after, colon in reversed(parts)]
    for rest, name, colon in parts:
        if _folded(name) in names and rest.strip() and not (colon and _folded(rest) not in others):
            return rest.strip()
    return title


def warm_up() -> None:
    """Load every encoding, for a process that cannot open their files later."""
    for label in set(webencodings.LABELS.values()):
        decode(b"<title>a</title>", label, "a.example")
