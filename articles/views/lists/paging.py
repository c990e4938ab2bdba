"""Page numbers in addresses, and where a reader goes on from."""

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
from articles.web.page_token import Pages, pack, unpack

_PAGE = re.compile("[1-9][0-9]{0,8}")


def page_number(request: HttpRequest) -> int:
    """`?page=`, 1 where it is absent. Raises Http404 for what is no page number."""
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

    `query` is what the list's addresses say beside the page, such as "order=time".
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
    """Where in a list a reader is: on page `number`, after the articles of `pages` if he comes from there.

    `name` is that of the list, `query` what its addresses say beside the page.
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
        """Address of the page that goes on from this one, "" where there is none.

        From a page that was called by its number, the next by number; so too where too many were shown.
        """
        if not page.has_next:
            return ""
        pages = (*self.pages, tuple(article.id for article in page.articles))
        return self._address(self.number + 1, pages if len(pages) == self.number else ())

    @property
    def before(self) -> str:
        """Address of the page before, "" on the first. What was shown on it comes first again."""
        return self._address(self.number - 1, self.pages[:-1]) if self.number > 1 else ""

    def _address(self, number: int, pages: Pages) -> str:
        token = pack(pages, self.name, self.now) if pages else ""
        return "?" + urlencode({"page": str(number), **self.query} | ({"after": token} if token else {}))


def place_in(request: HttpRequest, query: Mapping[str, str], now: float) -> Place:
    """Where the reader is in the list of this address and `query`, at `now` in Unix seconds.

    `?after=` counts where it was made for this page of this list within a day, else the page's number alone does.
    Raises Http404 for what is no page number.
    """
    number, name = page_number(request), f"{request.path}?{urlencode(query)}"
    token = request.GET.get("after", "")
    pages = unpack(token, name, now) if token else ()
    return Place(name, query, now, number, pages if len(pages) == number - 1 else ())
