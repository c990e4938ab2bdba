"""The view model of the ranking lab: figures and proposals in the reader's language."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from django.utils.translation import gettext as _, ngettext

from articles.charts.plots import decay_curve
from articles.charts.shapes import Chart
from articles.domain import ranking
from articles.domain.articles import Article
from articles.domain.lists import Order
from articles.domain.ranking import RANGES, Parameters
from articles.formatting.values import decimal, grouped, parameter_name
from articles.repository import Preview, RankingChange, RankingState, Repository
from articles.views.ranking import chart_labels
from extras.lab import formulas
from extras.lab.forms import ApplyForm, LabForm, plain

_EXAMPLE_VOTES = 200  # number of votes whose worth is shown in days
_RECENT = 20  # number of versions in the history before the older ones, which are folded


class Figure(NamedTuple):
    """A value by which both sets of parameters are compared."""

    name: str
    current: str
    chosen: str


class Row(NamedTuple):
    """An article in one of the two lists."""

    article: Article
    rank: int
    move: formulas.Move | None = None
    leaves: bool = False  # whether the other list does not have it


class Version(NamedTuple):
    """A version of the parameters, with its changes."""

    entry: RankingChange
    changes: Sequence[str]
    values: str
    may_return: bool


def query_of(parameters: Parameters, order: Order) -> dict[str, str]:
    """Return the query of the lab's address for these parameters and this list."""
    return {"list": order.value} | {name: plain(value) for name, value in asdict(parameters).items()}


def lab_context(
    repo: Repository, form: LabForm, apply_form: ApplyForm | None, suggested: Parameters | None
) -> dict[str, Any]:
    """Return the context of the template; its outcome is None if the form is invalid."""
    tuning, valid = repo.parameters.get_state(), form.is_valid()
    chosen = form.parameters if valid else tuning.parameters
    return {
        "form": form,
        "apply_form": _with_version(apply_form, tuning.version),
        "tuning": tuning,
        "outcome": _outcome(repo, tuning, chosen, form.order) if valid else None,
        "weight_proposal": _weight_proposal(repo),
        "follows": repo.rules.votes_per_day is None and not tuning.is_chosen,
        "may_follow": repo.rules.votes_per_day is None,
        "weight": ranking,
        "half_lives": formulas.half_life_proposals(chosen),
        "chosen": chosen,
        "suggested": suggested,
        "versions": _versions(repo.parameters.list_changes(), tuning),
        "recent": _RECENT,
        "order": form.order,
        "query_of": query_of,
        "number": chart_labels.number,
        "hours": hours_in_words,
        "half_life": ranking.half_life,
    }


def _with_version(form: ApplyForm | None, version: int) -> ApplyForm:
    """Return the form with the current version and the submitted reason."""
    if form is None:
        return ApplyForm(initial={"version": version})
    form.data = {"reason": form.data.get("reason", ""), "version": str(version)}
    return form


def _weight_proposal(repo: Repository) -> dict[str, int] | None:
    """Return the votes per day that fit the site, and the number of articles that they are derived from."""
    recent = repo.weights.get_recent()
    votes_per_day = ranking.fitting_votes_per_day(recent)
    return None if votes_per_day is None else {"votes_per_day": votes_per_day, "articles": len(recent.points)}


def _outcome(repo: Repository, tuning: RankingState, chosen: Parameters, order: Order) -> dict[str, Any]:
    """Return the effect of the chosen parameters on a list. `inputs`: these, as inputs take them."""
    preview = repo.previews.get(order, chosen, formulas.TOP)
    other = _rows(preview)
    before, current = {row.article.id for row in other}, tuning.parameters
    chart, chart_description = _curves(current, chosen)
    return {
        "order": order,
        "changes": list(change_words(current, chosen)),
        "at": preview.at,
        "current": [Row(a, rank, leaves=a.id not in before) for rank, a in enumerate(preview.current, 1)],
        "other": other,
        "moved": sum(row.move is None or row.move.before != row.rank for row in other),
        "figures": list(_figures(current, chosen, preview)),
        "chart": chart,
        "chart_description": chart_description,
        "inputs": {name: plain(value) for name, value in asdict(chosen).items()},
    }


