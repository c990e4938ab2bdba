"""The site's own texts, in Markdown: one for each name and language."""

from typing import NamedTuple

from django.apps import apps
from django.conf import settings
from django.utils.translation import get_language

from articles.site.recent import Recent


class SiteText(NamedTuple):
    """A text, and the code of the language that it is in."""

    language: str
    text: str


def _load() -> dict[tuple[str, str], str]:
    """Return all texts by name and language. The model is not imported: see `articles.known_store`."""
    rows = apps.get_model("articles", "SiteText").objects.values_list("name", "language", "text")
    return {(name, language): text for name, language, text in rows}


_texts: Recent[dict[tuple[str, str], str]] = Recent(_load, {})
forget = _texts.forget


def site_text(name: str) -> SiteText | None:
    """Return the text in the reader's language, else in the site's, else in any other; None if there is none."""
    texts = _texts.get()
    codes = [get_language() or "", settings.LANGUAGE_CODE, *(code for code, _label in settings.LANGUAGES)]
    return next((SiteText(code, texts[name, code]) for code in codes if texts.get((name, code))), None)
