"""Propose what a link brings along to the script of the form."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.urls import path
from django.utils.translation import gettext_lazy

from accounts.web.form_pages import members_only, private_act
from articles.text.lines import InvalidInput
from articles.text.refusals import input_sentence
from extras.links.asking import look_up


@private_act(members_only(), page="articles:post", button=gettext_lazy("Fetch title"))
def link_info(request: HttpRequest) -> HttpResponse:
    """Return what a link brings along, as JSON for the script: its state, the title, and what to show."""
    try:
        info = look_up(request, request.POST.get("link", ""))
    except InvalidInput as refused:  # the form says so when it is sent
        return JsonResponse({"error": input_sentence(refused)}, status=400)
    shown = render_to_string("links/found.html", {"found": info}, request)
    return JsonResponse({"state": info.state, "title": info.title, "html": shown})


urlpatterns = [path("post/link-info/", link_info, name="link_info")]
