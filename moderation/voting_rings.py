"""The moderators' page of voting rings, which they check: new accounts of one network that vote for an article."""

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy

from accounts.web.form_pages import private_act, private_page, show_next
from articles.domain.articles import LATEST
from articles.domain.errors import OwnMatter
from articles.text.refusals import action_sentence
from articles.web import error_pages
from articles.web.form_answers import way_back
from articles.web.identity import actor, needs
from articles.web.paging import numbered_pager, page_number
from articles.web.rights import RING_PERMISSIONS, check_not_own
from articles.web.wiring import repository


class CheckForm(forms.Form):
    """`seen`: the time of the ring's last vote on the page that has the form, in Unix seconds."""

    seen = forms.FloatField(min_value=0, max_value=LATEST)


@private_page(needs(*RING_PERMISSIONS))
def index(request: HttpRequest) -> HttpResponse:
    repo = repository()
    page = repo.voting_rings.get_page(page_number(request))
    pager = numbered_pager(page.number, has_next=page.has_next)
    own = {"own": actor(request).id, "own_matter": action_sentence(OwnMatter())}
    context = {"articles": page.articles, "pager": pager, "rules": repo.rules, **own}
    return render(request, "voting_rings/voting_rings.html", context)


def _page_of_form(request: HttpRequest, **_address: object) -> str:
    return way_back(request) or reverse("articles:voting_rings")


@private_act(needs(*RING_PERMISSIONS), page=_page_of_form, button=gettext_lazy("Mark as checked"))
def check(request: HttpRequest, article_id: int) -> HttpResponse:
    """Take the flag off an article."""
    repo, moderator, form = repository(), actor(request), CheckForm(request.POST)
    check_not_own(repo.articles.get(article_id).poster, moderator.id)
    if not form.is_valid():
        return error_pages.page(request, 400)
    repo.voting_rings.check(article_id, form.cleaned_data["seen"], moderator)
    return show_next(request, _("The votes are marked as checked."), _page_of_form(request))
