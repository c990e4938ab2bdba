"""What happens to every request before and after Django: proxies, bodies, text, compression, security headers.

Of a proxy's word only what the operator declared is believed. Requests that are too large or unreadable are
refused before anything parses them. Responses tell browsers what this site may do and who may embed it.
"""

import gzip
import secrets
from binascii import a2b_qp
from collections.abc import Callable, Iterable
from functools import lru_cache
from io import BytesIO
from typing import Any, NoReturn
from urllib.parse import unquote_to_bytes

from django.conf import settings
from django.core.exceptions import BadRequest, RequestDataTooBig
from django.core.files.uploadhandler import FileUploadHandler
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware, re_accepts_gzip
from django.utils.cache import patch_vary_headers

from articles.api.protocol.envelope import is_for_programs, too_many
from articles.domain.errors import LimitReached
from articles.web import limits
from articles.web.client_address import Proxies, read_address
from voting_site.serving.workers.environ import Application


def with_whole_bodies(application: Application, at_most: int) -> Application:
    """Wrap the application so that every body has a length. Longer ones are cut one byte above `at_most` bytes."""

    def wrapped(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        ends = environ.get("wsgi.input_terminated")
        if ends and "HTTP_TRANSFER_ENCODING" in environ and not environ.get("CONTENT_LENGTH"):
            body = environ["wsgi.input"].read(at_most + 1)
            environ |= {"wsgi.input": BytesIO(body), "CONTENT_LENGTH": str(len(body))}
        return application(environ, start_response)

    return wrapped


_PREFIXES = ("SCRIPT_NAME", "SCRIPT_URL", "REDIRECT_URL")
"""Variables from which Django derives a prefix of every address."""

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
    """Wrap the application so that a request has no prefix, and a scheme from declared proxies only."""
    is_declared = declared(behind_proxy=behind_proxy, proxies=proxies)

    def wrapped(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        environ["PATH_INFO"] = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
        for name in _PREFIXES:
            environ.pop(name, None)
        environ["SCRIPT_NAME"] = ""
        environ["wsgi.url_scheme"] = "http"
        if behind_proxy and not is_declared(environ.get("REMOTE_ADDR", "")):
            environ.pop(_SCHEME, None)  # without BEHIND_PROXY, Django does not read it
        return application(environ, start_response)

    return wrapped


Answer = Callable[[HttpRequest], HttpResponse]


_URL_ENCODED, _MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"
_LARGE_BYTES = 100_000
"""Bodies up to this size are decoded in some 40 ms, whatever they contain."""

_REPLACEMENT = "\ufffd"
"""What Django decodes an invalid byte to. Members can also type it."""


class ReadableRequestMiddleware:
    """Refuse a body that is longer than its address accepts, by its length alone, and text that is not UTF-8.

    Django replaces invalid bytes, so that they would be stored as other text. The API's own parser is strict.
    """

    def __init__(self, get_response: Answer) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Raise RequestDataTooBig or BadRequest, which the site's handlers answer with 413 and 400."""
        if _length_of(request) > _LARGE_BYTES:
            try:
                limits.take_large(request)
            except LimitReached as reached:
                return too_many(request, reached)
        _check_utf8(request.META.get("QUERY_STRING", "").encode("latin-1", "replace"))
        if request.method == "POST" and request.content_type in (_URL_ENCODED, _MULTIPART):
            _check_form(request)
        return self._get_response(request)


def _length_of(request: HttpRequest) -> int:
    """Return the length of the body in bytes. Raises RequestDataTooBig."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or int(length) > _most_bytes(request):
        raise RequestDataTooBig(f"a body of {length[:20]} bytes")
    return int(length)


def _most_bytes(request: HttpRequest) -> int:
    most: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE if is_for_programs(request) else settings.FORM_MAX_BYTES
    return most


def _check_utf8(encoded: bytes) -> None:
    """Raise BadRequest for bytes that are not UTF-8, percent-encoded or not."""
    try:
        _unquoted(encoded).decode()
    except UnicodeDecodeError as error:
        raise BadRequest("text that is not UTF-8") from error


def _unquoted(encoded: bytes) -> bytes:
    """Return the bytes decoded, with other signs for "=" and "%": as quoted-printable, which is fast."""
    if b"\n" in encoded or b"\r" in encoded:  # these have a meaning there
        return unquote_to_bytes(encoded)
    for _ in range(2):  # so that no sign of an escape follows another one
        encoded = encoded.replace(b"%%", b"%25%")
    return a2b_qp(encoded.replace(b"=", b"&").replace(b"%", b"="))


def _check_form(request: HttpRequest) -> None:
    charset = (request.content_params or {}).get("charset", "utf-8").lower()
    if charset not in ("utf-8", "utf8"):
        raise BadRequest(f"a form in {charset[:20]}")
    try:
        body = request.body
    except UnreadablePostError as error:
        raise BadRequest("a form that ended early") from error
    if request.content_type == _URL_ENCODED:
        _check_utf8(body)
    else:
        _check_multipart(request, body)


def _check_multipart(request: HttpRequest, body: bytes) -> None:
    """Raise BadRequest if a field is not UTF-8, even inside base64, which some clients use."""
    try:
        is_typed = _REPLACEMENT in body.decode()
    except UnicodeDecodeError as error:
        raise BadRequest("a form that is not UTF-8") from error
    texts = (text for name, values in request.POST.lists() for text in (name, *values))
    if not is_typed and any(_REPLACEMENT in str(text) for text in texts):
        raise BadRequest("a field that is not UTF-8")


class NoUploads(FileUploadHandler):
    """Refuse a form with a file: no page takes one, and none is kept, in memory or on disk."""

    def new_file(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        raise MultiPartParserError("no page takes files")

    def receive_data_chunk(self, raw_data: bytes, start: int) -> NoReturn:  # noqa: ARG002
        raise MultiPartParserError("no page takes files")

    def file_complete(self, file_size: int) -> None:
        """Return no file."""


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
