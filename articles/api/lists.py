"""Lists of articles: the site, its groups, and the hot list."""

from collections.abc import Sequence
from typing import Any, Self

from django.http import HttpRequest
from django.utils.translation import gettext as _
from ninja import Query
from pydantic import BaseModel, Field

from articles.api import schemas
from articles.api.protocol import cursors
from articles.api.protocol.operations import possible_page, router
from articles.api.protocol.problems import Problem
from articles.domain import articles, lists
from articles.domain.lists import GROUPS_PER_LIST, Order, Period
from articles.text.slugs import requested_slugs
from articles.web import hiding
from articles.web.identity import reader_id
from articles.web.wiring import repository


class HotQuery(BaseModel):
    """Which articles of the hot list, and how many."""

    range: schemas.Range = Field(
        schemas.Range.THREE_DAYS, description="Maximum age of the articles.", examples=["72h"]
    )
    limit: schemas.PlainNumber = Field(
        20, ge=1, le=100, description="Maximum number of articles, from 1 to 100.", examples=[20]
    )
    after: schemas.After = None
    hidden: schemas.ShowHidden = None


class HotArticle(schemas.Article):
    """An article of the hot list."""

    hotness: float = Field(description="The value that orders the hot list.")

    @classmethod
    def of(cls, article: articles.Article, **more: Any) -> Self:
        return super().of(article, hotness=article.hotness or 0.0, **more)


class HotList(schemas.Continued):
    """The most-read articles of recent days, hottest first."""

    articles: list[HotArticle]
    refreshed_at: float = Field(description="The moment for which all hotness is computed, in Unix seconds.")
    hidden: schemas.Hidden

    @classmethod
    def of(cls, page: lists.ArticlePage, following: str | None) -> "HotList":
        articles = [HotArticle.of(article) for article in page.articles]
        at = page.refreshed_at or 0.0
        return cls(articles=articles, refreshed_at=at, next_after=following, hidden=page.hidden)


@router.get("articles")
def list_articles(request: HttpRequest, query: Query[schemas.ListQuery]) -> schemas.ArticlePage:
    """A page of articles.

    Articles of the whole site or of some groups, with your own choices, without what you hide.
    """
    slugs = requested_slugs(query.group, at_most=GROUPS_PER_LIST) if query.group else ()
    if query.range.period is not Period.ALL and (query.order is not Order.POINTS or slugs):
        message = _("“range” applies only to order=points without a group.")
        raise Problem(400, "invalid", message)
    page, following = read_list(request, query.order, query.page, slugs, period=query.range.period)
    return schemas.ArticlePage.of(page, query.number, following)


def read_list(
    request: HttpRequest,
    order: Order,
    number: int,
    slugs: Sequence[str] = (),
    *,
    period: Period = Period.ALL,
    size: int | None = None,
    is_followed: bool = False,
) -> tuple[lists.ArticlePage, str | None]:
    """Return a page of a list without what the reader hides, and the cursor for what follows.

    `is_followed`: whether these groups are those that the member follows, each of which has its share. Raises
    Problem, and errors as the repository.
    """
    repo, number = repository(), possible_page(number)
    hidden = hiding.applied(request, slugs, read=is_followed or order is not Order.ACTIVE).hidden
    same: dict[str, Any] = {"size": size, "reader": reader_id(request), "hidden": hidden}
    if order is Order.TIME and not is_followed:
        page = repo.lists.get_page(order, number, slugs=slugs, after=cursors.position_in(request), **same)
        return page, cursors.next_after(request, page.last) if page.has_next else None
    seen = cursors.seen_in(request)
    if is_followed:
        page = repo.following.get_page(slugs, number, seen=seen, **same)
    else:
        page = repo.lists.get_page(order, number, slugs=slugs, period=period, shown=seen, **same)
    return page, cursors.next_unseen(request, seen, page.ids) if page.has_next else None


@router.get("hot")
def list_hot(request: HttpRequest, query: Query[HotQuery]) -> HotList:
    """The hot list.

    The most-read articles of recent days, hottest first. All are scored for the same moment, which is updated
    about once a minute.
    """
    repo = repository()
    page = repo.lists.get_page(
        Order.HOT,
        since=query.range.period.since(repo.store.now()),
        size=query.limit,
        reader=reader_id(request),
        shown=(seen := cursors.seen_in(request)),
        hidden=hiding.applied(request, read=True).hidden,
    )
    return HotList.of(page, cursors.next_unseen(request, seen, page.ids) if page.has_next else None)
