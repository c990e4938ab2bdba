"""A mail is sent at once, and is not lost when the site is killed while it is sent."""

import os
import signal
import socket
import subprocess
import sys

from tests.form_browser import FormBrowser
from tests.mails import mail_server
from tests.waiting import until

DEADLINE = 60

MEMBER = """
from accounts.models import User
User.objects.create_user("alice", email="alice@example.org", password="a long secret 71")
"""
AGED = """
from datetime import timedelta
from django.utils import timezone
from django_tasks_db.models import DBTaskResult
from tasks import LONGEST
print(DBTaskResult.objects.running().update(started_at=timezone.now() - LONGEST - timedelta(seconds=1)))
"""


def shell(site, code):
    done = site.manage("shell", "--verbosity", "0", "-c", code)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def ask_for_a_link(site):
    FormBrowser(site).send("/password/reset/", "/password/reset/", email="alice@example.org")


def test_a_mail_is_sent_at_once_and_not_lost_when_the_site_is_killed(start, tmp_path):
    silent = socket.create_server(("127.0.0.1", 0))
    port = silent.getsockname()[1]
    environment = {"EMAIL_URL": f"smtp://127.0.0.1:{port}", "TICK_SECONDS": "10"}
    site = start(is_empty=True, **environment)
    site.wait_until_up()
    shell(site, MEMBER)
    ask_for_a_link(site)
    line, _address = silent.accept()  # the worker waits for the server's greeting
    for number in (site.process.pid, *site.processes()):
        os.kill(number, signal.SIGKILL)
    site.process.wait(DEADLINE)
    line.close()
    silent.close()

    with mail_server(port, tmp_path / "box") as count:
        site = start(is_empty=True, **environment)
        site.wait_until_up()
        assert shell(site, AGED) == "1"
        until(lambda: count() == 1, DEADLINE, site.told)
        ask_for_a_link(site)
        until(lambda: count() == 2, DEADLINE, site.told)
        assert site.stop() == 0


def test_another_process_does_tasks_until_it_is_stopped(start, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    site = start(is_empty=True, EMAIL_URL=f"smtp://127.0.0.1:{port}", options=["--no-housekeeping"])
    site.wait_until_up()
    shell(site, MEMBER)
    ask_for_a_link(site)

    with mail_server(port, tmp_path / "box") as count:
        worker = subprocess.Popen([sys.executable, "manage.py", "work"], env=site.variables())
        try:
            until(lambda: count() == 1, DEADLINE, site.told)
        finally:
            worker.send_signal(signal.SIGTERM)
            assert worker.wait(DEADLINE) == 0
    assert site.stop() == 0
