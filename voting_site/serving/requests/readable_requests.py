"""Refuse requests that are too large or unreadable before anything parses them.

Forms are short and carry no files. The limit of the API is Django's `DATA_UPLOAD_MAX_MEMORY_SIZE`.
"""

from binascii import a2b_qp
from collections.abc import Callable
from typing import Any, NoReturn
from urllib.parse import unquote_to_bytes

from django.conf import settings
from django.core.exceptions import BadRequest, RequestDataTooBig
from django.core.files.uploadhandler import FileUploadHandler
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError

from articles.api.protocol.handlers import is_for_programs, too_many
from articles.domain.errors import LimitReached
from articles.web import limits

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
