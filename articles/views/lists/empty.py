"""The sentence and the link that a list without articles shows."""

from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _

from articles.domain.lists import ArticlePage, Order, Period


@dataclass(frozen=True, slots=True)
class Empty:
    """The text shown instead of articles. Only some empty lists have a heading or a button."""

    sentence: str
    button: str = ""
    address: str = ""
    heading: str = ""


def empty_list(page: ArticlePage, *, period: Period, hides: bool) -> Empty:
    """Return the text of a page without articles.

    `hides`: whether the reader hides groups other than those of the list.
    """
    if page.number > 1:
        return Empty(_("You have reached the end. Nothing new has been posted since."))
    if page.order is Order.HOT:
        return _group_hot(page) or _hot(period)
    if page.order is Order.ACTIVE and not page.total:
        return _nothing_discussed(page)
    if hides and page.total:
        return Empty(_("Every article here is in a group you have hidden."))
    return _top(period) if page.order is Order.POINTS and period is not Period.ALL else _nothing_posted(page)


def _nothing_posted(page: ArticlePage) -> Empty:
    button, address = _("Post an article"), reverse("articles:post")
    if page.groups:
        return Empty(_("These groups have no articles yet."), button, address)
    if page.group:
        return Empty(_("This group has no articles yet."), button, address)
    return Empty(
        _("Post the first link. Other members can vote for it, and the best links rise to the top of this page."),
        button,
        address,
        heading=_("Nothing has been posted yet"),
    )


def _nothing_discussed(page: ArticlePage) -> Empty:
    button = _("Show the newest articles")
    if page.groups:
        return Empty(_("No article in these groups has comments yet."), button, "?order=time")
    if page.group:
        return Empty(_("No article in this group has comments yet."), button, "?order=time")
    return Empty(
        _("Articles with comments appear on this list, those with the newest comment first."),
        button,
        reverse("articles:newest"),
        heading=_("Nothing has been discussed yet"),
    )


def _group_hot(page: ArticlePage) -> Empty | None:
    """Return the text for the hot list of groups; None for the hot list of the site."""
    if page.groups:
        return Empty(
            _("No article in these groups is on the hot list, which shows only articles that have been read."),
            _("Show the groups by score"),
            "?order=score",
        )
    if page.group:
        return Empty(
            _("No article in this group is on the hot list, which shows only articles that have been read."),
            _("Show the group by score"),
            "?order=score",
        )
    return None


def _hot(period: Period) -> Empty:
    match period:
        case Period.DAY:
            return Empty(
                _("No article posted in the last 24 hours has been read yet."),
                _("Show the last 3 days"),
                "?range=72h",
            )
        case Period.THREE_DAYS:
            return Empty(
                _("No article posted in the last 3 days has been read yet."),
                _("Show the last 7 days"),
                "?range=7d",
            )
        case Period.WEEK:
            return Empty(
                _("No article posted in the last 7 days has been read yet."),
                _("Show the whole hot list"),
                "?range=all",
            )
        case _:
            return Empty(
                _("Articles appear on this list once they are read, and sink as they age."),
                _("Show the newest articles"),
                reverse("articles:newest"),
                heading=_("Nothing has been read yet"),
            )


def _top(period: Period) -> Empty:
    match period:
        case Period.DAY:
            return Empty(
                _("Nothing was posted in the last 24 hours."), _("Show the top of the week"), "?range=week"
            )
        case Period.WEEK:
            return Empty(
                _("Nothing was posted in the last 7 days."), _("Show the top of the month"), "?range=month"
            )
        case _month:
            return Empty(_("Nothing was posted in the last 30 days."), _("Show the top of all time"), "?range=all")
