"""What mails say: plain text and HTML, in the member's language."""

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from html import unescape
from typing import Any, NamedTuple

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template import engines
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.html import format_html, strip_tags
from django.utils.translation import gettext
from markupsafe import Markup

from accounts.mail import DIGEST, NOTICES, site_origin, unsubscribe_token
from accounts.models import BAN_SCOPES, Ban, User
from articles.domain.articles import Article
from articles.domain.discussion.notices import EXCERPT_CHARACTERS, Notice
from articles.text.markdown import plain
from articles.web import languages

_OWN_LINK = re.compile('(?<=href=")(?=/)')


class _Row(NamedTuple):
    """A notice as the mail shows it."""

    html: Markup
    text: str
    address: str


def notices_to(
    member: User, notices: Sequence[Notice], count: int, bans: Sequence[Ban] = ()
) -> EmailMultiAlternatives:
    """Return a mail about bans, if any, and notices in the member's language; `count` is their total number."""
    with _language_of(member):
        rows = [_ban_row(ban, site_origin()) for ban in bans]
        rows += [_row(notice, site_origin()) for notice in notices]
        return _message(member, "mail", NOTICES, {"count": count, "rows": rows})


def digest_to(member: User, articles: Sequence[Article]) -> EmailMultiAlternatives:
    """Return a mail with the best articles of the week, in the member's language."""
    with _language_of(member):
        rows = [(article, site_origin() + reverse("articles:article", args=[article.id])) for article in articles]
        return _message(member, "digest", DIGEST, {"rows": rows})


def _language_of(member: User) -> AbstractContextManager[None]:
    return translation.override(member.language or settings.LANGUAGE_CODE)


def _message(member: User, template: str, what: str, context: dict[str, Any]) -> EmailMultiAlternatives:
    """Return a mail that can be unsubscribed from with one click (RFC 8058)."""
    origin = site_origin()
    stop = origin + reverse("accounts:unsubscribe", args=[unsubscribe_token(member, what)])
    context = {
        "name": member.username,
        "site_name": settings.SITE_NAME,
        "language": languages.tag(),
        "inbox": origin + reverse("articles:inbox"),
        "stop": stop,
    } | context
    subject = " ".join(render_to_string(f"inbox/{template}_subject.txt", context).split())
    headers = {
        "List-Unsubscribe": f"<{stop}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        "Auto-Submitted": "auto-generated",
    }
    text = render_to_string(f"inbox/{template}.txt", context)
    message = EmailMultiAlternatives(subject, text, to=[member.email], headers=headers)
    message.attach_alternative(render_to_string(f"inbox/{template}.html", context), "text/html")
    return message


def _macros(template: str) -> Any:
    return engines["jinja2"].env.get_template(template).module  # type: ignore[attr-defined]


def _ban_row(ban: Ban, origin: str) -> _Row:
    macros, path = _macros("bans/facts.html"), reverse("articles:appeal")
    link = format_html('<p><a href="{}">{}</a></p>', path, gettext("Appeal against a ban"))
    return _drawn_row(f"<li>{macros.facts(ban, BAN_SCOPES)}{macros.texts(ban)}{link}</li>", path, origin)


def _row(notice: Notice, origin: str) -> _Row:
    drawn = str(_macros("inbox/notice.html").draw_notice(notice, plain(notice.html)[:EXCERPT_CHARACTERS]))
    path = reverse("articles:article", args=[notice.article])
    if notice.comment_id and notice.is_readable:
        path = reverse("articles:comment", args=[notice.comment_id])
    return _drawn_row(drawn, path, origin)


def _drawn_row(drawn: str, path: str, origin: str) -> _Row:
    lines = (" ".join(unescape(strip_tags(part)).split()) for part in drawn.split("</p>"))
    html = Markup(_OWN_LINK.sub(origin, drawn))  # nosec B704 # noqa: S704 - the template escapes
    return _Row(html, "\n".join(filter(None, lines)), origin + path)
