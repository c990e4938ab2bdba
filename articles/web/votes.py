"""Cast the votes of requests: at once, or after the login for which the vote waited."""

from typing import Any

from django.contrib import messages
from django.dispatch import receiver
from django.http import HttpRequest

from accounts.models import BanScope
from accounts.web.login_intent import LoginIntent, member_arrived
from articles.domain.articles import ArticleId, Choice, Tally
from articles.domain.errors import ArticlesError
from articles.text.refusals import action_sentence
from articles.web import moderation
from articles.web.identity import check_ban
from articles.wiring import repository


def cast(request: HttpRequest, member: Any, article_id: ArticleId, choice: Choice) -> Tally:
    """Set a member's choice on an article. Raises Banned, and the errors of `Votes.cast`."""
    check_ban(member, BanScope.VOTING)
    network = moderation.network_of_new_account(request, member)
    tally = repository().votes.cast(article_id, member.pk, choice, network)
    if tally.ring_accounts:
        moderation.note(article_id, tally.ring_accounts)
    return tally


@receiver(member_arrived)
def apply_pending_vote(request: HttpRequest, user: Any, intent: LoginIntent, **_: Any) -> None:
    """Cast the vote that the login form carried. If it is refused, show why; the login succeeds in any case."""
    if not intent.choice:
        return
    choice = Choice(intent.choice)
    try:
        if intent.comment:
            check_ban(user, BanScope.VOTING)
            repository().comments.cast(int(intent.comment), user.pk, choice)
        else:
            cast(request, user, int(intent.article), choice)
    except ArticlesError as error:
        messages.error(request, action_sentence(error))
