"""The preview of an article's page on other sites (the Open Graph protocol, https://ogp.me).

It holds only facts that stay true in a copy: no age, no choice, nothing about the reader. The picture is the same
for every article and has no text: to draw a title in Chinese, in Arabic or with emoji takes fonts that an
installation may lack, and the platforms show `og:title` beside the picture.
"""

from dataclasses import dataclass

from django.templatetags.static import static
from django.urls import reverse
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from articles.domain.articles import Article
from articles.formatting.values import grouped, listed
from articles.text.links import host_of
from articles.text.markdown import plain

_LOCALES = {"en": "en_US", "zh-hans": "zh_CN"}
"""Languages with a territory, as the platforms require."""


_LONGEST_DESCRIPTION = 300
"""Characters of a text: more than the platforms show."""


@dataclass(frozen=True, slots=True)
class Card:
    """The preview. Addresses are absolute; `poster` is that of the poster's page, "" if the poster is unknown."""

    address: str
    description: str
    locale: str
    image: str
    poster: str


def card_of(site: str, article: Article) -> Card:
    """Return the preview of an article of the site at this address, which has no trailing slash."""
    poster = article.poster_name and reverse("articles:profile", args=[article.poster_name])
    return Card(
        address=site + reverse("articles:article", args=[article.id]),
        description=description_of(article),
        locale=_LOCALES.get(get_language() or "", "en_US"),
        image=site + static("card.png"),
        poster=site + poster if poster else "",
    )


def description_of(article: Article) -> str:
    """Return what the preview says about an article: the beginning of its text, or its points if it has none."""
    if article.html:
        text = plain(article.html)
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
        "groups": listed(article.groups),
    }
