"""The preview of an article on other sites: the Open Graph protocol (https://ogp.me), and schema.org's data."""

import json
import logging
import subprocess
import sys
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from importlib.util import find_spec
from threading import Lock
from typing import NamedTuple

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.templatetags.static import static
from django.utils.translation import get_language, ngettext, override
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from articles.domain.articles import Article
from articles.domain.errors import ArticleRemoved
from articles.formatting.kept import piece
from articles.formatting.values import grouped, iso_date, listed
from articles.kept_pages import in_turn
from articles.text.links import host_of
from articles.text.markdown import beginning
from articles.web.addresses import moved, path_of
from articles.wiring import repository
from owner.choices import chosen

_log = logging.getLogger(__name__)

LOCALES = {"en": "en_US", "zh-hans": "zh_CN", "zh-hant": "zh_TW"}
"""Languages with a territory, as the platforms require."""

_LONGEST_DESCRIPTION = 300
"""Characters of a text: more than the platforms show."""


def description_of(article: Article, titles: Sequence[str]) -> str:
    """Return what the preview says about an article: the beginning of its text, or its points if it has none.

    `titles`: those of its groups.
    """
    if article.html:
        text = beginning(article.html, _LONGEST_DESCRIPTION)
        return text if len(text) <= _LONGEST_DESCRIPTION else f"{text[: _LONGEST_DESCRIPTION - 1].rstrip()}…"
    facts = {"points": grouped(article.points), "host": host_of(article.link), "poster": article.poster_name}
    if article.poster_name:
        text = ngettext(
            "An article from %(host)s, posted by %(poster)s: %(points)s point.",
            "An article from %(host)s, posted by %(poster)s: %(points)s points.",
            abs(article.points),
        )
    else:
        text = ngettext(
            "An article from %(host)s: %(points)s point.",
            "An article from %(host)s: %(points)s points.",
            abs(article.points),
        )
    if not article.groups:
        return text % facts
    return _("%(description)s Groups: %(groups)s.") % {
        "description": text % facts,
        "groups": listed(titles),
    }


CAN_DRAW = all(map(find_spec, ("resvg_py", "uharfbuzz")))
"""Whether the libraries that draw are there: they have no wheels for rare machines."""

_VERSION = 1
"""Increase this when the picture of the same card changes."""

_NO_FONTS = 3
"""As `articles.card_picture.NO_FONTS`: that module needs libraries that may be missing."""

_SECONDS = 10
"""After which drawing a picture is given up."""

_drawing = Lock()


class Card(NamedTuple):
    """All that the picture of an article shows."""

    title: str
    points: str
    host: str
    site: str
    accent: str

    @classmethod
    def of(cls, article: Article) -> "Card":
        """Return the card in the active language. Its points are rounded down, so that few votes change it."""
        points = ""
        if article.points >= 10:
            unit = 10 ** (len(str(article.points)) - 1)
            steps = next(step for step in (5, 2, 1) if step * unit <= article.points)
            points = _("%(points)s+ points") % {"points": grouped(steps * unit)}
        host = host_of(article.link) if article.link else ""
        return cls(article.title, points, host, chosen.SITE_NAME, chosen.SITE_ACCENT)

    @property
    def digest(self) -> str:
        raw = repr((_VERSION, *self)).encode("utf-8", "surrogatepass")
        return blake2b(raw, digest_size=6).hexdigest()


def picture_path(article: Article) -> str:
    """Return the address of the article's picture in the active language, which changes with what it shows."""
    path = path_of("articles:card", article.id, get_language(), "-")
    return path.replace("/-.", f"/{Card.of(article).digest}.")


@require_safe
def picture(request: HttpRequest, article_id: int, language: str, digest: str) -> HttpResponse:
    """Return the picture of an article, as a PNG. A former address leads to the current one, and draws nothing."""
    if language not in dict(settings.LANGUAGES) or not CAN_DRAW:
        raise Http404(f"no picture in {language}")
    article = repository().articles.get(article_id)
    if article.removed is not None:
        raise ArticleRemoved(article_id)
    with override(language):
        card = Card.of(article)
        if card.digest != digest:
            return moved(picture_path(article))
    return _picture(request, card)


@in_turn
def _picture(_request: HttpRequest, card: Card) -> HttpResponse:
    return HttpResponse(_drawn(card) or _generic(), content_type="image/png")


@lru_cache(64)
def _drawn(card: Card) -> bytes:
    """Return the picture, drawn by a process of its own, one at a time; b"" without fonts for its title."""
    command = [sys.executable, "-s", "-m", "articles.card_picture"]
    sent = json.dumps(card._asdict()).encode()
    with _drawing:
        try:
            done = subprocess.run(  # nosec B603 # noqa: S603 - our own program
                command,
                input=sent,
                capture_output=True,
                timeout=_SECONDS,
                cwd=settings.BASE_DIR,
                env={},
                check=False,
            )
        except subprocess.TimeoutExpired:
            return b""
    if done.returncode not in (0, _NO_FONTS):
        _log.warning("drawing a card failed with status %d: %s", done.returncode, done.stderr[-500:])
    return done.stdout if done.returncode == 0 else b""


@lru_cache(1)
def _generic() -> bytes:
    return (settings.BASE_DIR / "static" / "card.png").read_bytes()


def card_holes(article: Article, titles: Sequence[str], site: str) -> dict[str, object]:
    """Return what the preview says of an article that is listed, with absolute addresses.

    `titles`: those of its groups; `site`: the address of the site.
    """
    holes: dict[str, object] = {
        "card_address": site + path_of("articles:article", article.id),
        "description": description_of(article, titles),
        "published": iso_date(article.posted_at),
        "poster_address": site + path_of("articles:profile", article.poster_name) if article.poster_name else "",
        "picture": site + (picture_path(article) if CAN_DRAW else static("card.png")),
        "picture_alt": article.title if CAN_DRAW else _("A list of articles, sorted by votes"),
        "tags": piece("articles/tags.html", {}, groups=titles),
    }
    return holes | {"posting": _posting(article, holes)}


def _posting(article: Article, holes: dict[str, object]) -> Markup:
    """Return the article as a `DiscussionForumPosting` of schema.org, with what search engines require of one."""
    author = {"@type": "Person", "name": article.poster_name or _("[deleted]")}
    counts = {"Like": article.votes, "Dislike": article.opposes, "Comment": article.comments}
    posting = {
        "@context": "https://schema.org",
        "@type": "DiscussionForumPosting",
        "mainEntityOfPage": holes["card_address"],
        "url": holes["card_address"],
        "headline": article.title,
        "author": author | ({"url": holes["poster_address"]} if article.poster_name else {}),
        "datePublished": holes["published"],
        "image": holes["picture"],
        "interactionStatistic": [
            {
                "@type": "InteractionCounter",
                "interactionType": f"https://schema.org/{name}Action",
                "userInteractionCount": count,
            }
            for name, count in counts.items()
        ],
    }
    if article.edited_at is not None:
        posting["dateModified"] = iso_date(article.edited_at)
    if article.html:
        posting["text"] = holes["description"]
    if article.link:
        posting["sharedContent"] = {"@type": "WebPage", "url": article.link}
    return htmlsafe_json_dumps(posting, ensure_ascii=False)
