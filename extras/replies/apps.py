"""The app of replies by mail, and what it adds to the site as it runs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

from django.conf import settings
from django.utils.translation import gettext as _, gettext_lazy

from articles.web.extras import Answer, Extra, Link, Step

if TYPE_CHECKING:
    from accounts.models import User
    from articles.domain.notices import Notice
    from articles.repository import Repository


class Replies(Extra):
    name = "extras.replies"
    verbose_name = gettext_lazy("Replies by mail")

    def steps(self) -> Sequence[Step]:
        from extras.replies.posting import post_due

        def post(_repository: "Repository", seconds: float) -> int:
            return post_due(seconds).total() if settings.REPLY_ADDRESS else 0

        return (Step("replies", post, "reply", "taken", is_awaited=lambda: bool(settings.REPLY_ADDRESS)),)

    def answer(self, member: "User", notice: "Notice") -> Answer | None:
        from extras.replies.addresses import reply_address
        from extras.replies.mails import MARKER

        address = reply_address(member.pk, notice.comment_id) if notice.takes_reply and notice.comment_id else ""
        if not address:
            return None
        mailto = f"mailto:{quote(address, safe='@')}?subject={quote(f'Re: {notice.title}')}"
        line = f"{MARKER} {_('Write your reply above this line. It is posted as your comment.')}"
        return Answer(address, Link(mailto, _("Reply by mail")), line)
