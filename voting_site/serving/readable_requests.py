"""Refuse requests that are too large or unreadable before anything parses them.

Forms are short and carry no files. The limit of the API is Django's `DATA_UPLOAD_MAX_MEMORY_SIZE`.
"""

from collections.abc import Callable
from typing import Any, NoReturn

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import FileUploadHandler
from django.http import HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError

from articles.api.protocol.handlers import is_for_programs

Answer = Callable[[HttpRequest], HttpResponse]


class ReadableRequestMiddleware:
    """Refuse a body that is longer than its address accepts, by its length alone. Runs inside of all others."""

    def __init__(self, get_response: Answer) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Raise RequestDataTooBig, which the site's handlers answer with 413."""
        _check_length(request)
        return self._get_response(request)


def _check_length(request: HttpRequest) -> None:
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or int(length) > _most_bytes(request):
        raise RequestDataTooBig(f"a body of {length[:20]} bytes")


def _most_bytes(request: HttpRequest) -> int:
    most: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE if is_for_programs(request) else settings.FORM_MAX_BYTES
    return most


class NoUploads(FileUploadHandler):
    """Refuse a form with a file: no page takes one, and none is kept, in memory or on disk."""

    def new_file(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        raise MultiPartParserError("no page takes files")

    def receive_data_chunk(self, raw_data: bytes, start: int) -> NoReturn:  # noqa: ARG002
        raise MultiPartParserError("no page takes files")

    def file_complete(self, file_size: int) -> None:
        """Return no file."""
