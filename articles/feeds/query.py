"""Filters in the address of a feed: `?min_points=` and `?hide=`."""

import re
from urllib.parse import quote, urlencode

from django.http import QueryDict
from django.utils.translation import gettext as _

from articles.formatting.values import grouped
from articles.repository import FeedFilter
from articles.text.lines import InvalidInput
from articles.text.refusals import input_sentence
from articles.text.slugs import SLUG_LIMIT, clean_slug
from articles.web.preferences import MOST_HIDDEN, slugs_from

MOST_POINTS = 1_000_000

_NUMBER = re.compile("[0-9]{1,7}", re.ASCII)
_MOST_TEXT = MOST_HIDDEN * (SLUG_LIMIT + 1)


class BadQuery(ValueError):
    """A parameter is invalid; the message is a sentence in the reader's language."""


def feed_filter_of(query: QueryDict) -> FeedFilter:
    """Return the filter in the query of a feed. Raises BadQuery."""
    return FeedFilter(_min_points(query), hidden_in(query.get("hide", "")))


def query_of(feed_filter: FeedFilter, **more: str) -> str:
    """Return the canonical query of a filter, with its question mark, or "". `more` comes first."""
    values = more | {
        "min_points": "" if feed_filter.min_points is None else str(feed_filter.min_points),
        "hide": ",".join(feed_filter.hidden),
    }
    given = {name: value for name, value in values.items() if value}
    return f"?{urlencode(given, safe=',', quote_via=quote)}" if given else ""


def _min_points(query: QueryDict) -> int | None:
    text = query.get("min_points")
    if text is None:
        return None
    if not _NUMBER.fullmatch(text) or int(text) > MOST_POINTS:
        raise BadQuery(_("min_points must be a whole number from 0 to %(most)s.") % {"most": grouped(MOST_POINTS)})
    return int(text)


def hidden_in(joined: str) -> tuple[str, ...]:
    """Return the slugs of the groups that `?hide=` names, sorted, each once. Raises BadQuery."""
    if len(joined) > _MOST_TEXT or joined.count(",") >= MOST_HIDDEN:
        raise BadQuery(_("hide can name at most %(most)s groups.") % {"most": grouped(MOST_HIDDEN)})
    try:
        return tuple(sorted({clean_slug(slug) for slug in slugs_from(joined)}))
    except InvalidInput as refused:
        raise BadQuery(input_sentence(refused)) from refused
