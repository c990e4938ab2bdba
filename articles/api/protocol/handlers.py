"""Error handlers of the site: JSON under the API's addresses, pages elsewhere."""

from functools import cache

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from articles.api.protocol.problems import answer_to, failed
from articles.domain.errors import LimitReached
from articles.web import error_pages as pages
from articles.web import limits


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer requests that cannot be read, or that are for another host."""
    return answer_to(request, exception) if is_for_programs(request) else pages.bad_request(request, exception)


def too_many(request: HttpRequest, reached: LimitReached) -> HttpResponse:
    """Answer a request beyond a limit, before its view is known."""
    return answer_to(request, reached) if is_for_programs(request) else limits.refusal(request, reached)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer after an exception, which Django has logged."""
    return failed().answer if is_for_programs(request) else pages.failed(request)


def is_for_programs(request: HttpRequest) -> bool:
    """Return whether the address is the API's, where requests and responses are JSON."""
    root, docs = _addresses()
    return request.path.startswith(root) and request.path != docs


@cache
def _addresses() -> tuple[str, str]:
    return reverse("api:api-root"), reverse("api:docs")
