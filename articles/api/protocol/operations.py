"""The router, parameter types and documented failures that the API's operations share."""

from typing import Any

from django.utils.translation import gettext_noop
from ninja import P, PathEx, Router

from articles.api import schemas
from articles.api.protocol.auth import EVERYONE
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


router = Router()


def possible_page(number: int) -> int:
    """Return the number of a page. Raises PageNotFound for one that no list can have."""
    if number > HIGHEST_NUMBER:
        raise PageNotFound(number)
    return number


def failing(*statuses: int) -> dict[int, Any]:
    """Return the responses with these statuses, for the documentation."""
    return dict.fromkeys(statuses, schemas.Failure)


READERS: dict[str, Any] = {"auth": EVERYONE, "openapi_extra": {"security": [{}]}}
