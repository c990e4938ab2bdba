"""What a member alone sees: the own choices, saved articles, and everything the site keeps about the member."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeVar

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from articles import own_data
from articles.domain import Article, UserId
from articles.people import actor
from articles.repository import Repository
from articles.views.paging import page_number
from articles.wiring import repository

Response = TypeVar("Response", bound=HttpResponseBase)
List = Callable[[UserId, int], tuple[list[Article], bool]]


def _own(tab: str, pick: Callable[[Repository], List]) -> Callable[[HttpRequest], HttpResponse]:
    """The page of one of the member's lists."""

    @never_cache
    @require_safe
    @login_required
    def page(request: HttpRequest) -> HttpResponse:
        number, found = page_number(request), repository()
        articles, has_next = pick(found)(actor(request).id, number)
        if number > 1 and not articles and not has_next:
            raise Http404(f"page {number}")
        context = {
            "tab": tab,
            "member": request.user,
            "articles": articles,
            "number": number,
            "has_next": has_next,
            "now": found.store.now(),
        }
        return _unlisted(render(request, "articles/mine.html", context))

    return page


voted = _own("voted", lambda found: found.members.voted)
opposed = _own("opposed", lambda found: found.members.opposed)
saved = _own("saved", lambda found: found.members.saved)


@never_cache
@require_safe
@login_required
def data(request: HttpRequest) -> HttpResponseBase:
    """Everything about the member, as a file. Written as it is read: it may be long."""
    found = repository()
    name = f"{request.user.get_username()}-{datetime.now(UTC):%Y-%m-%d}.json"
    answer = StreamingHttpResponse(
        own_data.lines(request.user, found),
        content_type="application/json; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )
    return _unlisted(answer)


def _unlisted(response: Response) -> Response:
    response["X-Robots-Tag"] = "noindex"
    return response
