"""Headings of lists, for their pages and their feeds."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from articles.domain.lists import Order, Period
from articles.formatting.values import grouped, listed


def list_heading(order: Order, *, period: Period = Period.ALL, groups: Sequence[str] = ()) -> str:
    """Return the titles of the groups of a list, or the name of a list of the whole site."""
    if groups:
        return listed(groups)
    match order:
        case Order.SCORE:
            return _("Front page")
        case Order.TIME:
            return _("Newest")
        case Order.HOT:
            return _("Hot")
        case Order.ACTIVE:
            return _("Discussed")
        case Order.POINTS:
            return {
                Period.DAY: _("Top of the day"),
                Period.WEEK: _("Top of the week"),
                Period.MONTH: _("Top of the month"),
                Period.ALL: _("Top of all time"),
            }[period]


def search_heading(words: str) -> str:
    """Return the name of a list of search results."""
    return _("Search for “%(words)s”") % {"words": words.strip()}


def page_title(heading: str, number: int) -> str:
    """Return the title of page `number` of a list, without the site's name."""
    if number == 1:
        return heading
    return f"{heading} · {_('Page %(number)s') % {'number': grouped(number)}}"
