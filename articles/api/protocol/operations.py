"""What the API's operations share: one router, types of parameters, documented failures."""

from typing import Any

from django.utils.translation import gettext_noop
from ninja import P, PathEx, Router

from articles.api import schemas
from articles.api.protocol.auth import EVERYONE

LAST_PAGE = 10**9
"""No list is longer; the store could not count further."""


ArticleNumber = PathEx[int, P(description=gettext_noop("The article's number."), ge=1, examples=[42])]


router = Router()


def failing(*statuses: int) -> dict[int, Any]:
    """Answers with these statuses, for the documentation."""
    return dict.fromkeys(statuses, schemas.Failure)


READERS: dict[str, Any] = {"auth": EVERYONE, "openapi_extra": {"security": [{}]}}
