"""Send mail in the background, so that the response time does not reveal whether an account exists."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.utils import translation

# One worker keeps mails in order. At a regular exit the process first sends what is queued.
_sender = ThreadPoolExecutor(max_workers=1, thread_name_prefix="mail")


def send_later(send: Callable[[], None], language: str = "") -> None:
    """Run `send` in the background, in the given language, or by default in the active one."""
    language = language or translation.get_language() or settings.LANGUAGE_CODE

    def in_language() -> None:
        with translation.override(language):
            send()

    _sender.submit(in_language)


def wait_until_sent() -> None:
    """Block until every mail queued so far has been sent."""
    _sender.submit(lambda: None).result()


def public_address(request: HttpRequest) -> tuple[str, str]:
    """Return scheme and host for links in mails: those of SITE_URL, or else those of the request."""
    if settings.SITE_URL:
        public = urlsplit(settings.SITE_URL)
        return public.scheme, public.netloc
    return request.scheme or "http", request.get_host()
