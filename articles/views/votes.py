"""Votes cast by forms, and by the script that sends the forms without leaving the page."""

from urllib.parse import urlencode, urlsplit

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt

from accounts.web import unsent_form
from accounts.web.form_pages import form_action, members_need_token
from accounts.web.login_intent import local_path
from articles.domain.articles import Choice
from articles.domain.errors import ActionRefused, ArticleNotFound, ArticleRemoved, VotingClosed
from articles.forms.votes import ChoiceForm
from articles.text.refusals import action_sentence
from articles.views.lists.counts import counts, prefers_json, sentence
from articles.web.identity import actor
from articles.wiring import repository


def way_back(request: HttpRequest, article_id: int) -> str:
    """The page the form stood on, at the article's row; the article's own page if it does not say."""
    page = local_path(unsent_form.sent(request).get("next", ""))
    if not page:
        return reverse("articles:article", args=[article_id])
    return urlsplit(page)._replace(fragment=f"article-{article_id}").geturl()


def _words_of_choice(request: HttpRequest, article_id: int) -> str:
    title = repository().articles.get(article_id).title
    match unsent_form.sent(request).get("choice"):
        case "vote":
            return _("Vote for “%(title)s”") % {"title": title}
        case "oppose":
            return _("Oppose “%(title)s”") % {"title": title}
        case _:
            return _("Take back your choice on “%(title)s”") % {"title": title}


@csrf_exempt
@members_need_token
@form_action(page=way_back, button=_words_of_choice)
def cast_vote(request: HttpRequest, article_id: int) -> HttpResponse:
    """Set the member's choice, and go back to the row it was made on; who prefers JSON gets the counts instead.

    A reader without account changes nothing here and is sent to the login page with the choice.
    """
    form = ChoiceForm(request.POST)
    if not form.is_valid():
        return render(request, "errors/400.html", status=400)
    if not request.user.is_authenticated:
        return _to_login(request, article_id, form.choice_made)
    if prefers_json(request):
        return _counted(request, article_id, form.choice_made)
    try:
        repository().votes.cast(article_id, actor(request).id, form.choice_made)
    except VotingClosed as closed:
        messages.error(request, action_sentence(closed))
    return redirect(way_back(request, article_id))


def _to_login(request: HttpRequest, article_id: int, choice: Choice) -> HttpResponse:
    errand = {"next": way_back(request, article_id), "article": article_id, "choice": choice.value}
    address = f"{reverse('accounts:login')}?{urlencode(errand)}"
    if prefers_json(request):
        refusal = _("You are logged out. Log in, and your choice will be counted.")
        return JsonResponse({"error": refusal, "address": address}, status=401)
    return HttpResponseRedirect(address)


def _counted(request: HttpRequest, article_id: int, choice: Choice) -> JsonResponse:
    """The counts after the choice, or why it was refused."""
    try:
        tally = repository().votes.cast(article_id, actor(request).id, choice)
    except (ArticleNotFound, ArticleRemoved) as gone:
        return JsonResponse({"error": action_sentence(gone)}, status=404)
    except ActionRefused as refused:
        return JsonResponse({"error": action_sentence(refused)}, status=409)
    return JsonResponse(counts(article_id, tally) | {"told": sentence(tally)})
