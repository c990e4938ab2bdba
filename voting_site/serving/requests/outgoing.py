"""Responses after Django: compression, and headers that tell browsers what this site may do and who may embed it.

Also the redirect to HTTPS.
"""

import gzip
import secrets
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware, re_accepts_gzip
from django.utils.cache import patch_vary_headers

_QUICK = 3
"""zlib's level for a page of one reader: a third of the time of level 6, a sixth more bytes."""

_SHORTEST = 1_000
"""Bytes of such a page: with its padding, a shorter one might grow."""

_HAS_NAME = 8  # gzip.FNAME, RFC 1952, section 2.3.1
_HEADER_BYTES = 10


class PackingMiddleware(GZipMiddleware):
    """Django's compression, but quicker for responses that no cache shares.

    Those get random padding as Django's do, so that the length does not reveal what they contain (BREACH).
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if isinstance(response, HttpResponse) and self._is_for_one(request, response):
            patch_vary_headers(response, ("Accept-Encoding",))
            response.content = self._packed(response.content)
            response.headers["Content-Length"] = str(len(response.content))
            response.headers["Content-Encoding"] = "gzip"
            return response
        return super().process_response(request, response)

    @staticmethod
    def _is_for_one(request: HttpRequest, response: HttpResponse) -> bool:
        return (
            "private" in response.headers.get("Cache-Control", "")
            and not response.headers.get("ETag", "").startswith('"')  # Django makes it weak
            and not response.has_header("Content-Encoding")
            and len(response.content) >= _SHORTEST
            and bool(re_accepts_gzip.search(request.META.get("HTTP_ACCEPT_ENCODING", "")))
        )

    def _packed(self, content: bytes) -> bytes:
        """Return the content as gzip, with up to `max_random_bytes` of padding as the name of a file."""
        packed = bytearray(gzip.compress(content, _QUICK, mtime=0))
        packed[3] |= _HAS_NAME
        padding = b"a" * secrets.randbelow(self.max_random_bytes) + b"\0"
        return bytes(packed[:_HEADER_BYTES]) + padding + packed[_HEADER_BYTES:]


Answer = Callable[[HttpRequest], HttpResponse]

_UNUSED_FEATURES = (
    *("accelerometer", "camera", "display-capture", "fullscreen", "geolocation", "gyroscope", "magnetometer"),
    *("microphone", "midi", "payment", "screen-wake-lock", "usb"),
)
"""Features that browsers have known for years: a browser complains of each that it does not know."""

PERMISSIONS = ", ".join(f"{feature}=()" for feature in _UNUSED_FEATURES)

PAGE_POLICY = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
"""Content security policy of all but static files; nothing inline. Django has a setting for it from 6.0 on."""

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

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self._get_response(request)
        is_static = request.path_info.startswith(settings.STATIC_URL)
        response.headers["Permissions-Policy"] = PERMISSIONS
        response.headers["Cross-Origin-Resource-Policy"] = "cross-origin" if is_static else "same-origin"
        policy = STATIC_POLICY if is_static and response.status_code < 400 else PAGE_POLICY
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
