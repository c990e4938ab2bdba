"""Whether the site can send mail."""

import os
import smtplib
from collections.abc import Iterator
from itertools import islice
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.utils.translation import gettext as _

from articles import replies
from articles.doctor.examination import Examination, Finding, Level, error, fine, note, reason_of, warning
from articles.doctor.settings import is_public
from owner.choices import chosen

_BACKEND = "django.core.mail.backends.{}.EmailBackend"
_SENDING = _BACKEND.format("smtp")
_MOST_COUNTED = 1_000
_NOT_SENDING = [_BACKEND.format(kind) for kind in ("console", "dummy", "filebased", "locmem")]


def is_sent() -> bool:
    """Return whether mail is sent to a server, not printed or dropped."""
    return settings.EMAIL_BACKEND not in _NOT_SENDING


def check_backend(_examination: Examination) -> Iterator[Finding]:
    if is_sent():
        yield fine("Mail is sent to a server.")
    elif is_public():
        yield warning(
            _("Mail is not sent: members cannot get a link to choose a new password."),
            _("Set `EMAIL_URL` to a mail server, such as `smtp+tls://mail.example.org:587`."),
        )
    else:
        yield note("Mail is not sent, but printed or dropped.", "Set `EMAIL_URL` to a mail server.")


def check_server(_examination: Examination) -> Iterator[Finding]:
    """Connect to the mail server and log in, but send nothing."""
    if settings.EMAIL_BACKEND != _SENDING:
        return
    try:
        with get_connection() as backend:
            _session_of(backend).ehlo_or_helo_if_needed()
            yield fine(f"The mail server {_server()} accepts the site's login.")
    except (OSError, smtplib.SMTPException) as failure:
        yield error(f"The mail server {_server()} cannot be used.", "Check `EMAIL_URL`.", _answer_in(failure))


def check_replies(_examination: Examination) -> Iterator[Finding]:
    """Look at the maildir of replies by mail."""
    if settings.REPLY_MAILDIR is None:
        return
    folder = replies.folder()
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        yield error(
            _("Replies by mail are not read: the site cannot read and change `%(folder)s`.") % {"folder": folder},
            _("Let the mail server deliver there, and the site's user delete: docs/reply-by-mail.md."),
        )
    elif set_aside := sum(1 for _name in islice(replies.aside().glob("*"), _MOST_COUNTED)):
        yield warning(
            f"{set_aside} replies by mail failed because of errors in the site.",
            f"See the log. Move them from `{replies.aside()}` to `{folder}` to try again.",
        )
    else:
        yield fine("Replies by mail are read.")


def send_test(recipient: str) -> Finding:
    """Send a mail, and return the server's answer. Sends nothing if the site's mail goes nowhere."""
    if not is_sent():
        return warning(f"No mail was sent to {recipient}: mail is printed or dropped.", "Set `EMAIL_URL`.")
    message = EmailMessage(
        f"Test mail of {chosen.SITE_NAME}", "If you can read this, the site can send mail.\n", to=[recipient]
    )
    try:
        with get_connection() as backend:
            message.connection = backend
            answers = _recorded_answers(backend)
            message.send()
    except (OSError, ValueError, smtplib.SMTPException) as failure:
        return error(
            f"No mail could be sent to {recipient}.", "Check `EMAIL_URL` and `EMAIL_FROM`.", _answer_in(failure)
        )
    return Finding(Level.FINE, f"{_server()} has accepted the mail to {recipient}.", "", ", ".join(answers))


def _session_of(backend: Any) -> Any:
    """Return the backend's session with a mail server; None if it has none."""
    return getattr(backend, "connection", None)


def _server() -> str:
    return f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}"


def _recorded_answers(backend: Any) -> list[str]:
    """Return a list that gets the server's answer to each mail sent; Django does not pass it on."""
    answers: list[str] = []
    session = _session_of(backend)
    if session is not None:
        send = session.data

        def data(text: Any) -> Any:
            code, answer = send(text)
            answers.append(_line(code, answer))
            return code, answer

        session.data = data
    return answers


def _answer_in(failure: Exception) -> str:
    """Return the server's own words, or the system's."""
    match failure:
        case smtplib.SMTPRecipientsRefused():
            code, answer = next(iter(failure.recipients.values()))
        case smtplib.SMTPResponseException():
            code, answer = failure.smtp_code, _as_bytes(failure.smtp_error)
        case _:
            return reason_of(failure)
    return _line(code, answer)


def _as_bytes(answer: bytes | str) -> bytes:
    return answer.encode() if isinstance(answer, str) else answer


def _line(code: int, answer: bytes) -> str:
    return f"{code} {answer.decode('utf-8', 'replace')}"
