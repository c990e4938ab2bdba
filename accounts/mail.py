"""Mail to members: sent in the background, so that the response time does not reveal whether an account exists.

Its signed links verify an address, and unsubscribe. Neither needs a login.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core import signing
from django.core.mail import EmailMessage
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation

from accounts.models import User
from owner.choices import chosen

# One worker keeps mails in order. At a regular exit the process first sends what is queued.
_sender = ThreadPoolExecutor(max_workers=1, thread_name_prefix="mail")


def send_later(send: Callable[[], None], language: str = "") -> None:
    """Run `send` in the background, in the given language, or by default in the active one."""
    language = language or translation.get_language() or chosen.language

    def in_language() -> None:
        with translation.override(language):
            send()

    _sender.submit(in_language)


def wait_until_sent() -> None:
    """Block until every mail queued so far has been sent."""
    _sender.submit(lambda: None).result()


def send_text(recipient: str, template: str, context: dict[str, Any], language: str = "") -> None:
    """Send a mail in the background from `accounts/mail/<template>.txt` and its subject, in this language."""

    def send() -> None:
        subject = render_to_string(f"accounts/mail/{template}_subject.txt", context)
        body = render_to_string(f"accounts/mail/{template}.txt", context)
        EmailMessage(" ".join(subject.split()), body, to=[recipient]).send()

    send_later(send, language)


def send_verification(request: HttpRequest, member: User) -> None:
    """Send a link that verifies the member's address, in the background."""
    protocol, domain = mail_address(request)
    link = reverse("accounts:verify", args=[verification_token(member)])
    context = {"name": member.username, "site_name": chosen.SITE_NAME, "days": VERIFY_DAYS}
    send_text(member.email, "verification", context | {"link": f"{protocol}://{domain}{link}"}, member.language)


def mail_address(request: HttpRequest) -> tuple[str, str]:
    """Return scheme and host for links in mails: those of SITE_URL, or else this machine's with the site's port.

    Nothing else comes from the request: its sender must not be able to choose where the link leads.
    """
    if settings.SITE_URL:
        return public_address(request)
    own = _own_hosts()
    return "http", request.get_host() if request.get_host() in own else own[0]


def site_origin() -> str:
    """Return the start of links in mail that is sent outside a request: `https://news.example.org`."""
    return settings.SITE_URL.rstrip("/") or f"http://{_own_hosts()[0]}"


def _own_hosts() -> list[str]:
    return [f"{host}:{settings.PORT}" for host in ("localhost", "127.0.0.1", "[::1]")]


def public_address(request: HttpRequest) -> tuple[str, str]:
    """Return scheme and host of the site's pages: those of SITE_URL, or else those of the request."""
    if settings.SITE_URL:
        public = urlsplit(settings.SITE_URL)
        return public.scheme, public.netloc
    return request.scheme or "http", request.get_host()


VERIFY_DAYS = 3
"""Days for which a link that verifies an address works."""

NOTICES, DIGEST, WAITING = "notices", "digest", "waiting"
"""What members can unsubscribe from."""

_VERIFY, _UNSUBSCRIBE = "accounts.verify", "accounts.unsubscribe"


def verification_token(member: User) -> str:
    """Return the token of a link that verifies the member's current address."""
    return signing.dumps([member.pk, member.email], salt=_VERIFY)


def member_verifying(token: str) -> User | None:
    """Return the member whose current address a link verifies; None if it is invalid, old, or for another one."""
    try:
        user_id, address = signing.loads(token, salt=_VERIFY, max_age=VERIFY_DAYS * 86400)
    except signing.BadSignature:
        return None
    return User.objects.filter(pk=user_id, email=address, is_active=True).first()


def unsubscribe_token(member: User, what: str = NOTICES) -> str:
    """Return the token of a link that unsubscribes from this mail, valid as long as the secret key is kept."""
    return signing.dumps([member.pk, what], salt=_UNSUBSCRIBE)


def read_unsubscribe_token(token: str) -> tuple[User, str] | None:
    """Return the member and the mail that a link unsubscribes from; None if it is invalid."""
    try:
        user_id, what = signing.loads(token, salt=_UNSUBSCRIBE)
    except signing.BadSignature:
        return None
    member = User.objects.filter(pk=user_id).first()
    return (member, what) if member else None
