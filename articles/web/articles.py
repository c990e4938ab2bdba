"""The acts of members on articles: each has one function, which pages and the API call.

It checks who may, takes the limits, changes the store, and notifies the members whom a text mentions. What happens
at every post, edit or withdrawal belongs here.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from accounts.moderators import EDIT_ANY_ARTICLE
from articles.configuration.choices import closed_groups
from articles.domain.articles import Article, ArticleId, Content, Posted
from articles.domain.comments import root_of
from articles.domain.limits import of_posting
from articles.domain.members import UserId
from articles.text.links import is_same_link
from articles.web import limits
from articles.web.identity import actor, is_new_member, writer
from articles.web.mentions import NO_AUDIENCE, Topic, audience_of
from articles.web.rights import check_settled, may
from articles.web.rules.acting import MemberFacts, judge
from articles.web.votes import begin_probation
from articles.web.wiring import finder, repository


def post(request: HttpRequest, content: Content, groups: Sequence[str], *, is_approved: bool = False) -> Posted:
    """Post an article of clean content. Raises Banned, LimitReached, and the errors of `Articles.post`.

    Raises RefusedByRule, and HeldForApproval, unless it `is_approved`: then no limits apply either.
    """
    poster, is_new = writer(request, groups), is_new_member(request.user)
    facts = MemberFacts.of_article(request.user, content, groups)
    verdict = judge(request.user, facts, is_approved=is_approved)
    verdict.refuse()
    if verdict.is_held:
        limits.take(request, *of_posting(is_new_member=is_new))
        verdict.hold(**content.written, groups=",".join(groups))
    topic = Topic(content.title, content.link, groups, poster=poster.id)
    audience = audience_of(request, content.text, lambda: topic, is_limited=not is_approved)
    begin_probation(request.user)  # posting casts a vote
    posted = repository().articles.post(
        poster.id,
        poster.name,
        groups=groups,
        mentioned=audience.mentioned,
        is_new_member=is_new,
        is_limited=not is_approved,
        **content.written,
    )
    if posted.is_new:
        verdict.carry_out(root_of(posted.id), posted.id, is_new=True)
    return posted


def edit(
    request: HttpRequest,
    before: Article,
    content: Content,
    *,
    join: Sequence[str] = (),
    leave: Sequence[str] = (),
    as_moderator: bool,
    reason: str = "",
) -> None:
    """Change an article, which was read with its text. Groups are the poster's to change, even for a moderator.

    A moderator's edit notifies no one. Raises Banned, PermissionDenied, LimitReached, RefusedByRule,
    ChangeNeedsApproval, GroupsDecided, and the errors of `Articles.edit`.
    """
    after = {*before.groups, *join} - {*leave}
    editor = writer(request, after)
    if as_moderator and not may(request.user, EDIT_ANY_ARTICLE):
        raise PermissionDenied
    check_settled(request.user, before, after)
    limits.take_edit(request)
    is_own = before.poster == editor.id
    verdict = judge(request.user, MemberFacts.of_article(request.user, content, before.groups))
    verdict.refuse_change()
    audience = NO_AUDIENCE
    if is_own:
        topic = Topic(content.title, content.link, after, before.id, before.poster)
        audience = audience_of(request, content.text, lambda: topic, before=before.text)
    repository().articles.edit(
        before.id,
        editor,
        join=join,
        leave=leave,
        moderator=as_moderator and not (join or leave),
        closed=closed_groups(),
        reason=reason,
        mentioned=audience.mentioned,
        unmentioned=audience.unmentioned,
        **content.written,
    )
    verdict.carry_out(root_of(before.id), before.id, is_new=False)


def restore_title(request: HttpRequest, article: Article, title: str) -> None:
    """Give an article its former title, as the caller permits it. Raises Banned, and errors as `Articles.edit`."""
    editor = writer(request, article.groups)
    repository().articles.edit(article.id, editor, title, article.link, moderator=True)


MOST_POSTED_BEFORE = 5  # earlier articles of a link that a page shows, the newest


class PostedBefore(NamedTuple):
    """Articles of one link that readers can see, newest first, and how many more there are."""

    articles: tuple[Article, ...] = ()
    more: int = 0
    ids: tuple[ArticleId, ...] = ()  # those that the index found

    @classmethod
    def of(cls, link: str, found: Sequence[Article], total: int, ids: Sequence[ArticleId] = ()) -> "PostedBefore":
        """Return those found, of `total`, that still have this link: the index may be a moment behind."""
        shown = (one for one in found if one.removed is None and is_same_link(link, one.link))
        return cls(tuple(shown), total - len(found), tuple(ids))


def posted_before(
    link: str, most: int = MOST_POSTED_BEFORE, reader: UserId | None = None, seen: Collection[ArticleId] = ()
) -> PostedBefore:
    """Return the newest articles of a clean link but those seen, of any age. One round trip, none without any."""
    ids, total = finder().find_posted(link, most + len(seen))
    ids = [one for one in ids if one not in seen][:most]
    return PostedBefore.of(link, repository().articles.get_many(ids, reader), total - len(seen), ids)


def withdraw(request: HttpRequest, article_id: ArticleId) -> None:
    """Withdraw the member's article, which a ban does not forbid. Raises the errors of `Articles.withdraw`."""
    repository().articles.withdraw(article_id, actor(request))
