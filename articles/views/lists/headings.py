"""What stands around the rows of a list: its heading, its tabs, and what an empty list says instead."""

from collections.abc import Sequence
from typing import NamedTuple

from django.urls import reverse
from django.utils.translation import gettext as _, pgettext

from articles.domain.lists import HOT_PERIODS, TOP_PERIODS, ArticlePage, Order, Period
from articles.formatting.values import grouped, listed


def list_heading(order: Order, *, period: Period = Period.ALL, groups: Sequence[str] = ()) -> str:
    """Return the titles of the groups of a list, or the name of a list of the whole site."""
    if groups:
        return listed(groups)
    if order is Order.POINTS:
        return {
            Period.DAY: _("Top of the day"),
            Period.WEEK: _("Top of the week"),
            Period.MONTH: _("Top of the month"),
            Period.ALL: _("Top of all time"),
        }[period]
    return {
        Order.SCORE: _("Front page"),
        Order.TIME: _("Newest"),
        Order.HOT: _("Hot"),
        Order.ACTIVE: _("Discussions"),
    }[order]


def search_heading(words: str) -> str:
    """Return the name of a list of search results."""
    return _("Search for “%(words)s”") % {"words": words.strip()}


def page_title(heading: str, number: int) -> str:
    """Return the title of page `number` of a list, without the site's name."""
    if number == 1:
        return heading
    return f"{heading} · {_('Page %(number)s') % {'number': grouped(number)}}"


class Tab(NamedTuple):
    """A link to the same list in another order, or over another period."""

    label: str
    address: str = ""  # "" for the label of the tabs that follow
    is_current: bool = False


class Tabs(NamedTuple):
    """Tabs of one kind, which `templates/lists/tabs.html` draws. `name` is for screen readers."""

    name: str
    links: tuple[Tab, ...]


def order_tabs(current: Order) -> Tabs:
    """Return the orders of a list of groups."""
    labels = {
        Order.SCORE: _("By score"),
        Order.TIME: _("Newest"),
        Order.HOT: _("Hot"),
        Order.POINTS: pgettext("order", "Top"),
        Order.ACTIVE: _("Discussions"),
    }
    tabs = (Tab(label, f"?order={order}", order is current) for order, label in labels.items())
    return Tabs(_("Order"), tuple(tabs))


def period_tabs(order: Order, period: Period) -> Tabs | None:
    """Return the periods of a list of the whole site. The front page and the most points lead to each other."""
    if order is Order.HOT:
        return _hot_period_tabs(period)
    if order in (Order.POINTS, Order.SCORE):
        return _top_period_tabs(period if order is Order.POINTS else None)
    return None


def _hot_period_tabs(current: Period) -> Tabs:
    """Return the ages of articles to which the hot list can be limited."""
    labels = {
        Period.DAY: _("24 hours"),
        Period.THREE_DAYS: _("3 days"),
        Period.WEEK: _("7 days"),
        Period.ALL: _("All"),
    }
    tabs = (Tab(labels[period], f"?range={word}", period is current) for word, period in HOT_PERIODS.items())
    return Tabs(_("Posted within"), (Tab(_("Posted within:")), *tabs))


def _top_period_tabs(current: Period | None) -> Tabs:
    """Return the front page, for which `current` is None, and the lists of the most points."""
    labels = {
        Period.DAY: pgettext("top of the", "Day"),
        Period.WEEK: pgettext("top of the", "Week"),
        Period.MONTH: pgettext("top of the", "Month"),
        Period.ALL: pgettext("top of", "All time"),
    }
    front, top = Tab(_("By score"), reverse("articles:front"), current is None), reverse("articles:top")
    tabs = (Tab(labels[period], f"{top}?range={word}", period is current) for word, period in TOP_PERIODS.items())
    return Tabs(_("Order"), (front, Tab(_("Top:")), *tabs))


class Empty(NamedTuple):
    """The text shown instead of articles. Only some empty lists have a heading or a button."""

    sentence: str
    button: str = ""
    address: str = ""
    heading: str = ""
    has_no_administrator: bool = False  # whether the page says how to create the first administrator


def empty_list(
    page: ArticlePage, *, period: Period, hides: bool, may_post: bool = True, has_no_administrator: bool = False
) -> Empty:
    """Return the text of a page without articles.

    `hides`: whether the reader's choices leave anything out of the list.
    """
    if has_no_administrator:
        return Empty("", has_no_administrator=True)
    if page.number > 1:
        return Empty(_("You have reached the end. Nothing new has been posted since."))
    if page.order is Order.HOT:
        return _group_hot(page) if page.is_of_groups else _hot(period)
    if page.order is Order.ACTIVE and not (page.total or page.hidden):
        return _nothing_discussed(page)
    if hides and page.hidden:
        return Empty(_("You are hiding every article here."))
    return (
        _top(period)
        if page.order is Order.POINTS and period is not Period.ALL
        else _nothing_posted(page, may_post=may_post)
    )


def _nothing_posted(page: ArticlePage, *, may_post: bool) -> Empty:
    button, address = (_("Post an article"), reverse("articles:post")) if may_post else ("", "")
    if page.is_of_groups:
        several, one = _("These groups have no articles yet."), _("This group has no articles yet.")
        return Empty(several if page.groups else one, button, address)
    invited = _(
        "Post the first link. Other members can vote for it, and the best links rise to the top of this page."
    )
    told = _("Members post links here and vote for them. The best rise to the top of this page.")
    return Empty(invited if may_post else told, button, address, _("Nothing has been posted yet"))


def _nothing_discussed(page: ArticlePage) -> Empty:
    button = _("Show the newest articles")
    if page.is_of_groups:
        one = _("No article in this group has comments yet.")
        several = _("No article in these groups has comments yet.")
        return Empty(several if page.groups else one, button, "?order=time")
    told = _("Articles with comments appear on this list, those with the newest comment first.")
    return Empty(told, button, reverse("articles:newest"), _("Nothing has been discussed yet"))


def _group_hot(page: ArticlePage) -> Empty:
    """Return the text for the hot list of groups."""
    if page.groups:
        told = _("No article in these groups is on the hot list, which shows only articles that have been read.")
        return Empty(told, _("Show the groups by score"), "?order=score")
    told = _("No article in this group is on the hot list, which shows only articles that have been read.")
    return Empty(told, _("Show the group by score"), "?order=score")


def _hot(period: Period) -> Empty:
    read = _("Articles appear on this list once they are read, and sink as they age.")
    newest, nothing = _("Show the newest articles"), _("Nothing has been read yet")
    return {
        Period.DAY: Empty(
            _("No article posted in the last 24 hours has been read yet."), _("Show the last 3 days"), "?range=72h"
        ),
        Period.THREE_DAYS: Empty(
            _("No article posted in the last 3 days has been read yet."), _("Show the last 7 days"), "?range=7d"
        ),
        Period.WEEK: Empty(
            _("No article posted in the last 7 days has been read yet."),
            _("Show the whole hot list"),
            "?range=all",
        ),
    }.get(period, Empty(read, newest, reverse("articles:newest"), nothing))


def _top(period: Period) -> Empty:
    return {
        Period.DAY: Empty(
            _("Nothing was posted in the last 24 hours."), _("Show the top of the week"), "?range=week"
        ),
        Period.WEEK: Empty(
            _("Nothing was posted in the last 7 days."), _("Show the top of the month"), "?range=month"
        ),
    }.get(period, Empty(_("Nothing was posted in the last 30 days."), _("Show the top of all time"), "?range=all"))
