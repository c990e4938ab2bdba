"""Cast the votes of requests: at once, or after the login for which the vote waited."""

from typing import Any

from django.contrib import messages
from django.dispatch import receiver
from django.http import HttpRequest

from accounts.models import BanScope
from accounts.web.login_intent import LoginIntent, member_arrived
from articles.domain.articles import ArticleId, Choice, Tally
from articles.domain.discussion.comments import CommentId, article_of
from articles.domain.errors import ArticlesError, LimitReached
from articles.domain.limits import Use
from articles.text.refusals import action_sentence
from articles.web.identity import check_ban, is_new_member, may_be_new
from articles.web.moderation import voting_rings
from articles.wiring import repository


def cast(request: HttpRequest, member: Any, article_id: ArticleId, choice: Choice) -> Tally:
    """Set a member's choice on an article. Raises Banned, and the errors of `Votes.cast`.

    One round trip; one more for a member who may be new.
    """
    network = _check_voter(request, member)
    return voting_rings.noted(article_id, repository().votes.cast(article_id, member.pk, choice, network))


def cast_on_comment(request: HttpRequest, member: Any, comment_id: CommentId, choice: Choice) -> Tally:
    """Set a member's choice on a comment. Raises and costs as `cast`, with the errors of `Comments.cast`."""
    network = _check_voter(request, member)
    tally = repository().comments.cast(comment_id, member.pk, choice, network)
    return voting_rings.noted(article_of(comment_id), tally)


def _check_voter(request: HttpRequest, member: Any) -> str:
    """Check that a member may vote, and take a new member's vote. Raises Banned, LimitReached.

    Returns the network in which voting rings are looked for; "" for none.
    """
    check_ban(member, BanScope.VOTING)
    if may_be_new(member):
        try:
            repository().limits.take([Use("votes_new", str(member.pk))])
        except LimitReached:
            if is_new_member(member):
                raise
    return voting_rings.network_of_new_account(request, member)


@receiver(member_arrived)
def apply_pending_vote(request: HttpRequest, user: Any, intent: LoginIntent, **_: Any) -> None:
    """Cast the vote that the login form carried. If it is refused, show why; the login succeeds in any case."""
    if not intent.choice:
        return
    choice = Choice(intent.choice)
    try:
        if intent.comment:
            cast_on_comment(request, user, int(intent.comment), choice)
        else:
            cast(request, user, int(intent.article), choice)
    except ArticlesError as error:
        messages.error(request, action_sentence(error))
