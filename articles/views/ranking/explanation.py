"""Why an article is where it is, as its page tells it."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from articles import charts
from articles.charts import Chart, History
from articles.domain.articles import Article
from articles.domain.errors import ArticlesError
from articles.domain.explanation import DECAY_HOURS, Explanation, GroupPlace, HotnessParts, Place, Sample
from articles.views.ranking import chart_labels
from articles.wiring import repository

_log = logging.getLogger(__name__)

_FEWEST_DRAWN = 3  # samples


@dataclass(frozen=True, slots=True)
class PlaceInList:
    """A place with the list's name, and the address of the page of it that shows the article."""

    name: str
    rank: int
    of: int
    address: str


@dataclass(frozen=True, slots=True)
class Past:
    """Places in one list over time, drawn, with the points for the first list; the best and the last place."""

    name: str
    drawn: History
    best: int
    last: int

    @property
    def may_be_drawn(self) -> bool:
        """Whether there are samples enough for a line that says more than the sentence."""
        return len(self.drawn.rows) >= _FEWEST_DRAWN

    @property
    def places(self) -> list[tuple[str, ...]]:
        """The table's rows, without the points."""
        return [row[:2] for row in self.drawn.rows]


@dataclass(frozen=True, slots=True)
class Why:
    """An explanation with what the page draws."""

    found: Explanation
    places: Sequence[PlaceInList]
    decay: Chart | None
    """None where nobody viewed it, so that nothing falls."""

    later: float
    """Its hotness at the end of the decay."""

    past: SafeString
    """Its history, drawn."""


def why(article: Article) -> dict[str, Why | None]:
    """What the article's page tells of its places; None if it is removed, and if it cannot be told just now."""
    try:
        return {"why": None if article.removed is not None else _why(repository().explanations.get(article))}
    except ArticlesError as error:  # readers get the page without
        _log.warning("article %d not explained: %s: %s", article.id, type(error).__name__, error)
        return {"why": None}


def _why(found: Explanation) -> Why:
    return Why(
        found,
        list(_places(found)),
        _decay(found.hotness) if found.hotness.value else None,
        found.hotness.after(DECAY_HOURS),
        _drawn(found.history, get_language()),
    )


def _places(found: Explanation) -> Iterator[PlaceInList]:
    def there(name: str, place: Place | GroupPlace, address: str) -> PlaceInList:
        page = -(-place.rank // repository().rules.per_page)
        query = f"?page={page}" if page > 1 else ""
        return PlaceInList(name, place.rank, place.of, f"{address}{query}#article-{found.article_id}")

    yield there(_("Front page"), found.front, reverse("articles:front"))
    for group in found.groups:
        yield there(group.title, group, reverse("articles:group", args=[group.slug]))
    if found.hot:
        yield there(_("Hot list"), found.hot, reverse("articles:hot"))


def _decay(hotness: HotnessParts) -> Chart:
    return charts.decay_curve(
        [(_("Hotness"), hotness.after)],
        DECAY_HOURS,
        hour_label=chart_labels.hours,
        value_label=chart_labels.number,
    )


@lru_cache(maxsize=100)
def _drawn(samples: tuple[Sample, ...], _language: str | None) -> SafeString:
    """The history as a part of the page: the same for everyone until the next sample, so it is drawn once."""
    return SafeString(render_to_string("ranking/rank_history.html", {"pasts": list(_pasts(samples))}))


def _pasts(samples: Sequence[Sample]) -> Iterator[Past]:
    """Of the lists in which it was among the first."""
    drawn_points = False
    for name, ranks in (
        (_("On the front page"), [sample.rank for sample in samples]),
        (_("On the hot list"), [sample.hot_rank for sample in samples]),
    ):
        known = [rank for rank in ranks if rank is not None]
        if known:
            points = [None if drawn_points else sample.points for sample in samples]
            yield Past(name, _history(samples, ranks, points), min(known), known[-1])
            drawn_points = True


def _history(samples: Sequence[Sample], ranks: Sequence[int | None], points: Sequence[int | None]) -> History:
    return charts.history(
        zip((sample.at for sample in samples), ranks, points, strict=True),
        zone=chart_labels.zone(),
        time_label=chart_labels.clock_or_day,
        when_label=chart_labels.when,
        value_label=chart_labels.number,
    )
