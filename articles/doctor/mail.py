"""Whether the site can send mail."""

import json
import smtplib
import time
from collections.abc import Iterator
from typing import Any

from django.db import DatabaseError
from django.utils.crypto import get_random_string
from django.utils.encoding import force_bytes
from django.utils.translation import gettext as _
from django_tasks import TaskResultStatus, task
from django_tasks_db.models import DBTaskResult

import tasks
from accounts.mail import SMTP, Kind, connection, is_sent, letter, server
from articles.configuration import choices
from articles.doctor.examination import (
    Examination,
    Finding,
    Level,
    accounts_file,
    error,
    fine,
    note,
    reason_of,
    warning,
)
from articles.doctor.settings import is_public

_MOST_COUNTED = 1_000


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
    if server("EMAIL_BACKEND") != SMTP:
        return
    try:
        with connection() as backend:
            _session_of(backend).ehlo_or_helo_if_needed()
            yield fine(f"The mail server {_server()} accepts the site's login.")
    except (OSError, smtplib.SMTPException) as failure:
        yield error(f"The mail server {_server()} cannot be used.", "Check `EMAIL_URL`.", _answer_in(failure))


PATIENCE = 10.0  # seconds in which a process of the site takes the test mail: an idle one looks every second
_LONGEST_ANSWER = 30.0  # further seconds in which the mail server answers the process that has taken it
_POLL = 0.2
_ANSWER = "test mail"  # the note of what the last test mail was answered


def send_test(recipient: str) -> Finding:
    """Let the process that sends mail send one, if any; return the server's answer."""
    if not is_sent():
        return warning(f"No mail was sent to {recipient}: mail is printed or dropped.", "Set `EMAIL_URL`.")
    key = get_random_string(16)
    began = time.monotonic()
    try:
        if (file := accounts_file()) and not file.exists():
            return _not_taken()
        tasks.add(answer_test, recipient, key)
        while (answer := _answer_to(key)) is None and time.monotonic() < began + PATIENCE + _LONGEST_ANSWER:
            if time.monotonic() >= began + PATIENCE and _withdrawn(key):
                return _not_taken()
            time.sleep(_POLL)
    except (DatabaseError, tasks.TaskQueueFull) as failure:
        reason = "too many tasks wait" if isinstance(failure, tasks.TaskQueueFull) else reason_of(failure)
        return error("The test mail cannot be queued.", "See the log of housekeeping, which sends mail.", reason)
    return _finding_of(recipient, answer)


def _finding_of(recipient: str, answer: tuple[str, bool, str] | None) -> Finding:
    if answer is None:
        return error(
            _("The mail server has not answered the process that sends mail."),
            _("See the site’s log for the reason."),
        )
    server, has_accepted, detail = answer
    if has_accepted:
        return Finding(Level.FINE, f"{server} has accepted the mail to {recipient}.", "", detail)
    return error(f"No mail could be sent to {recipient}.", "Check `EMAIL_URL` and `EMAIL_FROM`.", detail)


def _not_taken() -> Finding:
    return error(
        _("No process of the site has taken the test email."),
        _(
            "Mail is sent by housekeeping: start the site, or `manage.py tick --every 60` beside "
            "`manage.py run --no-housekeeping`. If it runs, its log says why mail waits."
        ),
    )


@task(queue_name=tasks.MAIL)
def answer_test(recipient: str, key: str) -> None:
    """Send a test mail, and note the answer for the process that asked with this key."""
    choices.forget()  # another process may have saved the mail server a moment ago
    message = letter(Kind.TEST, recipient, {}).message()
    has_accepted = True
    try:
        with connection() as backend:
            message.connection = backend
            answers = _recorded_answers(backend)
            message.send()
            detail = ", ".join(answers)
    except (OSError, ValueError, smtplib.SMTPException) as failure:
        has_accepted, detail = False, _answer_in(failure)
    choices.save(_ANSWER, json.dumps([key, _server(), has_accepted, detail]))


def _answer_to(key: str) -> tuple[str, bool, str] | None:
    """Return the mail server, whether it has accepted the mail, and its words; None before that."""
    choices.forget()
    answered, *answer = json.loads(choices.note_of(_ANSWER) or '[""]')
    return tuple(answer) if answered == key else None


def _withdrawn(key: str) -> bool:
    """Drop a test mail that no process has taken; return whether there was one."""
    waiting = DBTaskResult.objects.filter(status=TaskResultStatus.READY, args_kwargs__args__1=key)
    return waiting.order_by().delete()[0] > 0


def _session_of(backend: Any) -> Any:
    """Return the backend's session with a mail server; None if it has none."""
    return getattr(backend, "connection", None)


def _server() -> str:
    return f"{server('EMAIL_HOST')}:{server('EMAIL_PORT')}"


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
            code, answer = failure.smtp_code, force_bytes(failure.smtp_error)
        case _:
            return reason_of(failure)
    return _line(code, answer)


def _line(code: int, answer: bytes) -> str:
    return f"{code} {answer.decode('utf-8', 'replace')}"
