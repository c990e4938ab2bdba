"""Headers that tell browsers what this site may do and who may embed it, and the redirect to HTTPS.

They are on every response: pages, static files, 304 and errors. Django adds the others.
"""

from collections.abc import Callable

from csp.utils import build_policy
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect

Answer = Callable[[HttpRequest], HttpResponse]

_UNUSED_FEATURES = (
    *("accelerometer", "camera", "display-capture", "fullscreen", "geolocation", "gyroscope", "magnetometer"),
    *("microphone", "midi", "payment", "screen-wake-lock", "usb"),
)
"""Features that browsers have known for years: a browser complains of each that it does not know."""

PERMISSIONS = ", ".join(f"{feature}=()" for feature in _UNUSED_FEATURES)

STATIC_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
"""Policy of static files: only the icon is a document, with colours of its own."""

_OF_MACHINES = ("/healthz", "/readyz", "/metrics")
"""Addresses that monitoring reads from inside, without TLS."""


class SecurityHeadersMiddleware:
    """Add the content security policy, which is the same for all pages, Permissions-Policy and
    Cross-Origin-Resource-Policy; static files can be shown on other sites.
    """

    def __init__(self, get_response: Answer) -> None:
        self._get_response = get_response
        self._policy = build_policy()

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self._get_response(request)
        is_static = request.path_info.startswith(settings.STATIC_URL)
        response.headers["Permissions-Policy"] = PERMISSIONS
        response.headers["Cross-Origin-Resource-Policy"] = "cross-origin" if is_static else "same-origin"
        policy = STATIC_POLICY if is_static and response.status_code < 400 else self._policy
        response.headers["Content-Security-Policy"] = policy
        return response


class HttpsRedirectMiddleware:
    """Redirect a reader who came by plain HTTP to SITE_URL, if that has HTTPS.

    Only if the declared proxy says so: without its word, a redirect could lead back here for ever.
    """

    def __init__(self, get_response: Answer) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if settings.REDIRECT_TO_HTTPS and _came_by_http(request) and request.path_info not in _OF_MACHINES:
            address = settings.SITE_URL + request.get_full_path()
            return HttpResponsePermanentRedirect(address, preserve_request=True)
        return self._get_response(request)


def _came_by_http(request: HttpRequest) -> bool:
    """Return whether the proxy nearest to the reader took the request without TLS."""
    scheme: str = request.META.get("HTTP_X_FORWARDED_PROTO", "")
    return scheme.split(",", maxsplit=1)[0].strip().lower() == "http"
