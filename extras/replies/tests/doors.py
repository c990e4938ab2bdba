"""What the core's tests have of replies by mail."""

import mailbox
from pathlib import Path
from tempfile import TemporaryDirectory

from django.test import override_settings

from accounts.models import User
from articles.web.wiring import repository
from extras.replies import posting
from extras.replies.addresses import reply_address
from tests.factories import comment_on, post_as

ADDRESS = "reply@news.example.org"


def _refused(member: User) -> None:
    """Refuse a reply that contains the member's address."""
    article = post_as(repository(), member, "A title", "https://example.org/reply").id
    comment = comment_on(repository(), article, "Hi", member.pk)
    with TemporaryDirectory() as folder, override_settings(REPLY_ADDRESS=ADDRESS, DATA_DIR=Path(folder)):
        head = f"From: {member.email}\r\nTo: {reply_address(member.pk, comment)}\r\nMessage-ID: <1@x>"
        mailbox.Maildir(f"{folder}/replies").add(f"{head}\r\n\r\nHi: <b>{member.email}</b>\r\n".encode())
        posting.post_due(60)


MAILS = {"replies/refused.html": _refused}
