"""Read the member's inbox, mark it as read, mute discussions and block members."""

from typing import Any, Self

from django.http import HttpRequest
from django.utils.translation import gettext as _
from ninja import Query
from pydantic import BaseModel, Field

from accounts.models import Ban, BanScope, GroupModerator
from accounts.web.form_pages import MemberRequest
from articles.api import schemas
from articles.api.comments import Comment
from articles.api.my_lists import MemberName
from articles.api.protocol import cursors
from articles.api.protocol.operations import MEMBERS, SAVERS, ArticleNumber, failing, possible_page, router
from articles.api.protocol.problems import Problem
from articles.domain import notices as domain
from articles.domain.moderation_log import Action
from articles.domain.notices import NoticeKind
from articles.domain.reasons import recorded
from articles.text.searching import Kind
from articles.web import comments, hiding
from articles.web.identity import actor, inbox_read_until, mark_read, member_named, named
from articles.web.wiring import repository


class Notice(schemas.Model):
    """A reply, a mention, a moderator action on your content, or a decision on your flag."""

    kind: NoticeKind | str = Field(description="Unknown ones are of another version of the site.")
    time: float = Field(description="In Unix seconds.")
    new: bool = Field(description="Whether it is later than the last time you marked all as read.")
    article_id: int
    title: str = Field(description="Title of the article.")
    comment: Comment | None
    """The comment that it is about; null if it is about the article, or if the comment or its article is gone."""

    by: str
    """Name of the member or moderator who did it; empty for decisions on flags, or if it is no longer known."""

    action: Action | str | None = Field(description="What a moderator did; null for other notices.")
    decision: domain.Decision | None = Field(
        description="What moderators decided on your flag; null for other notices."
    )
    reason: str | None = Field(description="The reason for the action or the decision; null for other notices.")

    @classmethod
    def of(cls, notice: domain.Notice, read_until: float) -> "Notice":
        entry, comment = notice.entry, None if notice.is_article_removed else notice.comment
        is_by_author = notice.kind in (NoticeKind.REPLY, NoticeKind.MENTION)
        name = notice.author_name if is_by_author else entry.actor_name if entry and not entry.rule else ""
        return cls(
            kind=notice.kind,
            time=notice.at,
            new=notice.at > read_until,
            article_id=notice.article,
            title=notice.title,
            comment=Comment.of(comment, comment.replies) if comment else None,
            by=name,
            action=entry.action if entry else None,
            decision=notice.decision,
            reason=entry.reason if entry else notice.reason if notice.decision else None,
        )


class Reading(schemas.Model):
    """The time up to which the inbox was read."""

    until: float | None = Field(None, ge=0)
    """Time of the newest notice that was read, in Unix seconds; by default, now."""


class Read(BaseModel):
    """The time up to which you have read your inbox."""

    until: float = Field(description="In Unix seconds: later notices are new.")


class Muting(BaseModel):
    """Whether to mute a discussion."""

    muted: bool = Field(examples=[True])


class Muted(BaseModel):
    """Whether a discussion is muted."""

    article_id: int
    muted: bool


class Blocking(BaseModel):
    """Whether to block a member."""

    blocked: bool = Field(examples=[True])


class Blocked(BaseModel):
    """Whether you block a member."""

    name: str
    blocked: bool


class BanFacts(BaseModel):
    """What a ban forbids, why, and until when."""

    scope: BanScope = Field(description="What it forbids.")
    group: str | None = Field(description="The group's name, of a ban from a group; null for others.")
    reason: str
    ends_at: float | None = Field(description="In Unix seconds; null for a ban without end.")
    appeal: str = Field(description="What the member wrote to the moderators; empty if nothing.")
    answer: str = Field(description="What a moderator answered; empty if nothing.")

    @classmethod
    def of(cls, ban: Ban, **more: Any) -> Self:
        """Return the facts of a ban; `more`: what a subclass adds."""
        ends_at = ban.ends_at.timestamp() if ban.ends_at else None
        return schemas.made(
            cls, ban, group=ban.group or None, reason=recorded(ban.reason), ends_at=ends_at, **more
        )


class OwnBan(BanFacts):
    """One of your bans."""

    current: bool = Field(description="False once it has ended or a moderator has lifted it.")
    appeal: str = Field(description="What you wrote to the moderators; empty if nothing.")


class Moderation(BaseModel):
    """A group that you began or ceased to moderate."""

    group: str = Field(description="The group's name.")
    moderates: bool = Field(description="Whether you moderate it now.")
    by: str = Field(description="Who decided it; empty if the account is deleted.")
    time: float = Field(description="In Unix seconds.")

    @classmethod
    def of(cls, row: GroupModerator) -> "Moderation":
        at = row.changed_at.timestamp()
        return cls(group=row.group, moderates=row.is_current, by=row.by_name, time=at)


class Inbox(schemas.NumberedPage):
    """One page of your inbox, newest first."""

    bans: list[OwnBan]
    """On page 1: your current bans, and earlier ones until you mark their end or the answer to your appeal as
    read."""

    moderation: list[Moderation] = Field(
        description="On page 1: groups that you began or ceased to moderate since you last read it."
    )
    notices: list[Notice]


@router.get("inbox", auth=MEMBERS)
def read_inbox(request: MemberRequest, query: Query[schemas.PageQuery]) -> Inbox:
    """Your inbox.

    Replies to your articles and comments, mentions of your name, moderator actions on your content, and decisions
    on your flags. Reading it marks nothing as read.
    """
    number, after = possible_page(query.page), cursors.position_in(request)
    page = repository().inbox.get_page(actor(request).id, number, after=after)
    read_until = inbox_read_until(request)
    bans = Ban.objects.to_show(request.user) if query.number == 1 else []
    moderation = GroupModerator.objects.to_tell(request.user) if query.number == 1 else []
    return Inbox(
        bans=[OwnBan.of(ban, current=ban.is_current) for ban in bans],
        moderation=list(map(Moderation.of, moderation)),
        notices=[Notice.of(notice, read_until) for notice in named(page.notices)],
        page=query.number,
        has_next=page.has_next,
        next_after=cursors.next_after(request, page.last) if page.has_next else None,
    )


@router.put("inbox/read", auth=SAVERS)
def mark_inbox_read(request: HttpRequest, reading: Reading) -> Read:
    """Mark your inbox as read.

    Notices up to this time are no longer new. Idempotent; an earlier time changes nothing.
    """
    now = repository().store.now()
    until = now if reading.until is None else min(reading.until, now)
    mark_read(actor(request).id, until)
    return Read(until=max(inbox_read_until(request), until))


@router.put("articles/{article_id:article_id}/muted", auth=SAVERS)
def mute_discussion(request: MemberRequest, article_id: ArticleNumber, muting: Muting) -> Muted:
    """Mute or unmute a discussion.

    Muted discussions do not notify you, except about moderator actions. Idempotent.
    """
    comments.mute(request.user, article_id, is_wanted=muting.muted)
    return Muted(article_id=article_id, muted=muting.muted)


@router.put("users/{name}/blocked", response=failing(409), auth=SAVERS)
def block_member(request: MemberRequest, name: MemberName, blocking: Blocking) -> Blocked:
    """Block or unblock a member.

    Your lists leave out articles by blocked members. Their comments are collapsed on your pages and do not notify
    you. Idempotent.
    """
    other = member_named(name)
    if other.pk == request.user.pk:
        raise Problem(400, "invalid", _("You cannot block yourself."))
    hiding.change(actor(request).id, Kind.MEMBER, name, hidden=blocking.blocked)
    return Blocked(name=other.get_username(), blocked=blocking.blocked)
