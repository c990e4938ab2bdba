"""The router, parameter types and documented failures that the API's operations share."""

from collections.abc import Callable, Iterator
from typing import Any

from django.utils.translation import gettext_noop
from ninja import P, PathEx, Router

from articles.api import schemas
from articles.api.protocol.auth import EVERYONE, MODERATORS, BearerToken, SessionCookie
from articles.domain.errors import PageNotFound

HIGHEST_NUMBER = 10**9
"""Highest number of a page or of a row. No list is longer, and the store cannot count much further."""


ArticleNumber = PathEx[int, P(description=gettext_noop("The article's number."), ge=1, examples=[42])]
OthersArticleNumber = PathEx[
    int, P(description=gettext_noop("The number of another member's article."), ge=1, examples=[43])
]
CommentNumber = PathEx[int, P(description=gettext_noop("The comment's number."), ge=1, examples=[42000001])]
OwnCommentNumber = PathEx[
    int, P(description=gettext_noop("The number of your comment."), ge=1, examples=[42000002])
]


def possible_page(number: int) -> int:
    """Return the number of a page. Raises PageNotFound for one that no list can have."""
    if number > HIGHEST_NUMBER:
        raise PageNotFound(number)
    return number


def failing(*statuses: int) -> dict[int, Any]:
    """Return the responses with these statuses, for the documentation, beyond those that `SiteRouter` adds."""
    return dict.fromkeys(statuses, schemas.Failure)


class SiteRouter(Router):
    """A router that documents the failures that follow from an operation's method, authentication and address."""

    def add_api_operation(
        self,
        path: str,
        methods: list[str],
        view_func: Callable[..., Any],
        *,
        auth: Any = EVERYONE,
        response: Any = None,
        **options: Any,
    ) -> None:
        answers = response if isinstance(response, dict) else {200: response}
        answers = answers | failing(*_failures(path, methods[0], auth))
        in_order = dict(sorted(answers.items(), key=lambda answer: answer[0] if answer[0] >= 400 else 0))
        super().add_api_operation(path, methods, view_func, auth=auth, response=in_order, **options)


def _failures(path: str, method: str, auth: tuple[object, ...]) -> Iterator[int]:
    """Yield the statuses with which every operation of this kind can fail."""
    yield from (400, 401, 503)
    if "{" in path:
        yield 404
    is_for_members = all(isinstance(way, BearerToken | SessionCookie) for way in auth)
    if auth is MODERATORS or (is_for_members and method != "GET"):
        yield 403
    if method != "GET":
        yield 415
    if method in ("POST", "PUT", "PATCH"):
        yield 413


router = SiteRouter()


READERS: dict[str, Any] = {"auth": EVERYONE, "openapi_extra": {"security": [{}]}}
