"""What the member alone can ask for: articles voted for, opposed and saved."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext_noop
from ninja import Query, Router
from pydantic import BaseModel, Field

from articles import domain
from articles.api import schemas
from articles.api.auth import MEMBERS
from articles.api.endpoints import LAST_PAGE, ArticleNumber, failing
from articles.errors import PageNotFound
from articles.people import actor
from articles.wiring import repository

router = Router()


class OwnQuery(BaseModel):
    __doc__ = gettext_noop("Which page of a list of yours.")

    page: schemas.PlainNumber = Field(1, ge=1, description=gettext_noop("Page, counted from 1."), examples=[1])


class OwnList(BaseModel):
    __doc__ = gettext_noop("One page of a list of yours, what you chose or saved last first.")

    articles: list[schemas.Article]
    page: int
    has_next: bool = Field(description=gettext_noop("Whether there is a page after this one."))


class Saving(BaseModel):
    __doc__ = gettext_noop("Whether an article is to be saved.")

    saved: bool = Field(strict=True, examples=[True])


class Saved(BaseModel):
    __doc__ = gettext_noop("Whether an article is saved.")

    id: int
    saved: bool


_OWN: dict[str, Any] = {
    "description": gettext_noop("Nobody else can see this list. Removed articles are left out of it."),
    "response": {200: OwnList} | failing(400, 401, 404, 503),
    "auth": MEMBERS,
}


@router.get("me/voted", summary=gettext_noop("What you voted for"), **_OWN)
def list_voted(request: HttpRequest, query: Query[OwnQuery]) -> OwnList:
    return _page(request, query.page, repository().members.voted)


@router.get("me/opposed", summary=gettext_noop("What you opposed"), **_OWN)
def list_opposed(request: HttpRequest, query: Query[OwnQuery]) -> OwnList:
    return _page(request, query.page, repository().members.opposed)


@router.get("me/saved", summary=gettext_noop("What you saved"), **_OWN)
def list_saved(request: HttpRequest, query: Query[OwnQuery]) -> OwnList:
    return _page(request, query.page, repository().members.saved)


@router.put(
    "articles/{article_id:article_id}/saved",
    summary=gettext_noop("Save an article, or forget it"),
    description=gettext_noop("Saves an article for later, or no longer. Repeating it changes nothing."),
    response={200: Saved} | failing(400, 401, 403, 404, 409, 413, 415, 503),
    auth=MEMBERS,
)
def save_article(request: HttpRequest, article_id: ArticleNumber, saving: Saving) -> Saved:
    repository().members.save(actor(request).id, article_id, wanted=saving.saved)
    return Saved(id=article_id, saved=saving.saved)


def _page(request: HttpRequest, number: int, read: Callable[[int, int], domain.MemberPage]) -> OwnList:
    if number > LAST_PAGE:
        raise PageNotFound(number)
    page = read(actor(request).id, number)
    articles = [schemas.Article.of(article) for article in page.articles]
    return OwnList(articles=articles, page=page.number, has_next=page.has_next)
