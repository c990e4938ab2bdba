"""What the lab's page shows: figures and proposals as words of the reader's language."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from articles.charts import Chart, decay_curve
from articles.domain import lab, ranking, weight
from articles.domain.articles import Article
from articles.domain.lists import Order
from articles.domain.ranking import RANGES, Parameters
from articles.formatting.values import decimal, grouped
from articles.forms.lab import ApplyForm, LabForm, plain
from articles.repository import Preview, RankingChange, RankingState, Repository
from articles.views.ranking import chart_labels

_EXAMPLE = 200
"""Votes that are told in days."""

_RECENT = 20
"""Versions of the history that are shown at once."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing both settings are compared by."""

    name: str
    in_force: str
    chosen: str


@dataclass(frozen=True, slots=True)
class Row:
    """An article in one of the two lists."""

    article: Article
    rank: int
    move: lab.Move | None = None
    leaves: bool = False
    """Whether the other list does not have it any more."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the chosen parameters would make of a list."""

    order: Order
    chosen: Parameters
    changes: Sequence[str]
    at: float
    in_force: Sequence[Row]
    other: Sequence[Row]
    moved: int
    """How many of the other list stand elsewhere."""

    figures: Sequence[Figure]
    chart: Chart
    chart_told: str
    values: dict[str, str]
    """Of the chosen parameters, by name."""


@dataclass(frozen=True, slots=True)
class WeightProposal:
    """Votes per day that fit the site, and how many articles say so."""

    votes_per_day: int
    articles: int


@dataclass(frozen=True, slots=True)
class Version:
    """Parameters that were in force, with what they changed."""

    entry: RankingChange
    changes: Sequence[str]
    values: str
    may_return: bool


def query_of(parameters: Parameters, order: Order) -> dict[str, str]:
    """The lab's address for these, as the form takes it."""
    return {"list": order.value} | {name: plain(value) for name, value in asdict(parameters).items()}


def lab_context(
    found: Repository, form: LabForm, apply_form: ApplyForm | None, suggested: Parameters | None
) -> dict[str, Any]:
    """What the template takes; without an outcome where the form is not valid."""
    tuning, valid = found.parameters.get_state(), form.is_valid()
    chosen = form.parameters if valid else tuning.parameters
    return {
        "form": form,
        "apply_form": _with_version(apply_form, tuning.version),
        "tuning": tuning,
        "outcome": _outcome(found, tuning, chosen, form.order) if valid else None,
        "weight_proposal": _weight_proposal(found),
        "follows": found.rules.votes_per_day is None and not tuning.is_chosen,
        "may_follow": found.rules.votes_per_day is None,
        "weight": weight,
        "half_lives": lab.half_life_proposals(chosen),
        "chosen": chosen,
        "suggested": suggested,
        "versions": _versions(found.parameters.list_changes(), tuning),
        "recent": _RECENT,
        "order": form.order,
        "query_of": query_of,
        "number": chart_labels.number,
        "hours": hours_in_words,
        "half_life": ranking.half_life,
    }


def _with_version(form: ApplyForm | None, version: int) -> ApplyForm:
    """The form with the version that is in force now, and what was typed into it."""
    if form is None:
        return ApplyForm(initial={"version": version})
    form.data = {"reason": form.data.get("reason", ""), "version": str(version)}
    return form


def _weight_proposal(found: Repository) -> WeightProposal | None:
    recent = found.weights.get_recent()
    votes_per_day = weight.fitting_votes_per_day(recent)
    return None if votes_per_day is None else WeightProposal(votes_per_day, len(recent.points))


