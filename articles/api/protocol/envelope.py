"""Rules of every address of the API: methods, media types, query parameters, caching; and the error handlers."""

import json
from collections.abc import Callable
from functools import cache, wraps
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt

from articles.api.documentation import query_parameters
from articles.api.protocol import cursors
from articles.api.protocol.problems import Problem, answer_to, failed, login_required
from articles.domain.errors import LimitReached
from articles.domain.other_apis import api_at
from articles.web import caching, error_pages as pages, limits, reading

View = Callable[..., HttpResponse]

_WITHOUT_TOKEN = ("api-root", "openapi", None)  # names of addresses that are no operations, and read no token
_WITHOUT_BODY = ("GET", "HEAD")


def in_envelope(view: View) -> View:
    """Apply the rules of the API to a view. It takes HEAD if it takes GET, and answers 304 if nothing changed."""

    @csrf_exempt  # checked by auth.SessionCookie
    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        answer = (
            _refuse_media_type(request) or _refuse_query(request) or _call_view(view, request, *args, **kwargs)
        )
        if answer.status_code == 405:
            answer = _method_not_allowed(answer["Allow"])
        _limit_caching(request, answer)
        if (link := cursors.link_in(request)) and answer.status_code < 400:
            answer["Link"] = link
        is_read = request.method in _WITHOUT_BODY and answer.status_code == 200
        return caching.unless_known(request, answer) if is_read else answer

    return wrapped


def _call_view(view: View, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
    method = request.method
    if method == "HEAD":
        request.method = "GET"  # ninja does not support HEAD
    try:
        return view(request, *args, **kwargs)
    finally:
        request.method = method


def _refuse_media_type(request: HttpRequest) -> HttpResponse | None:
    """Return 415 for a body that is not JSON in UTF-8, before it is read. The body of a GET is ignored."""
    if request.method in _WITHOUT_BODY:
        return None
    has_body = request.META.get("CONTENT_LENGTH") not in (None, "", "0")
    charset = (request.content_params or {}).get("charset", "utf-8").lower()
    if not has_body or (request.content_type == "application/json" and charset in ("utf-8", "utf8")):
        return None
    return Problem(415, "unsupported-media-type", _("Send the body as application/json, in UTF-8.")).answer


def _refuse_query(request: HttpRequest) -> HttpResponse | None:
    """Return 400 for a parameter that the operation does not have, or that is given twice."""
    if not request.GET or not request.resolver_match:
        return None
    route = request.resolver_match.route
    known = query_parameters(route, "GET" if request.method == "HEAD" else str(request.method))
    if known is None:
        return None
    for name, values in request.GET.lists():
        if name not in known:
            message = _("“%(name)s” is not a parameter of this address.") % {"name": name}
            return Problem(400, "unknown-parameter", message).answer
        if len(values) > 1:
            return Problem(400, "invalid", _("“%(name)s” is given more than once.") % {"name": name}).answer
    return None


def _method_not_allowed(allow: str) -> HttpResponse:
    methods = {method.strip() for method in allow.split(",")}
    allowed = ", ".join(sorted(methods | {"HEAD"} if "GET" in methods else methods))
    message = _("This address accepts only %(methods)s.") % {"methods": allowed}
    return Problem(405, "method-not-allowed", message, headers={"Allow": allowed}).answer


def _limit_caching(request: HttpRequest, answer: HttpResponse) -> None:
    """Set Cache-Control and Vary. Shared caches revalidate what they store for readers without an account."""
    patch_vary_headers(answer, ("Cookie", "Authorization"))
    if request.method not in ("GET", "HEAD") or answer.status_code >= 500:
        patch_cache_control(answer, no_store=True)
    elif settings.SESSION_COOKIE_NAME in request.COOKIES or "Authorization" in request.headers:
        patch_cache_control(answer, private=True, no_cache=True)
    else:
        patch_cache_control(answer, public=True, max_age=0)


def login_first(request: HttpRequest) -> HttpResponse | None:
    """Refuse a request of no member to the API of a site for members. Operations check a token themselves.

    Those of another API also check who has none: some are for everyone, and older apps send it in the body.
    """
    place = request.resolver_match
    name = place.url_name if place else None
    has_token = "Authorization" in request.headers and name not in _WITHOUT_TOKEN
    other = api_at(request.path)
    is_checked = has_token or (other is not None and other.is_on())
    return None if is_checked or not reading.is_closed_to(request) else login_required().answer


def in_words(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Say a failure under the addresses of another API in its words. `request.word`: see `OtherApi.body_of`."""
    is_said = response.headers.get("Content-Type", "").startswith("application/json")
    if is_said and (other := api_at(request.path)) and other.is_on():
        error = json.loads(response.content).get("error")  # the sentence of a limit, or as this API has it
        code, sentence = (error["code"], error["message"]) if isinstance(error, dict) else ("rate-limited", error)
        said = other.body_of(code, sentence, vars(request).get("word", ""))
        response.content = json.dumps(said, ensure_ascii=False).encode()
        response.headers["Content-Length"] = str(len(response.content))
    return response


def accounts_away(request: HttpRequest, error: Exception) -> HttpResponse:
    """Answer a request whose reader cannot be found."""
    return answer_to(request, error) if is_for_programs(request) else pages.unavailable(request, error)


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
