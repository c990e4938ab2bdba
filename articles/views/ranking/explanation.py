"""The explanation of an article's rank, and its page."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext as _, ngettext
from django.views.decorators.http import require_safe

from articles.charts import plots
from articles.charts.plots import History
from articles.charts.shapes import Chart
from articles.configuration.choices import chosen
from articles.domain import explanation as explaining
from articles.domain.articles import Article
from articles.domain.lists import SearchOrder
from articles.formatting.values import age, grouped, prose
from articles.text.searching import read_query
from articles.views.lists.search import search_address, typed_words
from articles.views.ranking import chart_labels
from articles.web.caching import unlisted
from articles.web.identity import reader_id
from articles.web.limits import take
from articles.web.wiring import finder, repository

_MIN_SAMPLES_DRAWN = 3


class PlaceInList(NamedTuple):
    """A rank in a list, with the name of the list and the address of the page that shows the article."""

    name: str
    rank: int
    of: int
    address: str


class Past(NamedTuple):
    """Ranks in one list over time, the best and the last; `drawn` has the points too for the first list."""

    name: str
    drawn: History
    best: int
    last: int

    @property
    def may_be_drawn(self) -> bool:
        """Return whether there are enough samples for a line that adds to the sentence."""
        return len(self.drawn.rows) >= _MIN_SAMPLES_DRAWN

    @property
    def places(self) -> list[tuple[str, ...]]:
        """Return the rows of the table, without the points."""
        return [row[:2] for row in self.drawn.rows]


class Why(NamedTuple):
    """An explanation, with its charts and links."""

    explanation: explaining.Explanation
    sentence: str  # the explanation in short
    places: Sequence[PlaceInList]
    decay: Chart | None  # None without views, as there is no hotness to fall
    later: float  # the hotness at the end of the decay
    past: SafeString  # the history as HTML
    found: explaining.Relevance | explaining.Unfound | None  # its place in a search; None without one
    searched: str = ""
    results: str = ""  # address of the results of the search

    @property
    def has_probation(self) -> bool:
        """Whether votes of new members wait on this site."""
        return bool(chosen.PROBATION)

    @property
    def matches(self) -> Iterator[tuple[str, str, float]]:
        """Yield the terms of the search that match, each with where it does, and what that counts."""
        if isinstance(self.found, explaining.Relevance):
            for term, where, how, value in self.found.matches:
                if value:
                    yield _("“%(title)s”") % {"title": term}, _place_of(where, how), value


def why(article: Article, searched: str = "") -> Why:
    """Return the explanation of an article that is not removed, and of its place in a search."""
    explanation = repository().explanations.get(article)
    return Why(
        explanation,
        _sentence(explanation),
        list(_places(explanation)),
        _decay(explanation.hotness) if explanation.hotness.value else None,
        explanation.hotness.after(explaining.DECAY_HOURS),
        _history_html(explanation.history, get_language()),
        finder().explain(repository(), read_query(searched), article) if searched else None,
        searched,
        search_address(searched, SearchOrder.RELEVANCE, None),
    )


def _place_of(where: explaining.Where, how: explaining.How) -> str:
    """Return where and how a term of a search matches, in words."""
    place = {
        explaining.Where.TITLE: _("in the title"),
        explaining.Where.TEXT: _("in the text"),
        explaining.Where.NAMES: _("in the host or the poster’s name"),
        explaining.Where.GROUP: _("is the name of one of its groups"),
        explaining.Where.FILTER: _("a filter"),
    }[where]
    if where in (explaining.Where.GROUP, explaining.Where.FILTER) or how is explaining.How.EXACT:
        return place
    text = (
        _("%(place)s, by its stem") if how is explaining.How.FORM else _("%(place)s, as the beginning of a word")
    )
    return text % {"place": place}


def _sentence(explanation: explaining.Explanation) -> str:
    score, rank = explanation.score, grouped(explanation.front.rank)
    ago = age(score.posted_at)
    if not (score.votes or score.opposes):
        text = _("Number %(rank)s on the front page: no votes yet, posted %(ago)s.")
        return prose(text % {"rank": rank, "ago": ago})
    shown = score.votes - score.opposes
    points = ngettext("%(points)s point", "%(points)s points", abs(shown))
    numbers = _("%(votes)s for, %(opposes)s against")
    text = _("Number %(rank)s on the front page with %(points)s: %(numbers)s, posted %(ago)s.") % {
        "rank": rank,
        "points": points % {"points": grouped(shown)},
        "numbers": numbers % {"votes": grouped(score.votes), "opposes": grouped(score.opposes)},
        "ago": ago,
    }
    if excluded := score.left_out_choices - score.waiting:
        text += " " + ngettext(
            "%(num)s vote is excluded from ranking.", "%(num)s votes are excluded from ranking.", excluded
        ) % {"num": grouped(excluded)}
    if score.waiting:
        text += " " + ngettext(
            "%(num)s vote by a new member doesn’t affect ranking yet.",
            "%(num)s votes by new members don’t affect ranking yet.",
            score.waiting,
        ) % {"num": grouped(score.waiting)}
    return prose(text)


def _places(explanation: explaining.Explanation) -> Iterator[PlaceInList]:
    def place_in_list(name: str, place: explaining.Place | explaining.GroupPlace, address: str) -> PlaceInList:
        page = -(-place.rank // repository().rules.per_page)
        query = f"?page={page}" if page > 1 else ""
        return PlaceInList(name, place.rank, place.of, f"{address}{query}#article-{explanation.article_id}")

    yield place_in_list(_("Front page"), explanation.front, reverse("articles:front"))
    for group in explanation.groups:
        yield place_in_list(group.title, group, reverse("articles:group", args=[group.slug]))
    if explanation.hot:
        yield place_in_list(_("Hot list"), explanation.hot, reverse("articles:hot"))


def _decay(hotness: explaining.HotnessParts) -> Chart:
    return plots.decay_curve(
        [(_("Hotness"), hotness.after)],
        explaining.DECAY_HOURS,
        hour_label=chart_labels.hours,
        value_label=chart_labels.number,
    )


@lru_cache(maxsize=100)
def _history_html(samples: tuple[explaining.Sample, ...], _language: str | None) -> SafeString:
    """Return the history as HTML. All readers get the same until the next sample, so it is cached."""
    drawn = render_to_string("ranking/rank_history.html", {"pasts": list(_pasts(samples))})
    return SafeString(drawn)  # nosec B703 # a template, which escapes


def _pasts(samples: Sequence[explaining.Sample]) -> Iterator[Past]:
    """Yield the ranks in each list that has samples of the article."""
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


def _history(
    samples: Sequence[explaining.Sample], ranks: Sequence[int | None], points: Sequence[int | None]
) -> History:
    return plots.history(
        zip((sample.at for sample in samples), ranks, points, strict=True),
        zone=chart_labels.zone(),
        time_label=chart_labels.clock_or_day,
        when_label=chart_labels.when,
        value_label=chart_labels.number,
    )


@require_safe
def page(request: HttpRequest, article_id: int) -> HttpResponse:
    """Return the page that explains the article's rank, and its place in a search for `?q=`. No view of it."""
    repo, searched = repository(), typed_words(request)
    if searched:
        take(request, "search")
    article = repo.articles.get(article_id, reader_id(request))
    article.check_listed()
    return unlisted(
        render(request, "ranking/explanation.html", {"article": article, "why": why(article, searched)})
    )
