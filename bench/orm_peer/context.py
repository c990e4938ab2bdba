"""Template variables of the site that its ORM peer leaves empty."""

from typing import Any

from django.http import HttpRequest


def nothing_else(_request: HttpRequest) -> dict[str, Any]:
    return {"all_groups": [], "pending_article": None}
