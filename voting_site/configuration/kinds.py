"""The kinds of settings: how a text of each is parsed, and what the operator reads if it is invalid."""

import re
import shutil
from collections.abc import Callable, Mapping
from email.utils import parseaddr
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from articles.configuration import colours
from articles.configuration.kinds import PLAIN, BadSetting, Kind, choice_of, one_of, that
from articles.domain.limits import BadPair, Rate, rates, without_unknown
from voting_site.configuration import hosts, service_urls


def _each(reader: Callable[[str], str]) -> Callable[[str], list[str]]:
    """Return a parser of lists separated by commas."""
    return lambda text: [reader(name.strip()) for name in text.split(",") if name.strip()]


def _unless(word: str, reader: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a parser for which the word means None."""
    return lambda text: None if text.lower() == word else reader(text)


def _origin(text: str) -> str:
    """Return scheme and host, without a trailing slash and without the default port."""
    parts = urlsplit(text)
    port = parts.port  # raises ValueError for an invalid port
    if parts.scheme not in _DEFAULT_PORTS or port == 0:
        raise ValueError(text)
    shown = parts.netloc.removesuffix("" if port is None else f":{port}")
    if text.lower().rstrip("/") != f"{parts.scheme}://{parts.netloc}".lower():
        raise ValueError(text)
    host = hosts.in_address(hosts.of_a_server(shown))
    return f"{parts.scheme}://{host}" + ("" if port in (None, _DEFAULT_PORTS[parts.scheme]) else f":{port}")


def _sender(text: str) -> str:
    """Check a mail address, alone or as in `News <news@example.org>`."""
    user, at, domain = parseaddr(text)[1].rpartition("@")
    if not (user and at and domain) or " " in f"{user}{domain}":
        raise ValueError(text)
    return text


_MAIL_ADDRESS = re.compile(r"(?=.{3,200}$)[a-z0-9](?:[a-z0-9._-]{0,17}[a-z0-9])?@[a-z0-9-]+(?:\.[a-z0-9-]+)*")
"""A mail address to which 45 characters can be added."""


def _contact(text: str) -> str:
    """Return the URI of a mail address, or of a page with a form."""
    parts = urlsplit(text)
    if parts.scheme == "https" and parts.hostname and text.isascii() and " " not in text:
        return text
    address = text.removeprefix("mailto:")
    if not address.isascii() or parseaddr(address) != ("", address):
        raise ValueError(text)
    return f"mailto:{_sender(address)}"


_SECRET_LENGTH, _SECRET_PAIRS = 32, 16
"""Least number of characters, and of different pairs of neighbouring ones: 32 random digits have more."""

_is_program = that(lambda text: text.startswith("/") and shutil.which(text))

secret = that(lambda text: len(text) >= _SECRET_LENGTH and len(set(pairwise(text))) >= _SECRET_PAIRS)
"""Checks that a secret key is long, and does not repeat itself; `openssl rand -hex 16` prints the shortest."""


def _is_mark(text: str) -> bool:
    """Return whether it is one or two letters or digits, or one emoji, which may consist of several characters."""
    is_word = text.isalnum() and len(text) <= _LETTERS_OF_MARK
    return is_word or bool(len(text) <= _LONGEST_EMOJI and _EMOJI.fullmatch(text))


def _languages(text: str) -> list[str]:
    codes = _each(one_of(*LANGUAGES))(text)
    if not codes or len(set(codes)) < len(codes):
        raise ValueError(text)
    return codes


def _archives(text: str) -> list[tuple[str, str]]:
    """Return the name and the pattern of each archive; none for the word none."""
    given = [] if text.lower() == "none" else [part.partition("=") for part in text.split(",")]
    archives = [(name.strip(), pattern.strip()) for name, _, pattern in given]
    for name, pattern in archives:
        parts = urlsplit(pattern)
        before, link, after = pattern.partition("{link}")
        parts.port  # noqa: B018 - raises ValueError for an invalid one
        is_address = parts.scheme in _DEFAULT_PORTS and parts.hostname and "@" not in parts.netloc
        is_whole = link and "{link}" not in parts.netloc and not set("{}\"'<> #") & set(before + after)
        if not (0 < len(name) <= _LONGEST_NAME and pattern.isascii() and is_address and is_whole):
            raise ValueError(text)
    if len(archives) > _MOST_ARCHIVES or len(dict(archives)) < len(archives):
        raise ValueError(text)
    return archives


def _limits(text: str) -> Mapping[str, Rate]:
    """Return the rates that apply. Raises BadSetting, which names the pair that is wrong."""
    try:
        return rates(text)
    except BadPair as error:
        raise BadSetting(
            f"LIMITS: {str(error)!r} is not a limit of docs/limits.md, named once, with a number of uses and a "
            "period of at most a day (s, m, h or d), such as votes=60/2m, or votes=off."
        ) from None


LANGUAGES = {"en": "English", "zh-hans": "简体中文", "zh-hant": "繁體中文"}
"""Each in its own language; see docs/translating.md. Of two that a reader takes alike, such as zh, the first."""

_LONGEST_NAME, _MOST_ARCHIVES = 40, 5
_LETTERS_OF_MARK, _LONGEST_EMOJI = 2, 12
_PICTURE = "[\u2190-\u2bff\U0001f300-\U0001faff][\ufe0f\U0001f3fb-\U0001f3ff]*"
_EMOJI = re.compile(f"{_PICTURE}(?:\u200d{_PICTURE})*|[\U0001f1e6-\U0001f1ff]{{2}}")
"""A picture with its variants, pictures joined to one, or a flag."""

_DEFAULT_PORTS = {"http": 80, "https": 443}

KINDS = {
    **PLAIN,
    "mark": Kind(that(_is_mark), "one or two letters or digits, or one emoji"),
    "accent": Kind(colours.parse, "a colour such as #0c6653 that can be read on a light page"),
    "list of languages": Kind(_languages, f"a list of languages, of {', '.join(LANGUAGES)}, each once"),
    "secret": Kind(
        secret,
        "a key of 32 printable characters or more that do not repeat; `openssl rand -hex 32` prints one",
        is_secret=True,
    ),
    "token": Kind(that(str.isascii), "printable ASCII text", is_secret=True),
    "directory": Kind(str, "the path of a directory in printable UTF-8", empty=None),
    "program": Kind(
        lambda text: Path(_is_program(text)),
        "the absolute path of a program that this user can run, such as /usr/bin/valkey-server",
        empty=None,
    ),
    "number": Kind(int, "a number"),
    "number or auto": Kind(_unless("auto", int), "a number or auto"),
    "limits": Kind(_limits, "pairs such as votes=60/2m,posts=5/10m", empty=rates(), still=without_unknown),
    "host": Kind(hosts.of_a_server, "a host without a port, such as 127.0.0.1, ::1 or news.example.org"),
    "list of hosts": Kind(
        _each(hosts.that_is_answered),
        "a list of hosts without scheme or port, such as news.example.org,::1",
        empty=[],
    ),
    "list of networks": Kind(
        _each(hosts.network), "a list of networks, such as 127.0.0.1,10.0.0.0/8,unix", empty=[]
    ),
    "address": Kind(_origin, "the URL of a site, such as https://news.example.org"),
    "database": Kind(
        service_urls.database,
        "the URL of a database, such as postgres://user:password@host/name or sqlite:////path",
        is_secret=True,
        empty=None,
    ),
    "store": Kind(
        service_urls.store,
        "the URL of a store, such as redis://user:password@host:6379/0, rediss://…, unix:///path?db=0, "
        "sentinel://host:26379,host:26379/service or cluster://host:6379,host:6379",
        is_secret=True,
    ),
    "cache": Kind(
        service_urls.cache,
        "the URL of a cache, such as redis://user:password@host:6379/1; it cannot be a cluster",
        is_secret=True,
    ),
    "mail server": Kind(
        service_urls.mail,
        "the URL of a mail server, such as smtp+tls://user:password@host:587 or consolemail://",
        is_secret=True,
    ),
    "sender": Kind(_sender, "a mail address, such as news@example.org"),
    "mail address": Kind(
        lambda text: that(_MAIL_ADDRESS.fullmatch)(text.lower()),
        "a mail address in ASCII, without + and with at most 19 characters before the @, such as "
        "reply@news.example.org",
    ),
    "contact": Kind(_contact, "a mail address, or an https address"),
    "list of archives": Kind(
        _archives,
        "none, or a list of at most five archives, each with a name and an address that contains {link}, such as "
        "Wayback Machine=https://web.archive.org/web/*/{link}",
    ),
    "time zone": Kind(lambda text: ZoneInfo(text).key, "a time zone, such as Asia/Shanghai"),
    "sign-up": choice_of("open", "invitation", "approval", "closed"),
    "invitation tree": choice_of("public", "moderators", "off"),
    "reading": choice_of("everyone", "members"),
    "second factor": choice_of("off", "offered", "moderators", "all"),
    "names": choice_of("ascii", "any"),
    "log format": choice_of("text", "json"),
    "log level": Kind(one_of("DEBUG", "INFO", "WARNING", "ERROR"), "a log level: DEBUG, INFO, WARNING, ERROR"),
}
