"""Cast the votes of requests: at once, or after the login for which the vote waited.

The votes of new accounts are noted for voting rings, by the network that they come from. Where PROBATION is on,
those of new members wait: they are left out of ranking until `moderation.vouches` ends the member's probation.
"""

import logging
from typing import Any

from django.contrib import messages
from django.dispatch import receiver
from django.http import HttpRequest

from accounts.models import ENOUGH, BanScope, Vouch
from accounts.web.login_intent import LoginIntent, member_arrived
from articles.configuration.choices import chosen
from articles.domain.articles import ArticleId, Choice, Tally
from articles.domain.comments import CommentId, article_of
from articles.domain.errors import ArticlesError, LimitReached
from articles.domain.limits import Use
from articles.operation import metrics
from articles.text.refusals import action_sentence
from articles.web.client_address import address_of, neighbourhood, network_of
from articles.web.identity import check_ban, is_new_member, is_trusted, may_be_new, may_be_untrusted
from articles.web.wiring import repository

_log = logging.getLogger(__name__)


def _network_of_new_account(request: HttpRequest, member: Any) -> str:
    """Return the digest of the network from which a new account votes.

    Returns "" for other accounts, for a client without an address, and if voting rings are not looked for.
    """
    store = repository().store
    is_new = store.now() - member.date_joined.timestamp() < store.rules.new_account
    address = address_of(request) if is_new and store.rules.ring_accounts else None
    return network_of(address, neighbourhood) if address else ""


def _noted(article_id: ArticleId, tally: Tally) -> Tally:
    """Return the result of a vote; count and log the voting ring that it completed, if it did."""
    if tally.ring_accounts:
        metrics.VOTING_RINGS.inc()
        _log.warning("voting ring: article=%d accounts=%d", article_id, tally.ring_accounts)
    return tally


def cast(request: HttpRequest, member: Any, article_id: ArticleId, choice: Choice) -> Tally:
    """Set a member's choice on an article. Raises Banned, and the errors of `Votes.cast`.

    One round trip; one more for a member who may be new, and another one where such votes wait.
    """
    network = _check_voter(request, member)
    return _noted(article_id, repository().votes.cast(article_id, member.pk, choice, network))


def cast_on_comment(request: HttpRequest, member: Any, comment_id: CommentId, choice: Choice) -> Tally:
    """Set a member's choice on a comment. Raises and costs as `cast`, with the errors of `Comments.cast`."""
    network = _check_voter(request, member)
    tally = repository().comments.cast(comment_id, member.pk, choice, network)
    return _noted(article_of(comment_id), tally)


def _check_voter(request: HttpRequest, member: Any) -> str:
    """Take a new member's vote; return the network in which rings are looked for. Raises Banned, LimitReached."""
    check_ban(member, BanScope.VOTING)
    if may_be_new(member):
        try:
            repository().limits.take([Use("votes_new", str(member.pk))])
        except LimitReached:
            if is_new_member(member):
                raise
    begin_probation(member)
    return _network_of_new_account(request, member)


def begin_probation(member: Any) -> None:
    """Let the votes of a new member wait from now on, if they are to. Call it before the member's first vote.

    No round trip for a member who is trusted, else one; at the first vote up to two more, one for each shard, and
    two queries.
    """
    if not (chosen.PROBATION and may_be_untrusted(member)):
        return
    left_out = repository().left_out
    if not left_out.may_begin_probation(member.pk) or is_trusted(member):
        return
    if Vouch.objects.weigh([member.pk])[member.pk] < ENOUGH:
        left_out.begin_probation(member.pk)


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