def _rows(preview: Preview) -> list[Row]:
    moves = formulas.moves([a.id for a in preview.current], [a.id for a in preview.other])
    return [Row(a, move.rank, move) for a, move in zip(preview.other, moves, strict=True)]


def _figures(current: Parameters, chosen: Parameters, preview: Preview) -> Iterator[Figure]:
    both = (current, chosen)
    yield Figure(_("Seconds per point"), *(_seconds(p.seconds_per_point) for p in both))
    yield Figure(
        _("%(votes)s votes are worth") % {"votes": grouped(_EXAMPLE_VOTES)},
        *(days_in_words(_EXAMPLE_VOTES / p.votes_per_day) for p in both),
    )
    yield Figure(_("Half-life of hotness"), *(hours_in_words(ranking.half_life(p)) for p in both))
    shares = [
        formulas.share_older_than_a_day(articles, preview.at) for articles in (preview.current, preview.other)
    ]
    yield Figure(
        _("Older than a day, among the first %(top)s") % {"top": grouped(formulas.TOP)},
        *("–" if share is None else _percent(grouped(round(100 * share))) for share in shares),
    )


def _percent(number: str) -> str:
    return _("%(percent)s%%") % {"percent": number}


def _seconds(value: float) -> str:
    """Return the seconds of a point, to a tenth if they are not integral."""
    return decimal(value, 0 if round(value, 1) == int(value) else 1)


def hours_in_words(value: float) -> str:
    """Return hours with three significant digits; fractions take the plural."""
    whole = int(value) if value == int(value) else 2
    return ngettext("%(n)s hour", "%(n)s hours", whole) % {"n": chart_labels.number(value)}


def days_in_words(value: float) -> str:
    """Return days with three significant digits; fractions take the plural."""
    whole = int(value) if value == int(value) else 2
    return ngettext("%(n)s day", "%(n)s days", whole) % {"n": chart_labels.number(value)}


def _curves(current: Parameters, chosen: Parameters) -> tuple[Chart, str]:
    """Return a chart of the remaining hotness with both sets of parameters, and its description."""
    settings = [(_("Current"), current)]
    if (current.base, current.gamma) != (chosen.base, chosen.gamma):
        settings.append((_("Chosen"), chosen))
    chart = decay_curve(
        [(name, formulas.remaining(parameters)) for name, parameters in settings],
        formulas.curve_hours(*(parameters for _name, parameters in settings)),
        hour_label=chart_labels.hours,
        value_label=lambda value: _percent(chart_labels.number(value)),
    )
    half_lives = {
        "current": hours_in_words(ranking.half_life(current)),
        "chosen": hours_in_words(ranking.half_life(chosen)),
    }
    if len(settings) == 1:
        return chart, _("Without new views, an article’s hotness halves in %(current)s.") % half_lives
    return (
        chart,
        _(
            "Without new views, hotness halves in %(current)s with the current parameters and in "
            "%(chosen)s with the chosen ones."
        )
        % half_lives,
    )


def change_words(before: Parameters, after: Parameters) -> Iterator[str]:
    """Yield each parameter that differs, as in "α 1 → 1.5"."""
    for name, values in formulas.changes(before, after).items():
        old, new = (_value(value) for value in values)
        yield f"{parameter_name(name)} {old} → {new}"


def _value(value: float) -> str:
    """Return a value in full precision, with the language's separators."""
    text = plain(value)
    return decimal(text, len(text.partition(".")[2]))


def _versions(history: Sequence[RankingChange], tuning: RankingState) -> list[Version]:
    older = [*(entry.parameters for entry in history[1:]), None]
    return [
        Version(
            entry,
            list(change_words(before, entry.parameters)) if before else [],
            " · ".join(f"{parameter_name(name)} {_value(getattr(entry.parameters, name))}" for name in RANGES),
            entry.parameters != tuning.parameters,
        )
        for entry, before in zip(history, older, strict=True)
    ]
