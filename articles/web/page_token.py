"""What a reader was shown, packed into an address, so that the next page goes on from there.

The token holds the ids of the articles themselves, page by page, about two bytes each. Nothing is kept on the
server, so nothing ends, fills up or gets lost; and whoever changes it changes only what he is shown himself.
Standard library only.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import crc32
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

Pages: TypeAlias = tuple[tuple[int, ...], ...]
"""Ids of the articles on each page, in no order within one."""

MOST_CHARACTERS = 3000
"""Of a token: with the rest of the address less than servers take (gunicorn 4,094, most others 8,190)."""

LIFE = 24 * 3600
"""Seconds for which a page can be gone on from; at least, for the moment in it is a full hour."""

_VERSION = 1
_HOUR = 3600
_HEAD = 1 + 4 + 4
_HIGHEST_ID = 10**15


def pack(pages: Iterable[Sequence[int]], name: str, now: float) -> str:
    """The token of a list, by its name, of what was shown up to `now`, Unix seconds; "" where it grew too long."""
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
    """The pages of a token; () for one that is broken, of another list, or not of the last day."""
    if len(token) > MOST_CHARACTERS or not token.isascii():
        return ()
    try:
        raw = urlsafe_b64decode(token + "=" * (-len(token) % 4))
        moment, check, body = raw[1:5], raw[5:_HEAD], raw[_HEAD:]
        if raw[:1] != bytes([_VERSION]) or check != _check(name, moment, body):
            return ()
        age = now - int.from_bytes(moment, "big") * _HOUR
        return tuple(_pages(body)) if -_HOUR <= age < LIFE + _HOUR else ()
    except ValueError:
        return ()


def _check(name: str, moment: bytes, body: bytes) -> bytes:
    """Tells a token that was cut off, or that belongs to another list."""
    return crc32(name.encode() + b"\0" + moment + body).to_bytes(4, "big")


def _number(value: int) -> bytes:
    """Seven bits a byte, the lowest first; the eighth says that more follow."""
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    found.append(value)
    return bytes(found)


def _numbers(body: bytes) -> Iterator[int]:
    value = shift = 0
    for byte in body:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0
    if shift:
        raise ValueError("cut off")


def _pages(body: bytes) -> Iterator[tuple[int, ...]]:
    numbers = _numbers(body)
    for count in numbers:
        ids, last = list[int](), 0
        for _ in range(count):
            last += next(numbers, _HIGHEST_ID)
            if last > _HIGHEST_ID:
                raise ValueError("no ids")
            ids.append(last)
        yield tuple(ids)
