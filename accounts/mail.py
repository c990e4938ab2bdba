"""Mails are sent behind the answer, which then takes as long whether there is an account or not."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.utils import translation

# One worker: mails leave in order. What is queued at a regular end of the process is still sent.
_sender = ThreadPoolExecutor(max_workers=1, thread_name_prefix="mail")


def send_later(send: Callable[[], None], language: str = "") -> None:
    """Runs `send` behind the answer, in the given language or that of the page."""
    language = language or translation.get_language() or settings.LANGUAGE_CODE

    def in_language() -> None:
        with translation.override(language):
            send()

    _sender.submit(in_language)


def wait_until_sent() -> None:
    """Returns when everything handed over so far has been sent."""
    _sender.submit(lambda: None).result()


def public_address(request: HttpRequest) -> tuple[str, str]:
    """Scheme and host for links in mails: the operator's, and only without one the visitor's."""
    if settings.SITE_URL:
        public = urlsplit(settings.SITE_URL)
        return public.scheme, public.netloc
    return request.scheme or "http", request.get_host()
