"""The query of a feed's URL: `?min_points=` and `?hide=`."""

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
_MAX_HIDE_LENGTH = MOST_HIDDEN * (SLUG_LIMIT + 1)


class BadQuery(ValueError):
    """The query is invalid; the message is a sentence in the active language."""


def wish_of(query: QueryDict) -> FeedFilter:
    """Return the filter that a query describes. Raises BadQuery."""
    return FeedFilter(_min_points(query), hidden_in(query.get("hide", "")))


def query_of(feed_filter: FeedFilter, **more: str) -> str:
    """Return the filter as a canonical query string with its question mark, `more` first; "" if it is empty."""
    values = more | {
        "min_points": "" if feed_filter.min_points is None else str(feed_filter.min_points),
        "hide": ",".join(feed_filter.hidden),
    }
    fields = {name: value for name, value in values.items() if value}
    return f"?{urlencode(fields, safe=',', quote_via=quote)}" if fields else ""


def _min_points(query: QueryDict) -> int | None:
    text = query.get("min_points")
    if text is None:
        return None
    if not _NUMBER.fullmatch(text) or int(text) > MOST_POINTS:
        raise BadQuery(_("min_points must be a whole number from 0 to %(most)s.") % {"most": grouped(MOST_POINTS)})
    return int(text)


def hidden_in(joined: str) -> tuple[str, ...]:
    """Return the slugs that `?hide=` names, sorted and without duplicates. Raises BadQuery."""
    if len(joined) > _MAX_HIDE_LENGTH or joined.count(",") >= MOST_HIDDEN:
        raise BadQuery(_("hide can name at most %(most)s groups.") % {"most": grouped(MOST_HIDDEN)})
    try:
        return tuple(sorted({clean_slug(slug) for slug in slugs_from(joined)}))
    except InvalidInput as error:
        raise BadQuery(input_sentence(error)) from error
