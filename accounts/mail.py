"""Mail to members, by a background task, so that the response time does not reveal whether an account exists.

Its signed links verify an address, and unsubscribe. Neither needs a login.
"""

import logging
import smtplib
import threading
from contextlib import AbstractContextManager, suppress
from email.utils import make_msgid, parseaddr
from enum import StrEnum
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from django.conf import settings
from django.core import signing
from django.core.mail import EmailMessage, EmailMultiAlternatives, get_connection
from django.db.models import Q
from django.dispatch import Signal
from django.http import HttpRequest
from django.urls import reverse
from django.utils import translation
from django.utils.encoding import punycode
from django_tasks import task
from django_tasks.base import Task
from django_tasks_db.models import DBTaskResult

from accounts import letters
from accounts.models import User
from articles.configuration.choices import chosen, site_address
from tasks import MAIL, NotYet, TaskQueueFull, add, rests

_log = logging.getLogger(__name__)


_BACKEND = "django.core.mail.backends.{}.EmailBackend"
SMTP = _BACKEND.format("smtp")
_NOT_SENDING = [_BACKEND.format(kind) for kind in ("console", "dummy", "filebased", "locmem")]

_OPTIONS = {
    "host": "EMAIL_HOST",
    "port": "EMAIL_PORT",
    "username": "EMAIL_HOST_USER",
    "password": "EMAIL_HOST_PASSWORD",
    "use_tls": "EMAIL_USE_TLS",
    "use_ssl": "EMAIL_USE_SSL",
}


def server(name: str) -> Any:
    """Return a setting of the mail server by Django's name, as the owner or the environment chose it."""
    return chosen.EMAIL_URL.get(name, getattr(settings, name))


def is_sent() -> bool:
    """Return whether mail is sent to a server, not printed or dropped."""
    return server("EMAIL_BACKEND") not in _NOT_SENDING


def is_dropped() -> bool:
    """Return whether mail reaches no one: it is printed where the site runs, or dropped."""
    return server("EMAIL_BACKEND") in _NOT_SENDING[:2]


def connection() -> Any:
    """Return a connection to the mail server, which is not open yet."""
    return get_connection(server("EMAIL_BACKEND"), **{option: server(name) for option, name in _OPTIONS.items()})


class Kind(StrEnum):
    """The core's kinds of mail, each with its template. A kind of an extra is the text of its template alone."""

    VERIFICATION = "accounts/mail/verification.html"
    PASSWORD_RESET = "accounts/mail/password_reset.html"  # noqa: S105 - a template
    SIGN_IN_CHANGED = "accounts/mail/sign_in_changed.html"
    WRONG_CODES = "accounts/mail/wrong_codes.html"
    TEST = "accounts/mail/test.html"
    NOTICES = "inbox/mail.html"
    DIGEST = "inbox/digest.html"
    WAITING = "moderation/mail.html"
    STATEMENT = "statements/mail.html"
    LEGAL_NOTICE = "legal_notices/mail.html"


NOTICES, DIGEST, WAITING = "notices", "digest", "waiting"  # what members can unsubscribe from

_STOPS: dict[str, str] = {Kind.NOTICES: NOTICES, Kind.DIGEST: DIGEST, Kind.WAITING: WAITING}

SHARES: dict[str, int] = {**dict.fromkeys((*_STOPS, Kind.STATEMENT), 12), Kind.LEGAL_NOTICE: 2}
"""How many times the uses of the limit of mails an address has for a kind: more for what others cause, else 1."""


class TooManyMails(Exception):
    """The address has got as many mails of this kind as it may for now."""


mail_due = Signal()
"""Sent by a kind before a mail is queued, with its address `to`, and `what` changed or "". Raises TooManyMails."""


