"""Redact texts of the moderation log and of what is removed."""

from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from pydantic import BaseModel, Field

from accounts.moderators import REDACT
from articles.api.protocol.auth import MODERATORS, require
from articles.api.protocol.operations import failing, router
from articles.api.protocol.problems import Problem
from articles.domain.articles import LATEST
from articles.text.lines import clean_reason
from articles.web.identity import actor
from articles.web.moderation import redactions


class Redaction(BaseModel):
    __doc__ = gettext_noop("Which texts to redact, and why. Give either the article or the time.")

    article_id: int | None = Field(
        None, ge=1, description=gettext_noop("The article that the entries are about."), examples=[43]
    )
    time: float | None = Field(
        None,
        ge=0,
        lt=LATEST,
        description=gettext_noop("For entries that are about no article: their time, as the log has it."),
    )
    texts: list[str] = Field(
        min_length=1,
        max_length=100,
        description=gettext_noop("Titles, links, texts and reasons, exactly as they are."),
        examples=[["A former title"]],
    )
    reason: str = Field(
        description=gettext_noop("Everyone can read it in the moderation log."), examples=["It names a person."]
    )


class Redacted(BaseModel):
    __doc__ = gettext_noop("What was redacted.")

    places: int = Field(description=gettext_noop("Number of places where a text was replaced; 0 if repeated."))


@router.put(
    "log/redacted",
    summary=gettext_noop("Redact texts in the moderation log"),
    description=gettext_noop(
        "Only for members who can redact. Replaces each text by “[redacted]”, in the log and, as far as they are "
        "removed, in the article and its comments; texts that everyone can read there stay. The log says so. It "
        "cannot be undone. Idempotent."
    ),
    response={200: Redacted} | failing(404),
    auth=MODERATORS,
)
def redact(request: HttpRequest, redaction: Redaction) -> Redacted:
    require(request, REDACT)
    texts, reason, moderator = redaction.texts, clean_reason(redaction.reason), actor(request)
    if redaction.article_id is not None and redaction.time is None:
        return Redacted(places=redactions.redact_article(redaction.article_id, texts, reason, moderator))
    if redaction.time is not None and redaction.article_id is None:
        return Redacted(places=redactions.redact_entries(redaction.time, texts, reason, moderator))
    raise Problem(400, "invalid", _("Give either the article or the time."))
