"""The kinds of settings, with a parser for each, which raises ValueError for invalid text."""

import re
import shutil
from collections.abc import Callable
from email.utils import parseaddr
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from django.core.exceptions import ImproperlyConfigured

from articles.domain.limits import Rate
from voting_site.configuration import hosts, service_urls


class BadSetting(ImproperlyConfigured):
    """Invalid settings, with one sentence for the operator for each of them, without secrets."""

    def __init__(self, *sentences: str) -> None:
        super().__init__("\n".join(sentences))
        self.sentences = sentences


def _flag(text: str) -> bool:
    known = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False}
    return (known | {"off": False})[text.lower()]


def _each(reader: Callable[[str], str]) -> Callable[[str], list[str]]:
    """Return a parser of lists separated by commas."""
    return lambda text: [reader(name.strip()) for name in text.split(",") if name.strip()]


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


def _program(text: str) -> str:
    if not (text.startswith("/") and shutil.which(text)):
        raise ValueError("not a program")
    return text


def _number_or_auto(text: str) -> int | None:
    return None if text.lower() == "auto" else int(text)


def _limit(text: str) -> Rate | None:
    return None if text.lower() == "off" else Rate.parse(text)


def secret(text: str) -> str:
    """Check that a secret key is long, and does not repeat itself; `openssl rand -hex 16` prints the shortest."""
    if len(text) < _SECRET_LENGTH or len(set(pairwise(text))) < _SECRET_PAIRS:
        raise ValueError("weak")
    return text


def _token(text: str) -> str:
    if not text.isascii():
        raise ValueError("not valid in a header")
    return text


def _time_zone(text: str) -> str:
    return ZoneInfo(text).key


def _log_level(text: str) -> str:
    return LOG_LEVELS[text.upper()]


def _sign_up(text: str) -> str:
    return SIGN_UPS[text.lower()]


_SECRET_LENGTH, _SECRET_PAIRS = 32, 16
"""Least number of characters, and of different pairs of neighbouring ones: 32 random digits have more."""

SIGN_UPS = {name: name for name in ("open", "invitation", "approval", "closed")}

LOG_LEVELS = {name: name for name in ("DEBUG", "INFO", "WARNING", "ERROR")}

_DEFAULT_PORTS = {"http": 80, "https": 443}

_KINDS: dict[str, Callable[[str], Any]] = {
    "text": str,
    "secret": secret,
    "token": _token,
    "directory": str,
    "program": _program,
    "number": int,
    "number or auto": _number_or_auto,
    "limit": _limit,
    "yes/no": _flag,
    "host": hosts.of_a_server,
    "list of hosts": _each(hosts.that_is_answered),
    "list of networks": _each(hosts.network),
    "address": _origin,
    "database": service_urls.database,
    "store": service_urls.store,
    "cache": service_urls.cache,
    "mail server": service_urls.mail,
    "sender": _sender,
    "time zone": _time_zone,
    "log level": _log_level,
    "sign-up": _sign_up,
}

_WITH_SECRETS = ("secret", "token", "database", "store", "cache", "mail server")
"""Kinds whose text never appears in messages."""

_DESCRIPTIONS = {
    "text": "printable UTF-8 text",
    "secret": "a key of 32 printable characters or more that do not repeat; `openssl rand -hex 32` prints one",
    "token": "printable ASCII text",
    "directory": "the path of a directory in printable UTF-8",
    "program": "the absolute path of a program that this user can run, such as /usr/bin/valkey-server",
    "number or auto": "a number or auto",
    "limit": "a number of uses and a period of at most a day, such as 60 in 2 min (s, min, h or d), or off",
    "yes/no": "1 (yes) or 0 (no)",
    "host": "a host without a port, such as 127.0.0.1, ::1 or news.example.org",
    "list of hosts": "a list of hosts without scheme or port, such as news.example.org,::1",
    "list of networks": "a list of networks, such as 127.0.0.1,10.0.0.0/8,unix",
    "address": "the URL of a site, such as https://news.example.org",
    "database": "the URL of a database, such as postgres://user:password@host/name or sqlite:////path",
    "store": "the URL of a store, such as redis://user:password@host:6379/0, rediss://…, unix:///path?db=0, "
    "sentinel://host:26379,host:26379/service or cluster://host:6379,host:6379",
    "cache": "the URL of a cache, such as redis://user:password@host:6379/1; it cannot be a cluster",
    "mail server": "the URL of a mail server, such as smtp+tls://user:password@host:587 or consolemail://",
    "sender": "a mail address, such as news@example.org",
    "time zone": "a time zone, such as Asia/Shanghai",
    "sign-up": f"one of {', '.join(SIGN_UPS)}",
    "log level": f"a log level: {', '.join(LOG_LEVELS)}",
}

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Control characters, line separators, and surrogates, which represent bytes that are not UTF-8."""


def read(name: str, kind: str, text: str) -> Any:
    """Parse the text of a variable of this kind. Raises BadSetting."""
    try:
        if _UNPRINTABLE.search(text):
            raise ValueError("unprintable")
        return _KINDS[kind](text)
    except (LookupError, ValueError, OSError):  # OSError: the name of a folder of time zones
        shown = f"{name}=…" if kind in _WITH_SECRETS else f"{name}={text!r}"
        raise BadSetting(f"{shown} is not {_DESCRIPTIONS.get(kind, f'a {kind}')}.") from None
