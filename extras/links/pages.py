"""Propose what a link brings along: to the script of the form, and to programs."""

from typing import Literal

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.urls import path
from django.utils.translation import gettext_lazy
from pydantic import BaseModel, Field

from accounts.models import POST
from accounts.web.form_pages import members_only, private_act
from articles.api.protocol.operations import members, router
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


TAGS = {"link-info": "What a page says about itself."}


class Link(BaseModel):
    """A link to fetch."""

    link: str = Field(description="An http or https URL.", examples=["https://example.org/"])


class LinkInfo(BaseModel):
    """What a link brings along, as a proposal. The site stores nothing of it."""

    state: Literal["fetching", "found", "failed"] = Field(
        description="While it is “fetching”, ask again in half a second."
    )
    title: str = Field(description="Title of the page, without the site's name; at most 300 characters.")
    canonical: str = Field(description="Address that the page says is its own; empty if that is the same page.")
    language: str = Field(description="Language of the page, such as zh-CN; empty if it names none.")
    description: str = Field(description="Summary by the page itself, at most 500 characters.")
    problem: str = Field(description="Code of why there is no title; empty if there is one.")
    message: str = Field(description="The same as a sentence.")


@router.post("link-info", auth=members(POST, ("api", "lookups")))
def fetch_link_info(request: HttpRequest, link: Link) -> LinkInfo:
    """Fetch the title of a link.

    Title, canonical address, language and description of the page, which the site fetches once a day at most. The
    response comes at once: ask again while its state is “fetching”.
    """
    info = look_up(request, link.link)
    return LinkInfo(message=info.sentence, **info._asdict())


urlpatterns = [path("post/link-info/", link_info, name="link_info")]
