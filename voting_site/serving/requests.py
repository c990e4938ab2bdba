"""What happens to every request outside the site: proxies, static files, bodies, compression, security headers.

Forwarded headers are trusted only from the proxies that the operator declared. Security headers tell browsers what
pages of this site may do, and which sites may embed them.
"""

import secrets
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, NoReturn

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.http.multipartparser import MultiPartParserError
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware, re_accepts_gzip
from django.middleware.security import SecurityMiddleware
from django.utils.cache import patch_vary_headers
from whitenoise.middleware import WhiteNoiseMiddleware

from accounts.web.sent_forms import is_elsewhere
from articles.domain import other_origins
from articles.web.caching import PERSONAL_COOKIES, accepted_encodings
from articles.web.client_address import Proxies, read_address
from articles.web.preferences import PREFERENCE_COOKIES
from voting_site.serving.workers.environ import Application

try:
    from isal import igzip as gzip
except ImportError:  # requirements.in says for which processors there is one
    import gzip  # type: ignore[no-redef]


_SCHEME = "HTTP_X_FORWARDED_PROTO"


def declared(*, behind_proxy: bool, proxies: Iterable[str] = ()) -> Callable[[str], bool]:
    """Return a function that says whether the peer with an address is a proxy whose word on the scheme counts.

    `proxies` are the trusted ones; without any, `behind_proxy` trusts every peer.
    """
    known = Proxies.named(proxies)
    trusts_all = known == Proxies()

    @lru_cache(1024)
    def is_declared(peer: str) -> bool:
        return behind_proxy and (trusts_all or known.trusts_peer(peer, read_address(peer)))

    return is_declared


def with_declared_proxies(
    application: Application, *, behind_proxy: bool, proxies: Iterable[str] = ()
) -> Application:
    """Wrap the application so that a request has a scheme from declared proxies only."""
    is_declared = declared(behind_proxy=behind_proxy, proxies=proxies)

    def wrapped(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if behind_proxy and not is_declared(environ.get("REMOTE_ADDR", "")):
            environ.pop(_SCHEME, None)  # without BEHIND_PROXY, Django does not read it
        return application(environ, start_response)

    return wrapped


_MANIFEST = "staticfiles.json"


class PublicFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]
    """Django's static files by WhiteNoise, except hidden files and the manifest, which pages do not link.

    WhiteNoise, and Django's compression inside, search Accept-Encoding for names: they get the accepted ones.
    """

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        sent = request.META.get("HTTP_ACCEPT_ENCODING", "")
        request.META["HTTP_ACCEPT_ENCODING"] = accepted_encodings(sent)
        return super().__call__(request)  # type: ignore[no-any-return]

    def add_file_to_dictionary(self, url: str, path: str, stat_cache: Any = None) -> None:
        if _is_public(url):
            super().add_file_to_dictionary(url, path, stat_cache=stat_cache)

    def find_file(self, url: str) -> Any:
        """Return the file at an address; only used with DEBUG."""
        return super().find_file(url) if _is_public(url) else None


def _is_public(url: str) -> bool:
    *folders, name = url.split("/")
    return name != _MANIFEST and not any(part.startswith(".") for part in (*folders, name))


