"""The pages that describe how the site works, and its rules."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from articles.domain.discussion.comments import EDIT_SECONDS
from articles.site import site_text
from articles.views.manifest import bookmarklet
from articles.wiring import rules


@require_safe
def about(request: HttpRequest) -> HttpResponse:
    context = {"rules": rules(), "silent_minutes": EDIT_SECONDS // 60, "bookmarklet": bookmarklet(request)}
    return render(request, "about.html", context)


@require_safe
def own_rules(request: HttpRequest) -> HttpResponse:
    """Show the rules that administrators wrote. Raises Http404 without them."""
    if (text := site_text("rules")) is None:
        raise Http404("the site has no rules of its own")
    return render(request, "rules.html", {"text": text})
