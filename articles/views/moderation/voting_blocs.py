"""The moderators' page of voting blocs: accounts that make the same choice on many articles or comments."""

from dataclasses import dataclass
from typing import NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.models import Invitation, User
from articles.domain.articles import Article
from articles.domain.members import UserId
from articles.domain.moderation.voting_blocs import VotingBloc
from articles.web.identity import needs
from articles.web.moderation.links import RING_PERMISSIONS
from articles.wiring import repository

_MOST_ACCOUNTS = 200
"""Accounts of a bloc that are named."""


class _Inviter(NamedTuple):
    """A member who invited others. `name` is "" if the account was deleted."""

    id: UserId
    name: str


@dataclass(frozen=True, slots=True)
class _Account:
    """An account of a bloc. `name` is "" if it was deleted; `inviter` is who invited it, None without one."""

    name: str
    joined_at: float
    inviter: _Inviter | None


@dataclass(frozen=True, slots=True)
class _Row:
    """A bloc as the page shows it."""

    bloc: VotingBloc
    accounts: list[_Account]
    articles: list[Article]
    shared_inviter: _Inviter | None
    """Who invited all of them; None if no one did."""


@require_safe
@never_cache
@needs(*RING_PERMISSIONS)
def index(request: HttpRequest) -> HttpResponse:
    voting_blocs = repository().voting_blocs
    found = voting_blocs.get()
    articles = voting_blocs.get_articles(found.blocs)
    accounts = _accounts({member for bloc in found.blocs for member in bloc.members[:_MOST_ACCOUNTS]})
    rows = [
        _row(bloc, accounts, [articles[number] for number in bloc.articles if number in articles])
        for bloc in found.blocs
    ]
    return render(request, "voting_rings/voting_blocs.html", {"rows": rows, "at": found.at})


def _row(bloc: VotingBloc, accounts: dict[UserId, _Account], articles: list[Article]) -> _Row:
    members = [accounts.get(member, _DELETED) for member in bloc.members[:_MOST_ACCOUNTS]]
    inviters = {account.inviter for account in members} if len(members) == len(bloc.members) else set()
    return _Row(bloc, members, articles, inviters.pop() if len(inviters) == 1 else None)


_DELETED = _Account("", 0, None)


def _accounts(members: set[UserId]) -> dict[UserId, _Account]:
    """Return these accounts, except deleted ones. Two queries."""
    inviters = {
        invited: _Inviter(inviter, "" if left_at else name)
        for invited, inviter, name, left_at in Invitation.objects.filter(invited__in=members).values_list(
            "invited", "inviter", "inviter__username", "inviter__left_at"
        )
    }
    facts = User.objects.filter(pk__in=members, left_at=None).values_list("pk", "username", "date_joined")
    return {pk: _Account(name, joined.timestamp(), inviters.get(pk)) for pk, name, joined in facts}
