"""Cast the vote that a reader chose before logging in."""

from typing import Any

from django.contrib import messages
from django.dispatch import receiver
from django.http import HttpRequest

from accounts.web.login_intent import LoginIntent, member_arrived
from articles.domain.articles import Choice
from articles.domain.errors import ArticlesError
from articles.text.refusals import action_sentence
from articles.wiring import repository


@receiver(member_arrived)
def apply_pending_vote(request: HttpRequest, user: Any, intent: LoginIntent, **_: Any) -> None:
    """Cast the vote that the login form carried. If it is refused, show why; the login succeeds in any case."""
    if not intent.article:
        return
    try:
        repository().votes.cast(int(intent.article), user.pk, Choice(intent.choice))
    except ArticlesError as error:
        messages.error(request, action_sentence(error))
