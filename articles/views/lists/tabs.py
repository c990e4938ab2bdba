"""Tabs above a list: the same list in another order, or over another period."""

from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from articles.domain.lists import Order, Range, Span


@dataclass(frozen=True, slots=True)
class Tab:
    """A link to the same list in another order, or over another period."""

    label: str
    address: str
    is_current: bool
    title: str = ""
    """The whole label, where the short one depends on its neighbours."""


@dataclass(frozen=True, slots=True)
class Tabs:
    """Tabs of one kind. `name` is for screen readers; `label`, if any, is visible before the first tab."""

    name: str
    tabs: tuple[Tab, ...]
    label: str = ""
    is_label_wide_only: bool = False
    """Whether the label is left out on narrow screens."""


def order_tabs(current: Order) -> Tabs:
    """Return the orders of a list of groups."""
    labels = {
        Order.SCORE: _("By score"),
        Order.TIME: _("Newest"),
        Order.HOT: _("Hot"),
        Order.POINTS: _("Most points"),
    }
    tabs = (Tab(label, f"?order={order}", order is current) for order, label in labels.items())
    return Tabs(_("Order"), tuple(tabs))


def range_tabs(current: Range) -> Tabs:
    """Return the ages of articles to which the hot list can be limited."""
    labels = {
        Range.DAY: _("24 hours"),
        Range.THREE_DAYS: _("3 days"),
        Range.WEEK: _("7 days"),
        Range.ALL: _("All"),
    }
    tabs = (Tab(label, f"?range={posted}", posted is current) for posted, label in labels.items())
    return Tabs(_("Posted within"), tuple(tabs), _("Posted within:"), is_label_wide_only=True)


def span_tabs(current: Span | None) -> Tabs:
    """Return the lists of the most points; none of them is current on the front page."""
    labels = {
        Span.DAY: (pgettext("top of the", "Day"), _("Most points of the day")),
        Span.WEEK: (pgettext("top of the", "Week"), _("Most points of the week")),
        Span.MONTH: (pgettext("top of the", "Month"), _("Most points of the month")),
        Span.ALL: (pgettext("top of", "All time"), _("Most points of all time")),
    }
    top = reverse("articles:top")
    tabs = (Tab(label, f"{top}?range={span}", span is current, title) for span, (label, title) in labels.items())
    return Tabs(_("Most points"), tuple(tabs), _("Top:"))