class NoUploads(FileUploadHandler):
    """Refuse a form with a file: no page takes one, and none is kept, in memory or on disk."""

    def new_file(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        raise MultiPartParserError("no page takes files")

    def receive_data_chunk(self, raw_data: bytes, start: int) -> NoReturn:  # noqa: ARG002
        raise MultiPartParserError("no page takes files")

    def file_complete(self, file_size: int) -> None:
        """Return no file."""


_QUICK = 2  # level for a page of one reader: a tenth of the time of zlib's level 6, a quarter more bytes
_SHORTEST = 1_000  # bytes of such a page: with its padding, a shorter one might grow
_HAS_NAME = 8  # gzip.FNAME, RFC 1952, section 2.3.1
_HEADER_BYTES = 10


class BodyMiddleware(GZipMiddleware):
    """Answer HEAD without the body, and others with Django's compression, quicker for what no cache shares.

    Those get random padding as Django's do, so that the length does not reveal what they contain (BREACH).
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if isinstance(response, HttpResponse):
            if request.method == "HEAD":
                length = len(response.content)
                response.content = b""
                response.headers["Content-Length"] = str(length)
            elif self._is_for_one(request, response):
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


_UNUSED_FEATURES = (
    "accelerometer", "camera", "display-capture", "fullscreen", "geolocation", "gyroscope", "magnetometer",
    "microphone", "midi", "payment", "screen-wake-lock", "usb",
)  # fmt: skip
"""Features that browsers have known for years: a browser complains of each that it does not know."""

PERMISSIONS = ", ".join(f"{feature}=()" for feature in _UNUSED_FEATURES)

PAGE_POLICY = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
"""Content security policy of all but static files; nothing inline. Django has a setting for it from 6.0 on."""

STATIC_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
"""Policy of static files: only the icon is a document, with colours of its own."""

_OF_MACHINES = ("/healthz", "/readyz", "/metrics")  # addresses that monitoring reads from inside, without TLS


class SecurityHeadersMiddleware(SecurityMiddleware):
    """Add Django's security headers and the site's own to every response, and lead readers to HTTPS.

    The content security policy is the same for all pages. Other sites can show static files. Programs in pages of
    other origins can use what `other_origins` opens to them, but never with a reader's cookies: these are ignored,
    and answers never allow credentials. They get what everyone gets, or what the token in the request may read.
    """

    def process_request(self, request: HttpRequest) -> HttpResponse | None:  # type: ignore[override] # wider
        """Redirect a reader who came by plain HTTP to SITE_URL, if that has HTTPS; answer preflights.

        Only if the declared proxy reports that scheme: without its report, redirects could loop.
        """
        if settings.REDIRECT_TO_HTTPS and _came_by_http(request) and request.path_info not in _OF_MACHINES:
            address = settings.SITE_URL + request.get_full_path()
            return HttpResponsePermanentRedirect(address, preserve_request=True)
        return _admit(request) if _is_open(request) else None

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        is_static = request.path_info.startswith(settings.STATIC_URL)
        response.headers["X-Frame-Options"] = settings.X_FRAME_OPTIONS
        response.headers["Permissions-Policy"] = PERMISSIONS
        response.headers["Cross-Origin-Resource-Policy"] = "cross-origin" if is_static else "same-origin"
        policy = STATIC_POLICY if is_static and response.status_code < 400 else PAGE_POLICY
        response.headers["Content-Security-Policy"] = policy
        if _is_open(request):
            _let_read(request, response)
        return super().process_response(request, response)


_PREFLIGHT_SECONDS = 86400
"""Time for which a browser does not ask again. Firefox keeps it for a day at most, Chromium for two hours."""

_COOKIES_OF_ONE = (*PERSONAL_COOKIES, settings.CSRF_COOKIE_NAME, *PREFERENCE_COOKIES)


def _is_open(request: HttpRequest) -> bool:
    """Return whether programs in pages of other origins can use the address."""
    return bool(settings.OTHER_ORIGINS and other_origins.is_open(request.path_info))


def _admit(request: HttpRequest) -> HttpResponse | None:
    """Return the answer to a preflight, None for other requests. Drop the cookies of another origin's request."""
    if request.method == "OPTIONS" and "HTTP_ACCESS_CONTROL_REQUEST_METHOD" in request.META:
        answer = HttpResponse(status=204)
        del answer["Content-Type"]
        answer["Access-Control-Allow-Methods"] = other_origins.METHODS
        answer["Access-Control-Allow-Headers"] = other_origins.SENT
        answer["Access-Control-Max-Age"] = str(_PREFLIGHT_SECONDS)
        return answer
    if "HTTP_COOKIE" in request.META and is_elsewhere(request):
        del request.META["HTTP_COOKIE"]
    return None


def _let_read(request: HttpRequest, response: HttpResponse) -> None:
    """Let every origin read the response, unless it may depend on the reader's cookies."""
    may_depend = "HTTP_COOKIE" in request.META and "Cookie" in response.headers.get("Vary", "")
    if not (may_depend and any(map(request.COOKIES.get, _COOKIES_OF_ONE))):
        for name, value in other_origins.HEADERS:
            response.headers[name] = value


def _came_by_http(request: HttpRequest) -> bool:
    """Return whether the proxy nearest to the reader took the request without TLS."""
    scheme: str = request.META.get("HTTP_X_FORWARDED_PROTO", "")
    return scheme.split(",", maxsplit=1)[0].strip().lower() == "http"