def _outcome(found: Repository, tuning: RankingState, chosen: Parameters, order: Order) -> Outcome:
    preview = found.previews.get(order, chosen, lab.TOP)
    other = _rows(preview)
    before, in_force = {row.article.id for row in other}, tuning.parameters
    chart, told = _curves(in_force, chosen)
    return Outcome(
        order,
        chosen,
        list(change_words(in_force, chosen)),
        preview.at,
        [Row(a, rank, leaves=a.id not in before) for rank, a in enumerate(preview.in_force, 1)],
        other,
        sum(row.move is None or row.move.before != row.rank for row in other),
        list(_figures(in_force, chosen, preview)),
        chart,
        told,
        {name: plain(value) for name, value in asdict(chosen).items()},
    )


def _rows(preview: Preview) -> list[Row]:
    moves = lab.moves([a.id for a in preview.in_force], [a.id for a in preview.other])
    return [Row(a, move.rank, move) for a, move in zip(preview.other, moves, strict=True)]


def _figures(in_force: Parameters, chosen: Parameters, preview: Preview) -> Iterator[Figure]:
    both = (in_force, chosen)
    yield Figure(_("Seconds per point"), *(_seconds(one.seconds_per_point) for one in both))
    yield Figure(
        _("%(votes)s votes are worth") % {"votes": grouped(_EXAMPLE)},
        *(days_in_words(_EXAMPLE / one.votes_per_day) for one in both),
    )
    yield Figure(_("Half-life of hotness"), *(hours_in_words(ranking.half_life(one)) for one in both))
    shares = [lab.share_older_than_a_day(articles, preview.at) for articles in (preview.in_force, preview.other)]
    yield Figure(
        _("Of the first %(top)s, older than a day") % {"top": grouped(lab.TOP)},
        *("–" if share is None else _percent(grouped(round(100 * share))) for share in shares),
    )


def _percent(number: str) -> str:
    return _("%(percent)s %%") % {"percent": number}


def _seconds(value: float) -> str:
    """Seconds of a point, to a tenth where they are not whole."""
    return decimal(value, 0 if round(value, 1) == int(value) else 1)


def hours_in_words(value: float) -> str:
    """Hours with three digits that count; a fraction is never one hour."""
    whole = int(value) if value == int(value) else 2
    return ngettext("%(n)s hour", "%(n)s hours", whole) % {"n": chart_labels.number(value)}


def days_in_words(value: float) -> str:
    """Days with three digits that count; a fraction is never one day."""
    whole = int(value) if value == int(value) else 2
    return ngettext("%(n)s day", "%(n)s days", whole) % {"n": chart_labels.number(value)}


def _curves(in_force: Parameters, chosen: Parameters) -> tuple[Chart, str]:
    """What is left of an article's hotness by both settings, and the same in a sentence."""
    settings = [(_("In force"), in_force)]
    if (in_force.base, in_force.gamma) != (chosen.base, chosen.gamma):
        settings.append((_("Chosen"), chosen))
    chart = decay_curve(
        [(name, lab.remaining(one)) for name, one in settings],
        lab.curve_hours(*(one for _name, one in settings)),
        hour_label=chart_labels.hours,
        value_label=lambda value: _percent(chart_labels.number(value)),
    )
    told = {
        "in_force": hours_in_words(ranking.half_life(in_force)),
        "chosen": hours_in_words(ranking.half_life(chosen)),
    }
    if len(settings) == 1:
        return chart, _("Without new views an article's hotness halves in %(in_force)s.") % told
    return (
        chart,
        _("Without new views it halves in %(in_force)s with what is in force, in %(chosen)s with what is chosen.")
        % told,
    )


def parameter_name(name: str) -> str:
    """What readers know a parameter by."""
    words = {"votes_per_day": _("votes per day"), "base": _("base"), "alpha": "α", "beta": "β", "gamma": "γ"}
    return words[name]


def change_words(before: Parameters, after: Parameters) -> Iterator[str]:
    """The parameters that differ: "α 1 → 1.5"."""
    for name, values in lab.changes(before, after).items():
        old, new = (_value(value) for value in values)
        yield f"{parameter_name(name)} {old} → {new}"


def _value(value: float) -> str:
    """To the last digit, with the language's separators."""
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
