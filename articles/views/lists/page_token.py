"""Page tokens: the articles or comments that a reader has seen, packed into a URL, so that the next page continues
there.

A token holds their ids, page by page, about two bytes each. The server keeps no state, so nothing
expires early, fills up or gets lost. It is signed: otherwise anyone could link to a list that leaves out what they
choose, under the site's name.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from django.utils.crypto import constant_time_compare, salted_hmac

Pages: TypeAlias = tuple[tuple[int, ...], ...]
"""Ids of what each page has, in no particular order within a page."""

MOST_CHARACTERS = 3000
"""Maximum length of a token, so that the URL fits the limits of the web server (4,094) and of proxies (8,190)."""

LIFE = 24 * 3600
"""Minimum lifetime in seconds; up to an hour longer, because tokens store only full hours."""

_VERSION = 1
_HOUR = 3600
_HEAD = 1 + 4 + 4
_HIGHEST_ID = 10**15


def pack(pages: Iterable[Sequence[int]], name: str, now: float) -> str:
    """Return the token for the pages seen of the list `name` until `now`, in Unix seconds; "" if too long."""
    body = bytearray()
    for ids in pages:
        body += _number(len(ids))
        last = 0
        for article_id in sorted(ids):
            body += _number(article_id - last)
            last = article_id
    moment = (int(now) // _HOUR).to_bytes(4, "big")
    raw = bytes([_VERSION]) + moment + _check(name, moment, bytes(body)) + body
    token = urlsafe_b64encode(raw).decode().rstrip("=")
    return token if len(token) <= MOST_CHARACTERS else ""


def unpack(token: str, name: str, now: float) -> Pages:
    """Return the pages of a token; () if it is malformed, expired, or of another list."""
    if len(token) > MOST_CHARACTERS or not token.isascii():
        return ()
    try:
        raw = urlsafe_b64decode(token + "=" * (-len(token) % 4))
        moment, check, body = raw[1:5], raw[5:_HEAD], raw[_HEAD:]
        if raw[:1] != bytes([_VERSION]) or not constant_time_compare(check, _check(name, moment, body)):
            return ()
        age = now - int.from_bytes(moment, "big") * _HOUR
        return tuple(_pages(body)) if -_HOUR <= age < LIFE + _HOUR else ()
    except ValueError:
        return ()


def _check(name: str, moment: bytes, body: bytes) -> bytes:
    """Return the signature, which differs for a truncated token and for another list."""
    return salted_hmac(__name__, name.encode() + b"\0" + moment + body, algorithm="sha256").digest()[:4]


def _number(value: int) -> bytes:
    """Encode as LEB128: seven bits per byte, lowest first; the eighth bit means that more bytes follow."""
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _numbers(body: bytes) -> Iterator[int]:
    value = shift = 0
    for byte in body:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0
    if shift:
        raise ValueError("truncated token")


def _pages(body: bytes) -> Iterator[tuple[int, ...]]:
    numbers = _numbers(body)
    for count in numbers:
        ids, last = list[int](), 0
        for _ in range(count):
            last += next(numbers, _HIGHEST_ID)
            if last > _HIGHEST_ID:
                raise ValueError("article id out of range")
            ids.append(last)
        yield tuple(ids)
