"""The moderators' pages of votes cast together: voting rings, which they check, and voting blocs.

A ring is new accounts of one network that vote for an article; a bloc, accounts that vote alike on many articles.
"""

from dataclasses import dataclass
from typing import NamedTuple

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.models import Invitation, User
from accounts.web.form_pages import form_action
from articles.domain.articles import LATEST, Article
from articles.domain.errors import OwnMatter
from articles.domain.members import UserId
from articles.domain.voting_blocs import VotingBloc
from articles.text.refusals import action_sentence
from articles.views.lists.paging import numbered_pager, page_number
from articles.web import error_pages
from articles.web.form_answers import way_back
from articles.web.identity import actor, needs
from articles.wiring import repository
from moderation.rights import RING_PERMISSIONS, check_not_own
from owner.choices import chosen


class CheckForm(forms.Form):
    """`seen`: the time of the ring's last vote on the page that has the form, in Unix seconds."""

    seen = forms.FloatField(min_value=0, max_value=LATEST)


@require_safe
@never_cache
@needs(*RING_PERMISSIONS)
def index(request: HttpRequest) -> HttpResponse:
    repo = repository()
    page = repo.voting_rings.get_page(page_number(request))
    pager = numbered_pager(page.number, has_next=page.has_next)
    own = {"own": actor(request).id, "own_matter": action_sentence(OwnMatter())}
    context = {"articles": page.articles, "pager": pager, "rules": repo.rules, **own}
    return render(request, "voting_rings/voting_rings.html", context)


def _page_of_form(request: HttpRequest, **_address: object) -> str:
    return way_back(request) or reverse("articles:voting_rings")


@never_cache
@form_action(page=_page_of_form, button=gettext_lazy("Mark as checked"))
@needs(*RING_PERMISSIONS)
def check(request: HttpRequest, article_id: int) -> HttpResponse:
    """Take the flag off an article."""
    repo, moderator, form = repository(), actor(request), CheckForm(request.POST)
    check_not_own(repo.articles.get(article_id).poster, moderator.id)
    if not form.is_valid():
        return error_pages.page(request, 400)
    repo.voting_rings.check(article_id, form.cleaned_data["seen"], moderator)
    messages.success(request, _("The votes are marked as checked."))
    return redirect(_page_of_form(request))


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
def blocs(request: HttpRequest) -> HttpResponse:
    voting_blocs = repository().voting_blocs
    found = voting_blocs.get()
    articles = voting_blocs.get_articles(found.blocs)
    named = {member for bloc in found.blocs for member in bloc.members[:_MOST_ACCOUNTS]}
    accounts = _accounts(named, with_inviters=chosen.INVITATION_TREE != "off")
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


def _accounts(members: set[UserId], *, with_inviters: bool) -> dict[UserId, _Account]:
    """Return these accounts, except deleted ones. Two queries."""
    used = Invitation.objects.filter(invited__in=members if with_inviters else ())
    inviters = {
        invited: _Inviter(inviter, "" if left_at else name)
        for invited, inviter, name, left_at in used.values_list(
            "invited", "inviter", "inviter__username", "inviter__left_at"
        )
    }
    facts = User.objects.filter(pk__in=members, left_at=None).values_list("pk", "username", "date_joined")
    return {pk: _Account(name, joined.timestamp(), inviters.get(pk)) for pk, name, joined in facts}
