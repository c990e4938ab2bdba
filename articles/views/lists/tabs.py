"""Tabs above a list: the same list in another order, or over another period."""

from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from articles.domain.lists import HOT_PERIODS, TOP_PERIODS, Order, Period


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
        Order.ACTIVE: _("Discussed"),
    }
    tabs = (Tab(label, f"?order={order}", order is current) for order, label in labels.items())
    return Tabs(_("Order"), tuple(tabs))


def hot_period_tabs(current: Period) -> Tabs:
    """Return the ages of articles to which the hot list can be limited."""
    labels = {
        Period.DAY: _("24 hours"),
        Period.THREE_DAYS: _("3 days"),
        Period.WEEK: _("7 days"),
        Period.ALL: _("All"),
    }
    tabs = (Tab(labels[period], f"?range={word}", period is current) for word, period in HOT_PERIODS.items())
    return Tabs(_("Posted within"), tuple(tabs), _("Posted within:"), is_label_wide_only=True)


def top_period_tabs(current: Period | None) -> Tabs:
    """Return the lists of the most points; none of them is current on the front page."""
    labels = {
        Period.DAY: (pgettext("top of the", "Day"), _("Most points of the day")),
        Period.WEEK: (pgettext("top of the", "Week"), _("Most points of the week")),
        Period.MONTH: (pgettext("top of the", "Month"), _("Most points of the month")),
        Period.ALL: (pgettext("top of", "All time"), _("Most points of all time")),
    }
    top = reverse("articles:top")
    tabs = (
        Tab(labels[period][0], f"{top}?range={word}", period is current, labels[period][1])
        for word, period in TOP_PERIODS.items()
    )
    return Tabs(_("Most points"), tuple(tabs), _("Top:"))
