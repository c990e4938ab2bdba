"""Whether mails leave the site, with a real mail server."""

import pytest
from django_tasks_db.models import DBTaskResult

from articles.doctor import mail
from articles.doctor.mail import send_test
from tests.doctor.examining import brief, levels, look
from tests.mail_backends import clock_of_a_site
from tests.mail_server import MailServer

pytestmark = pytest.mark.django_db


@pytest.fixture
def serve(settings):
    """A function that starts a mail server, and lets the site use it."""
    servers = []

    def start(**answers):
        servers.append(MailServer(**answers))
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", servers[-1].port
        settings.EMAIL_TIMEOUT = 60
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture(autouse=True)
def _a_site_runs(monkeypatch):
    monkeypatch.setattr(mail, "time", clock_of_a_site())


@pytest.mark.parametrize("kind", ["console", "dummy", "filebased", "locmem"])
def test_mails_that_are_not_sent_are_a_warning_on_a_public_site(public, kind):
    public.EMAIL_BACKEND = f"django.core.mail.backends.{kind}.EmailBackend"

    ((level, text),) = brief("mail", "backend")

    assert level == "warning"
    assert text.startswith("Mail is not sent")


def test_a_server_that_accepts_the_site_has_no_problem(serve):
    serve()

    assert levels("mail", "backend") == ["fine"]
    assert levels("mail", "server") == ["fine"]


def test_a_server_that_is_away_is_an_error(serve):
    serve().stop()

    (finding,) = look("mail", "server")

    assert finding.level.label == "error"
    assert "refused" in finding.detail


def test_a_server_that_refuses_the_site_is_an_error_with_its_answer(serve):
    serve(EHLO="554 not you", HELO="554 not you")

    (finding,) = look("mail", "server")

    assert (finding.level.label, finding.detail) == ("error", "554 not you")


def test_a_test_mail_is_sent_and_the_answer_reported(serve):
    server = serve()

    finding = send_test("olga@example.org")

    assert (finding.level.label, finding.detail) == ("fine", "250 queued as 7")
    assert finding.text == f"127.0.0.1:{server.port} has accepted the mail to olga@example.org."
    (sent,) = server.mails
    assert "To: olga@example.org" in sent


@pytest.mark.parametrize(
    ("answers", "detail"),
    [
        ({"RCPT": "550 no such mailbox"}, "550 no such mailbox"),
        ({"MAIL": "553 sender not allowed"}, "553 sender not allowed"),
        ({"DATA": "451 try later"}, "451 try later"),
        ({"END": "552 too large"}, "552 too large"),
    ],
)
def test_a_refused_test_mail_is_an_error_with_the_server_s_answer(serve, answers, detail):
    serve(**answers)

    finding = send_test("olga@example.org")

    assert (finding.level.label, finding.detail) == ("error", detail)


def test_without_a_process_that_sends_mail_no_test_mail_is_sent_and_none_waits(serve, monkeypatch):
    server = serve()
    monkeypatch.setattr(mail, "time", clock_of_a_site(lambda: None))

    finding = send_test("olga@example.org")

    assert (finding.level.label, finding.detail) == ("error", "")
    assert "tick --every 60" in finding.advice
    assert server.mails == []
    assert not DBTaskResult.objects.exists()


def test_a_server_that_is_away_at_the_test_is_an_error_and_keeps_no_task(serve):
    serve().stop()

    finding = send_test("olga@example.org")

    assert finding.level.label == "error"
    assert "refused" in finding.detail
    assert not DBTaskResult.objects.exists()
