"""The preview of an article on other sites: the Open Graph protocol (https://ogp.me), and schema.org's data."""

from collections.abc import Sequence

from django.templatetags.static import static
from django.utils.translation import gettext as _, ngettext
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from articles.domain.articles import Article
from articles.formatting.kept import piece
from articles.formatting.values import grouped, iso_date, listed
from articles.text.links import host_of
from articles.text.markdown import beginning
from articles.web.addresses import path_of

LOCALES = {"en": "en_US", "zh-hans": "zh_CN", "zh-hant": "zh_TW"}
"""Languages with a territory, as the platforms require."""

_LONGEST_DESCRIPTION = 300  # characters of a text: more than the platforms show


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
    return _("%(description)s Groups: %(groups)s.") % {"description": text % facts, "groups": listed(titles)}


def card_holes(article: Article, titles: Sequence[str], site: str) -> dict[str, object]:
    """Return what the preview says of an article that is listed, with absolute addresses.

    `titles`: those of its groups; `site`: the address of the site.
    """
    holes: dict[str, object] = {
        "card_address": site + path_of("articles:article", article.id),
        "description": description_of(article, titles),
        "published": iso_date(article.posted_at),
        "poster_address": site + path_of("articles:profile", article.poster_name) if article.poster_name else "",
        "tags": piece("articles/tags.html", {}, groups=titles),
    }
    return holes | {"posting": _posting(article, holes, site + static("card.png"))}


def _posting(article: Article, holes: dict[str, object], picture: str) -> Markup:
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
        "image": picture,
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