class Letter(NamedTuple):
    """A mail, drawn in the language of its receiver."""

    kind: str
    to: str
    subject: str
    text: str
    html: str
    headers: dict[str, str]
    what: str = ""
    """What it tells, where a kind has several: each counts by itself, so that none can keep another one away."""

    def message(self) -> EmailMultiAlternatives:
        return _message(self.to, self.subject, self.text, self.html, self.headers)


def letter(kind: str, to: str, context: dict[str, Any], language: str = "") -> Letter:
    """Draw a mail in this language, or else in the active one."""
    with translation.override(language or translation.get_language() or chosen.language):
        drawn = letters.draw(str(kind), context, site_origin())
    headers = {"Message-ID": _message_id(), "Auto-Submitted": "auto-generated"}
    return Letter(kind, to, *drawn, headers)


def letter_to(member: User, kind: str, context: dict[str, Any]) -> Letter:
    """Draw a mail to a member, at the last address that they have verified.

    It is in the language that they have chosen, or else in the active one: see `language_of`. Members unsubscribe
    from what they asked for with one click (RFC 8058).
    """
    context, headers = {"name": member.username} | context, dict[str, str]()
    if what := _STOPS.get(kind):
        stop = context["stop"] = site_origin() + reverse(
            "accounts:unsubscribe", args=[unsubscribe_token(member, what)]
        )
        headers = {"List-Unsubscribe": f"<{stop}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}
    drawn = letter(kind, member.verified_email, context, member.language)
    return drawn._replace(headers=drawn.headers | headers, what=context.get("change", ""))


def language_of(member: User) -> AbstractContextManager[None]:
    """Return a context in which texts are in the member's language."""
    return translation.override(member.language or chosen.language)


def send_later(one: Letter, member: int = 0) -> None:
    """Let a background task send a mail. `member`: the only one who is to get it, at their verified address.

    It has the same `Message-ID` if it is sent again. All mail passes here or through `draw_later`, except links to
    a new password, which are never stored: see `accounts.forms`. Raises TaskQueueFull, TooManyMails.
    """
    mail_due.send(sender=one.kind, to=one.to, what=one.what)
    add(deliver, member, one.to, one.subject, one.text, one.html, one.headers)


def draw_later(drawing: Task[Any, Any], member: User, kind: str, *arguments: float) -> None:
    """Let a background task draw a mail as it sends it, by `send_drawn`. Raises as `send_later`."""
    mail_due.send(sender=kind, to=member.verified_email, what="")
    add(drawing, member.pk, _message_id(), *arguments)


def send_drawn(one: Letter, message_id: str) -> None:
    """Send a mail that `draw_later` has announced. Raises as `send_now`."""
    send_now(one._replace(headers=one.headers | {"Message-ID": message_id}).message())


def tell(member: User, kind: str, context: dict[str, Any]) -> None:
    """Mail a member in the background, if their address is verified: see `letter_to`.

    The last address that was gets what changes at the login, also after another one was typed, and as the account
    is deleted. If too many mails wait, or were sent, it is only logged.
    """
    if member.has_verified_email or (kind is Kind.SIGN_IN_CHANGED and member.verified_email):
        _try_to_send(letter_to(member, kind, context), 0 if member.left_at else member.pk)


def _try_to_send(one: Letter, member: int = 0) -> None:
    try:
        send_later(one, member)
    except TooManyMails:
        _log.warning("a mail (%s) was not sent: the address has got too many", one.kind)
    except TaskQueueFull:
        _log.error("a mail (%s) was not sent: too many wait", one.kind)


def _message_id() -> str:
    """Return a new id in the domain of the site; without SITE_URL in that of the sender."""
    host = urlsplit(settings.SITE_URL).hostname or ""
    sender = parseaddr(chosen.EMAIL_FROM)[1].rpartition("@")[2]
    return make_msgid(domain=punycode(sender if ":" in host or not host else host))


@task(queue_name=MAIL)
def deliver(member: int, to: str, subject: str, text: str, html: str, headers: dict[str, str]) -> None:
    """Send a mail, unless the member has left or changed the address meanwhile. Raises NotYet, SMTPException."""
    if member and not User.objects.filter(pk=member, verified_email=to, is_active=True, left_at=None).exists():
        return
    send_now(_message(to, subject, text, html, headers))


def _message(to: str, subject: str, text: str, html: str, headers: dict[str, str]) -> EmailMultiAlternatives:
    message = EmailMultiAlternatives(subject, text, chosen.EMAIL_FROM, [to], headers=headers)
    if html:
        message.attach_alternative(html, "text/html")
    return message


def forget_waiting(member: User) -> None:
    """Drop the mail that waits for a member or this address. One query."""
    to = Q(args_kwargs__args__0=member.pk)
    if member.email:
        to |= Q(args_kwargs__args__0=member.email) | Q(args_kwargs__args__1=member.email)
    DBTaskResult.objects.filter(to, queue_name=MAIL).order_by().delete()


def send_now(message: EmailMessage) -> None:
    """Send a mail over the connection of this thread. What the server refuses for good is only logged.

    Raises NotYet if the server cannot be reached, SMTPException and OSError if it does not take the mail now.
    """
    message.connection = _line.connection()
    try:
        message.send()
    except (OSError, smtplib.SMTPException) as failure:
        _line.close()
        code, answer = 0, b""
        if isinstance(failure, smtplib.SMTPRecipientsRefused):
            code, answer = next(iter(failure.recipients.values()))
        elif isinstance(failure, smtplib.SMTPResponseException):
            code, answer = failure.smtp_code, failure.smtp_error  # type: ignore[assignment]
        if code < _FOR_GOOD:
            raise
        _log.warning("a mail was not sent: the mail server refused it: %d %s", code, answer)


_FOR_GOOD = 500  # SMTP codes from here on say that the server will never take the mail


class _Line(threading.local):
    """The connection of a thread to the mail server, while it has mails to send."""

    server: Any = None

    def connection(self) -> Any:
        """Return an open connection. Raises NotYet."""
        if self.server is None:
            server = connection()
            try:
                server.open()
            except (OSError, smtplib.SMTPException) as failure:
                raise NotYet(f"{type(failure).__name__}: {failure}") from failure
            self.server = server
        return self.server

    def close(self, **_: object) -> None:
        server, self.server = self.server, None
        if server:
            server.close()


_line = _Line()
rests.connect(_line.close, sender=MAIL)


def send_verification(request: HttpRequest, member: User) -> None:
    """Send a link that verifies the member's address, in the background."""
    link = mail_origin(request) + reverse("accounts:verify", args=[verification_token(member)])
    context = {"name": member.username, "days": VERIFY_DAYS, "link": link}
    _try_to_send(letter(Kind.VERIFICATION, member.email, context, member.language))


def mail_origin(request: HttpRequest) -> str:
    """Return the start of links in mail: that of SITE_URL, or else this machine's with the site's port.

    Nothing else comes from the request: its sender must not be able to choose where the link leads.
    """
    if settings.SITE_URL:
        return site_address(request)
    own = _own_hosts()
    return f"http://{request.get_host() if request.get_host() in own else own[0]}"


def site_origin() -> str:
    """Return the start of links in mail that is sent outside a request: `https://news.example.org`."""
    return settings.SITE_URL.rstrip("/") or f"http://{_own_hosts()[0]}"


def _own_hosts() -> list[str]:
    return [f"{host}:{settings.PORT}" for host in ("localhost", "127.0.0.1", "[::1]")]


VERIFY_DAYS = 3  # days for which a link that verifies an address works

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


def comparable(address: str) -> str:
    """Return a mail address in the form in which two are compared: a domain has many spellings."""
    name, _at, domain = address.rpartition("@")
    with suppress(UnicodeError):  # no domain
        domain = punycode(domain)
    return f"{name}@{domain}".casefold()
