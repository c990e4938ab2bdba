"""What programs in pages of other origins may do: use the API and the feeds, but never with a reader's cookies.

Answers say that every origin may read them, and never allow credentials. A browser's cookies are ignored if a page
of another origin sent the request: the answer is what everyone gets, or what the token in the request may read.
"""

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse

from accounts.web.middleware import comes_from_elsewhere
from articles.domain.other_origins import HEADERS, METHODS, SENT, is_open
from articles.web.caching import PERSONAL_COOKIES
from articles.web.preferences import PREFERENCE_COOKIES

_PREFLIGHT_SECONDS = 86400
"""Time for which a browser does not ask again. Firefox keeps it for a day at most, Chromium for two hours."""

_COOKIES_OF_ONE = (*PERSONAL_COOKIES, settings.CSRF_COOKIE_NAME, *PREFERENCE_COOKIES)


def is_elsewhere(request: HttpRequest) -> bool:
    """Return whether the browser reports that a page of another origin sent the request."""
    if "HTTP_ORIGIN" not in request.META and "HTTP_SEC_FETCH_SITE" not in request.META:
        return False
    try:
        return comes_from_elsewhere(request)
    except DisallowedHost:  # refused further inside
        return True


def admit(request: HttpRequest) -> HttpResponse | None:
    """Return the answer to a preflight, None for other requests. Drop the cookies of another origin's request.

    Concerns open addresses only.
    """
    if not (settings.OTHER_ORIGINS and is_open(request.path_info)):
        return None
    if request.method == "OPTIONS" and "HTTP_ACCESS_CONTROL_REQUEST_METHOD" in request.META:
        answer = HttpResponse(status=204)
        del answer["Content-Type"]
        answer["Access-Control-Allow-Methods"] = METHODS
        answer["Access-Control-Allow-Headers"] = SENT
        answer["Access-Control-Max-Age"] = str(_PREFLIGHT_SECONDS)
        return answer
    if "HTTP_COOKIE" in request.META and is_elsewhere(request):
        del request.META["HTTP_COOKIE"]
    return None


def let_read(request: HttpRequest, response: HttpResponse) -> None:
    """Let every origin read the response, unless it may depend on the reader's cookies."""
    if not (settings.OTHER_ORIGINS and is_open(request.path_info)):
        return
    may_depend = "HTTP_COOKIE" in request.META and "Cookie" in response.headers.get("Vary", "")
    if may_depend and any(map(request.COOKIES.get, _COOKIES_OF_ONE)):
        return
    for name, value in HEADERS:
        response.headers[name] = value
