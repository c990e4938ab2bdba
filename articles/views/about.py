"""The pages about the site and its rules, and what browsers need to install it and to share pages to it."""

from functools import cache
from pathlib import Path
from urllib.parse import quote

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import reverse
from django.utils.translation import get_language_bidi, gettext as _, override
from django.views.decorators.http import require_safe

from articles.configuration.choices import chosen, site_address
from articles.domain import extras
from articles.domain.comments import EDIT_SECONDS
from articles.site import site_text
from articles.text.lines import InvalidInput
from articles.text.links import clean_link
from articles.web.preferences import tag
from articles.web.wiring import rules


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


PAPER = "#fcfcfa"
"""Background of the installed site: that of the light theme in static/css/frame/tokens.css."""


@require_safe
def manifest(request: HttpRequest) -> HttpResponse:  # noqa: ARG001
    """Return the web app manifest, in the site's language, because caches share it."""
    with override(chosen.language):
        content = _content()
    return JsonResponse(content, content_type="application/manifest+json")


def _content() -> dict[str, object]:
    front = reverse("articles:front")
    return {
        "id": front,
        "name": chosen.SITE_NAME,
        "short_name": chosen.SITE_NAME,
        "description": _("Links and texts, ranked by the votes of members."),
        "lang": tag(),
        "dir": "rtl" if get_language_bidi() else "ltr",
        "start_url": front,
        "scope": front,
        "display": "minimal-ui",
        "background_color": PAPER,
        "theme_color": chosen.SITE_ACCENT,
        "icons": [
            {"src": static("favicon.svg"), "sizes": "any", "type": "image/svg+xml"},
            {"src": static("touch-icon.png"), "sizes": "180x180", "type": "image/png"},
            *(_icon(size, purpose) for size, purpose in ((192, "any"), (512, "any"), (512, "maskable"))),
        ],
        "share_target": {
            "action": reverse("articles:post"),
            "method": "GET",
            "params": {"title": "title", "text": "text", "url": "link"},
        },
    }


def _icon(size: int, purpose: str) -> dict[str, str]:
    """Return a picture for the screen of a device, which may cut off all but a circle.

    The files are static/favicon.svg in its light colours on PAPER, two thirds as wide as the picture, so that the
    circle holds the mark.
    """
    return {"src": static(f"icon-{size}.png"), "sizes": f"{size}x{size}", "type": "image/png", "purpose": purpose}


@require_safe
def worker(request: HttpRequest) -> HttpResponse:  # noqa: ARG001
    """Return the service worker, at an address above all pages: it controls those below its own."""
    return HttpResponse(_worker(), content_type="text/javascript; charset=utf-8")


@cache
def _worker() -> bytes:
    parts = (Path(settings.BASE_DIR, "static", "js", "worker.js"), *extras.worker_parts())
    return b"\n".join(path.read_bytes() for path in parts)


def bookmarklet(request: HttpRequest) -> str:
    """Return the address of a bookmark that opens the form to post the page on which it is used.

    It never runs on the site's own pages, whose policy forbids it: a reader drags it to the bookmarks.
    """
    form = f"{site_address(request)}{reverse('articles:post')}"
    code = (
        f"location.href='{form}?link='+encodeURIComponent(location.href)"
        "+'&title='+encodeURIComponent(document.title)"
    )
    return "javascript:" + quote(code, safe="'=?:/+&().")


def shared_content(title: str, link: str, text: str) -> dict[str, str]:
    """Return the content of an article from what another program shares: phones put the link into the text."""
    *words, last = text.split() or [""]
    try:
        found = clean_link(last) if not link else ""
    except InvalidInput:
        found = ""
    if not found:
        return {"title": title, "link": link, "text": text}
    rest = " ".join(words)
    return {"title": title or rest, "link": found, "text": rest if title and rest != title else ""}
