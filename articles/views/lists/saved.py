"""Articles saved for later."""

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt

from accounts.web import unsent_form
from accounts.web.form_pages import form_action, members_need_token
from articles.domain.errors import ArticleNotFound, ArticleRemoved, SavedFull
from articles.text.refusals import action_sentence
from articles.views.lists.counts import prefers_json
from articles.views.votes import way_back
from articles.web.identity import actor
from articles.wiring import repository

_WANTED = {"save": True, "forget": False}


def _words_of_wish(request: HttpRequest, article_id: int) -> str:
    title = repository().articles.get(article_id).title
    is_wanted = _WANTED.get(unsent_form.sent(request).get("saved", ""))
    words = _("Save “%(title)s” for later") if is_wanted else _("Forget the saved article “%(title)s”")
    return words % {"title": title}


@csrf_exempt
@members_need_token
@form_action(page=way_back, button=_words_of_wish)
def save(request: HttpRequest, article_id: int) -> HttpResponse:
    """Save an article or forget it: a target state. Readers without account log in first.

    Back to the row it was done at; who prefers JSON, a script, is told in words.
    """
    if request.user.is_authenticated:
        return _save(request, article_id)
    address = f"{reverse('accounts:login')}?{urlencode({'next': way_back(request, article_id)})}"
    if prefers_json(request):
        return JsonResponse(
            {"error": _("You are logged out. Log in to save articles."), "address": address}, status=401
        )
    return HttpResponseRedirect(address)


def _save(request: HttpRequest, article_id: int) -> HttpResponse:
    wanted = _WANTED.get(request.POST.get("saved", ""))
    if wanted is None:
        return render(request, "errors/400.html", status=400)
    if prefers_json(request):
        return _told(request, article_id, wanted=wanted)
    try:
        repository().members.save(actor(request).id, article_id, wanted=wanted)
    except SavedFull as full:
        messages.error(request, action_sentence(full))
    return redirect(way_back(request, article_id))


def _told(request: HttpRequest, article_id: int, *, wanted: bool) -> JsonResponse:
    """What is said aloud once it is done, or why it was refused."""
    try:
        repository().members.save(actor(request).id, article_id, wanted=wanted)
    except (ArticleNotFound, ArticleRemoved) as gone:
        return JsonResponse({"error": action_sentence(gone)}, status=404)
    except SavedFull as full:
        return JsonResponse({"error": action_sentence(full)}, status=409)
    return JsonResponse({"told": _("Saved for later.") if wanted else _("No longer saved.")})
