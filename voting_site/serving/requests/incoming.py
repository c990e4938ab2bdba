"""Requests before Django: proxies, bodies and text.

Of a proxy's word only what the operator declared is believed. Requests that are too large or unreadable are
refused before anything parses them.
"""

from binascii import a2b_qp
from collections.abc import Callable, Iterable
from functools import lru_cache
from io import BytesIO
from typing import Any, NoReturn
from urllib.parse import unquote_to_bytes

from django.conf import settings
from django.core.exceptions import BadRequest, RequestDataTooBig
from django.core.files.uploadhandler import FileUploadHandler
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError

from articles.api.protocol.envelope import is_for_programs, too_many
from articles.domain.errors import LimitReached
from articles.web import limits
from articles.web.client_address import Proxies, read_address

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


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
