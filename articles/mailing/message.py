"""The mail about a member's new notices: plain text and HTML, in the member's language."""

import re
from collections.abc import Sequence
from html import unescape
from typing import NamedTuple

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template import engines
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.html import strip_tags
from markupsafe import Markup

from accounts.mail import site_origin
from accounts.mail_links import unsubscribe_token
from accounts.models import User
from articles.domain.discussion.notices import Notice
from articles.text.markdown import plain

_EXCERPT_CHARACTERS = 280

_OWN_LINK = re.compile('(?<=href=")(?=/)')


class _Row(NamedTuple):
    """A notice as the mail shows it."""

    html: Markup
    text: str
    address: str


def message_to(member: User, notices: Sequence[Notice], count: int) -> EmailMultiAlternatives:
    """Return a mail about notices, of `count` in all. It can be unsubscribed from with one click (RFC 8058)."""
    with translation.override(member.language or settings.LANGUAGE_CODE):
        origin = site_origin()
        stop = origin + reverse("accounts:unsubscribe", args=[unsubscribe_token(member)])
        context = {
            "name": member.username,
            "site_name": settings.SITE_NAME,
            "count": count,
            "rows": [_row(notice, origin) for notice in notices],
            "inbox": origin + reverse("articles:inbox"),
            "stop": stop,
        }
        subject = " ".join(render_to_string("inbox/mail_subject.txt", context).split())
        text = render_to_string("inbox/mail.txt", context)
        html = render_to_string("inbox/mail.html", context | {"language": translation.get_language()})
    headers = {
        "List-Unsubscribe": f"<{stop}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        "Auto-Submitted": "auto-generated",
    }
    message = EmailMultiAlternatives(subject, text, to=[member.email], headers=headers)
    message.attach_alternative(html, "text/html")
    return message


def _row(notice: Notice, origin: str) -> _Row:
    text = notice.comment.text if notice.comment and notice.is_readable else ""
    template = engines["jinja2"].env.get_template("inbox/notice.html")  # type: ignore[attr-defined]
    drawn = str(template.module.draw_notice(notice, plain(text)[:_EXCERPT_CHARACTERS]))
    lines = (" ".join(unescape(strip_tags(part)).split()) for part in drawn.split("</p>"))
    path = reverse("articles:article", args=[notice.article])
    if notice.comment_id and notice.is_readable:
        path = reverse("articles:comment", args=[notice.comment_id])
    html = Markup(_OWN_LINK.sub(origin, drawn))  # nosec B704 # noqa: S704 - the template escapes
    return _Row(html, "\n".join(filter(None, lines)), origin + path)
