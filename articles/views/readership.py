"""Readership statistics for moderators: counted views, visitors and suspect views of the last days."""

from collections.abc import Sequence
from typing import NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _, gettext_lazy
from django.views.decorators.http import require_safe

from accounts.moderators import SEE_VIEWS
from articles.charts.plots import Series, stacked_bars
from articles.charts.shapes import Chart
from articles.domain.readership import DayViews, Suspicion
from articles.views.ranking import chart_labels
from articles.web.identity import needs
from articles.web.readership import archive
from articles.web.wiring import repository

_REASONS = {
    Suspicion.BOT: (gettext_lazy("Bots"), gettext_lazy("The client identifies itself as a bot, or not at all.")),
    Suspicion.PREFETCH: (
        gettext_lazy("Prefetched"),
        gettext_lazy("A browser prefetched the page; the reader has not opened it."),
    ),
    Suspicion.BURST: (
        gettext_lazy("Bursts"),
        gettext_lazy("Too many views from one network within a few minutes."),
    ),
}


class Kind(NamedTuple):
    """Suspect views with one reason: `lately` in the days shown, `ever` of all time if known."""

    name: str
    meaning: str
    lately: int
    ever: int | None = None


@require_safe
@needs(SEE_VIEWS)
def site(request: HttpRequest) -> HttpResponse:
    days = repository().pageviews.list_days()
    context = {"article": None, "kinds": _kinds(days), "chart": _chart(days, _("Visitors"), adds_up=False)}
    return render(request, "readership/readership.html", context | _summary(days))


@require_safe
@needs(SEE_VIEWS)
def article(request: HttpRequest, article_id: int) -> HttpResponse:
    repo = repository()
    shown = repo.articles.get(article_id)
    days = repo.pageviews.list_days(article_id)
    context = {
        "article": shown,
        "kinds": _kinds(days, archive.suspects(repo, article_id)),
        "chart": _chart(days, _("New visitors"), adds_up=True),
    }
    return render(request, "readership/readership.html", context | _summary(days))


def _kinds(days: Sequence[DayViews], ever: dict[str, int] | None = None) -> list[Kind]:
    return [
        Kind(
            str(name),
            str(meaning),
            sum(day.suspects.get(reason, 0) for day in days),
            None if ever is None else ever.get(reason, 0),
        )
        for reason, (name, meaning) in _REASONS.items()
    ]


def _chart(days: Sequence[DayViews], visitors: str, *, adds_up: bool) -> Chart:
    """Return a chart of counted and suspect views, with visitors as a line; `adds_up`: they have a sum."""
    suspects = [
        Series(str(name), [day.suspects.get(reason, 0) for day in days])
        for reason, (name, _meaning) in _REASONS.items()
    ]
    return stacked_bars(
        [chart_labels.day(day.day) for day in days],
        [
            Series(_("Counted views"), [day.counted for day in days]),
            *suspects,
            Series(visitors, [day.visitors for day in days], marked=True, adds_up=adds_up),
        ],
        value_label=chart_labels.number,
    )


def _summary(days: Sequence[DayViews]) -> dict[str, object]:
    """Return sums over the days, the busiest day, and the minutes after which a visitor counts again."""
    busiest = max(days, key=lambda day: day.counted)
    return {
        "counted": sum(day.counted for day in days),
        "visitors": sum(day.visitors for day in days),
        "suspect": sum(sum(day.suspects.values()) for day in days),
        "busiest": chart_labels.day(busiest.day),
        "most": busiest.counted,
        "minutes": repository().rules.view_repeat // 60,
    }
