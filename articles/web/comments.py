"""The acts of authors on comments: each has one function, which pages and the API call.

It checks who may, takes the limits, changes the store, and notifies the members whom a text mentions. What happens
at every comment, edit or deletion belongs here.
"""

from contextlib import suppress
from functools import partial
from typing import Any

from django.http import HttpRequest

from accounts.models import Mute
from articles.domain.articles import ArticleId
from articles.domain.comments import Comment, CommentId
from articles.domain.errors import ArticleRemoved, CommentNotFound
from articles.domain.members import UserId
from articles.web import limits
from articles.web.identity import actor, writer
from articles.web.mentions import NO_AUDIENCE, Topic, audience_of
from articles.web.rules.acting import MemberFacts, judge
from articles.web.wiring import repository


def post(
    request: HttpRequest,
    article_id: ArticleId,
    text: str,
    parent: CommentId | None,
    *,
    is_approved: bool = False,
    key: str = "",
) -> CommentId:
    """Post a comment with a clean text. Raises Banned, LimitReached, and the errors of `Comments.post`.

    Raises RefusedByRule, and HeldForApproval, unless it `is_approved`: then no limits apply either.
    `key`: what tells it from others, if the same one can arrive again much later.
    """
    author = writer(request, lambda: repository().articles.get(article_id).groups)
    facts = MemberFacts.of_comment(request.user, article_id, text)
    if not is_approved:
        limits.take_comment(request)
    verdict = judge(request.user, facts, is_approved=is_approved)
    verdict.refuse()
    if verdict.is_held:
        article = repository().articles.get(article_id)
        article.check_open()
        verdict.hold(article=article_id, parent=str(parent or ""), title=article.title, text=text)
    replied_to: list[UserId] = []
    if parent is not None:
        with suppress(CommentNotFound, ArticleRemoved):  # posting raises them
            replied_to = [repository().comments.get(parent).author]
    topic = partial(_topic, article_id)
    audience = audience_of(request, text, topic, article_id, replied_to=replied_to, is_limited=not is_approved)
    comment_id = repository().comments.post(
        article_id,
        author.id,
        author.name,
        text,
        parent=parent,
        mentioned=audience.mentioned,
        spared=audience.spared,
        key=key,
    )
    verdict.carry_out(comment_id, article_id, is_new=True)
    return comment_id


def _topic(article_id: ArticleId) -> Topic:
    article = repository().articles.get(article_id)
    return Topic(article.title, article.link, article.groups, article.id, article.poster)


def edit(request: HttpRequest, before: Comment, text: str) -> None:
    """Change the member's comment. Raises Banned, LimitReached, RefusedByRule, ChangeNeedsApproval, and more."""
    author = writer(request, lambda: repository().articles.get(before.article).groups)
    limits.take_edit(request)
    verdict = judge(request.user, MemberFacts.of_comment(request.user, before.article, text))
    verdict.refuse_change()
    topic = partial(_topic, before.article)
    audience = audience_of(request, text, topic, before.article, before=before.text)
    repository().comments.edit(
        before.id, author.id, text, mentioned=audience.mentioned, unmentioned=audience.unmentioned
    )
    verdict.carry_out(before.id, before.article, is_new=False)


def delete(request: HttpRequest, comment_id: CommentId) -> None:
    """Delete the member's comment, despite removals, bans and locks. Raises the errors of `Comments.delete`."""
    comments, author = repository().comments, actor(request).id
    audience = NO_AUDIENCE
    with suppress(ArticleRemoved):  # its notices are hidden with it
        before = comments.get(comment_id, author)
        topic = partial(_topic, before.article)
        audience = audience_of(request, "", topic, before.article, before=before.text)
    comments.delete(comment_id, author, unmentioned=audience.unmentioned)


def mute(member: Any, article_id: ArticleId, *, is_wanted: bool) -> None:
    """Mute the discussion of an article, or unmute it. Idempotent. Raises ArticleNotFound, ArticleMerged."""
    if is_wanted:
        repository().articles.get(article_id).check_unmerged()
        Mute.objects.mute(member, article_id)
    else:
        Mute.objects.filter(user=member, article=article_id).delete()
