"""A reply by mail, sent over SMTP, is posted once even if the process is killed at any step."""

import json
import signal
import smtplib
import subprocess
import sys
from email.message import EmailMessage
from email.policy import SMTP

from tests.mails import mail_server
from tests.site_process import free_port
from tests.waiting import until

DEADLINE = 60

PREPARED = """
import json
from extras.replies.addresses import reply_address
from accounts.models import User
from articles.web.wiring import repository
alice, bob = (User.objects.create_user(name, email=f"{name}@example.org") for name in ("alice", "bob"))
User.objects.update(verified_email=alice.email)
article = repository().articles.post(alice.pk, "alice", "A title", "https://example.org/a", []).id
comment = repository().comments.post(article, bob.pk, "bob", "What do you think?")
print(json.dumps([article, reply_address(alice.pk, comment)]))
"""

KILLED = """
import os, signal
from extras.replies import posting as replies
from pathlib import Path
where, name, after = {step}
real = getattr(where, name)
def dies(*args, **options):
    if after:
        real(*args, **options)
    os.kill(os.getpid(), signal.SIGKILL)
setattr(where, name, dies)
replies.post_due(60)
"""

FOUND = """
import json
from articles.web.wiring import repository
print(json.dumps([one.text for one in repository().comments.list_newest(since=0, article_id={article})]))
"""

STEPS = (
    "replies, '_opened', True",
    "replies.comments, 'post', True",
    "Path, 'unlink', True",
    "replies, 'send_later', True",
)


def shell(site, code, *, status=0):
    done = site.manage("shell", "--verbosity", "0", "-c", code)
    assert done.returncode == status, done.stderr
    return done.stdout.strip()


def test_no_reply_is_lost_or_doubled_when_the_process_is_killed(start, tmp_path):
    port, out = free_port(), free_port()
    site = start(
        options=["--no-housekeeping"],
        EMAIL_URL=f"smtp://127.0.0.1:{out}",
        REPLY_ADDRESS="reply@news.example.org",
    )
    site.wait_until_up()
    article, address = json.loads(shell(site, PREPARED))

    def send(text):
        mail = EmailMessage(policy=SMTP)
        mail["From"], mail["To"], mail["Message-ID"] = "alice@example.org", address, f"<{hash(text)}@example.org>"
        mail.set_content(text)
        with smtplib.SMTP("127.0.0.1", port) as line:
            line.send_message(mail)

    def tick():
        done = site.manage("tick")
        assert done.returncode == 0, done.stderr

    with mail_server(port, site.data_dir / "replies") as count, mail_server(out, tmp_path / "answers") as answers:
        for step in STEPS:
            send(">" if "send_later" in step else f"Killed at {step}")
            shell(site, KILLED.format(step=step), status=-signal.SIGKILL)
        assert count() > 0
        tick()
        assert count() == 0
        texts = json.loads(shell(site, FOUND.format(article=article)))
        assert sorted(texts) == sorted([*(f"Killed at {one}" for one in STEPS[:-1]), "What do you think?"])
        until(lambda: answers() == 1, DEADLINE)

        keeper = subprocess.Popen([sys.executable, "manage.py", "tick", "--every", "600"], env=site.variables())
        try:
            send("Within seconds")
            found = FOUND.format(article=article)
            until(lambda: "Within seconds" in shell(site, found), DEADLINE, site.told)
        finally:
            keeper.send_signal(signal.SIGTERM)
            keeper.wait(DEADLINE)
    assert site.stop() == 0
