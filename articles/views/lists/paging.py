"""The place of a reader in a list: page numbers in addresses, and page tokens.

A page token is what a reader has seen, packed into a URL, so that the next page continues from there.
"""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple, TypeAlias
from urllib.parse import urlencode

from django.conf import settings
from django.http import Http404, HttpRequest
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext as _

from articles.domain.articles import ArticleId
from articles.domain.lists import ArticlePage
from articles.formatting.values import grouped

Pages: TypeAlias = tuple[tuple[int, ...], ...]  # ids of what each page has, in no particular order within a page
MOST_CHARACTERS = 3000
"""Maximum length of a token, so that the URL fits the limits of the web server (4,094) and of proxies (8,190)."""

LIFE = 24 * 3600  # minimum lifetime in seconds; up to an hour longer, because tokens store only full hours
_VERSION = 1
_HOUR = 3600
_HEAD = 1 + 4 + 4
_HIGHEST_ID = 10**15


def pack(pages: Iterable[Sequence[int]], name: str, now: float) -> str:
    """Return the token for the pages seen of the list `name` until `now`, in Unix seconds; "" if too long."""
    seen = tuple(map(tuple, pages))
    token = _packed if len(seen) == 1 else _packed.__wrapped__  # most readers of a list see the same first page
    return str(token(seen, name, int(now) // _HOUR, settings.SECRET_KEY))


@lru_cache(200)  # 3 KB each
def _packed(pages: Pages, name: str, hour: int, _secret: str) -> str:
    body = bytearray()
    for ids in pages:
        body += _number(len(ids))
        last = 0
        for article_id in sorted(ids):
            body += _number(article_id - last)
            last = article_id
    moment = hour.to_bytes(4, "big")
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
        for _id in range(count):
            last += next(numbers, _HIGHEST_ID)
            if last > _HIGHEST_ID:
                raise ValueError("article id out of range")
            ids.append(last)
        yield tuple(ids)


_PAGE = re.compile("[1-9][0-9]{0,8}")


def page_number(request: HttpRequest) -> int:
    """Return `?page=`, by default 1. Raises Http404 if it is not a page number."""
    text = request.GET.get("page", "1")
    if not _PAGE.fullmatch(text):
        raise Http404(f"no page number: {text!r}")
    return int(text)


class Pager(NamedTuple):
    """Links to the pages before and after; each address is empty where there is no such page."""

    label: str
    previous: str
    next: str


def numbered_pager(number: int, *, has_next: bool, query: str = "") -> Pager | None:
    """Return the pager of a list whose pages are not counted; None for a list of one page.

    `query` holds the parameters of the list's addresses other than the page, such as "order=time".
    """
    if number == 1 and not has_next:
        return None
    rest = f"&{query}" if query else ""
    return Pager(
        _("Page %(number)s") % {"number": grouped(number)},
        f"?page={number - 1}{rest}" if number > 1 else "",
        f"?page={number + 1}{rest}" if has_next else "",
    )


class Place(NamedTuple):
    """The place of a reader in a list: on page `number`, after the articles on `pages`, as far as they are known.

    `name` identifies the list; `query` holds the parameters of its addresses other than the page.
    """

    name: str
    query: Mapping[str, str]
    now: float
    number: int = 1
    pages: Pages = ()

    @property
    def shown(self) -> tuple[ArticleId, ...]:
        return tuple(chain.from_iterable(self.pages))

    def after(self, page: ArticlePage) -> str:
        """Return the address of the next page, "" if there is none.

        It has a page number only, without a token, if this page was opened by its number or if the token of all
        articles shown would be too long.
        """
        if not page.has_next:
            return ""
        pages = (*self.pages, tuple(article.id for article in page.articles))
        return self._address(self.number + 1, pages if len(pages) == self.number else ())

    @property
    def before(self) -> str:
        """Return the address of the previous page, "" on the first. It shows the same articles first."""
        return self._address(self.number - 1, self.pages[:-1]) if self.number > 1 else ""

    def _address(self, number: int, pages: Pages) -> str:
        token = pack(pages, self.name, self.now) if pages else ""
        return "?" + urlencode({"page": str(number), **self.query} | ({"after": token} if token else {}))


def place_in(request: HttpRequest, query: Mapping[str, str], now: float) -> Place:
    """Return the reader's place in the list with this address and `query`, at `now` in Unix seconds.

    `?after=` is used if it was made within a day for this page of this list; otherwise only the page number is.
    Raises Http404 if that is not a page number.
    """
    number, name = page_number(request), f"{request.path}?{urlencode(query)}"
    token = request.GET.get("after", "")
    pages = unpack(token, name, now) if token else ()
    return Place(name, query, now, number, pages if len(pages) == number - 1 else ())
