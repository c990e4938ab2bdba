"""Page numbers in addresses, and the place of a reader in a list."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from urllib.parse import urlencode

from django.http import Http404, HttpRequest
from django.utils.translation import gettext as _

from articles.domain.articles import ArticleId
from articles.domain.lists import ArticlePage
from articles.formatting.values import grouped
from articles.views.lists.page_token import Pages, pack, unpack

_PAGE = re.compile("[1-9][0-9]{0,8}")


def page_number(request: HttpRequest) -> int:
    """Return `?page=`, by default 1. Raises Http404 if it is not a page number."""
    text = request.GET.get("page", "1")
    if not _PAGE.fullmatch(text):
        raise Http404(f"no page number: {text!r}")
    return int(text)


@dataclass(frozen=True, slots=True)
class Pager:
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


@dataclass(frozen=True, slots=True)
class Place:
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
