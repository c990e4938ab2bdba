"""Count views."""

from typing import Literal

from django.http import HttpRequest
from pydantic import Field

from articles.api import schemas
from articles.api.protocol.operations import BearerToken, SessionCookie, anyone, failing, router
from articles.domain import readership
from articles.domain.lists import closed_groups
from articles.web.identity import reader_id
from articles.web.preferences import preferences_of
from articles.web.readership.record import record_view, visit_of
from articles.web.wiring import repository

CLIENT_ID_LIMIT = 200  # maximum length in characters of the id that a client may choose for its reader


class View(schemas.Model):
    """A reader viewing an article."""

    article_id: int = Field(alias="articleId", description="The article's number.", examples=[42])
    visitor_id: str | None = Field(None, alias="visitorId", max_length=CLIENT_ID_LIMIT, examples=["reader-7f3a"])
    """Your identifier for the reader, at most 200 characters. It distinguishes readers who share an address or a
    cookie; it does not replace those."""


class ViewCount(schemas.Model):
    """Result of a view, and the article's numbers after it."""

    counted: bool
    reason: Literal["repeat", "bot", "prefetch", "burst"] | None
    """Why it does not count: repeat is too soon after the reader's last view; bot is a known program; prefetch was
    loaded by a browser before the reader opened it; burst is one of too many from one network. Null if it counts.
    """

    pv: int = Field(description="Page views that count.")
    uv: int = Field(description="Unique visitors, estimated to within about 2.5 percent.")
    hotness: float = Field(description="The value that orders the hot list.")

    @classmethod
    def of(cls, count: readership.ViewCount) -> "ViewCount":
        return cls.model_validate(count, from_attributes=True)


@router.post(
    "views",
    response=failing(404, 409),
    auth=(BearerToken(limits=("views",)), anyone("views")),
    openapi_extra={"security": [{SessionCookie.__name__: []}, {}]},
)
def count_view(request: HttpRequest, view: View) -> ViewCount:
    """Count a view.

    Reports that a reader is viewing an article. Repeated views by one reader within a few minutes count once;
    views by bots do not count. With a session, it also marks the article as read by you. It changes nothing else
    of yours, so no CSRF token is needed.
    """
    repo = repository()
    visit = visit_of(request, repo.store.now(), view.visitor_id or "")
    if closed_groups():  # counting a view reads no article, so one that this reader does not see is refused here
        repo.articles.get(view.article_id)
    is_own = "token" not in vars(request) and preferences_of(request).remembers_read  # not that of a program
    member = reader_id(request) if is_own else None
    return ViewCount.of(record_view(repo, view.article_id, visit, member, by_link=True))
