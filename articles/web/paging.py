"""The place of a reader in a list: page numbers in addresses, and page tokens.

A page token is what a reader has seen, packed into a URL, so that the next page continues from there.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, chain, pairwise
from typing import NamedTuple, TypeAlias
from urllib.parse import quote, urlencode

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.http import Http404, HttpRequest
from django.utils.translation import gettext as _

from articles.domain.articles import ArticleId
from articles.domain.lists import ArticlePage
from articles.formatting.values import grouped

Pages: TypeAlias = tuple[tuple[int, ...], ...]  # ids of what each page has, in no particular order within a page

_HOUR = 3600
MOST_IN_ADDRESS = 3700
"""Characters of a list's name and a token, so that the address fits the limits of the web server (4,094) and of
proxies (8,190)."""

MOST_SEEN = 2200  # ids in a token: the store passes over all of them for the next page
LIFE_HOURS = 24  # minimum lifetime; up to an hour longer, because tokens store only full hours


def pack(pages: Iterable[Sequence[int]], name: str, now: float) -> str:
    """Return the token for the pages seen of the list `name` until `now`, in Unix seconds; "" if too long."""
    seen = tuple(map(tuple, pages))
    token = _packed if len(seen) == 1 else _packed.__wrapped__  # most readers of a list see the same first page
    return str(token(seen, name, int(now) // _HOUR, settings.SECRET_KEY))


@lru_cache(200)  # 3 KB each
def _packed(pages: Pages, name: str, hour: int, _secret: str) -> str:
    steps = [[after - before for before, after in pairwise([0, *sorted(ids)])] for ids in pages]
    token = _signer(name).sign_object([hour, steps], compress=True)
    fits = len(quote(name)) + len(token) <= MOST_IN_ADDRESS and sum(map(len, pages)) <= MOST_SEEN
    return token if fits else ""


def unpack(token: str, name: str, now: float) -> Pages:
    """Return the pages of a token; () if it is malformed, expired, or of another list."""
    try:
        hour, steps = _signer(name).unsign_object(token)
    except (BadSignature, UnicodeError):
        return ()
    age = int(now) // _HOUR - hour
    return tuple(tuple(accumulate(ids)) for ids in steps) if -1 <= age <= LIFE_HOURS else ()


def _signer(name: str) -> Signer:
    """Return what signs the tokens of a list. Nothing in them needs an escape in an address."""
    return Signer(sep="~", salt=f"{__name__} {name}")


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
