"""The ranking lab: other parameters tried out on the live lists, put in force, taken back."""

from dataclasses import replace
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.web import unsent_form
from accounts.web.form_pages import form_action
from articles.domain import lab as working_out
from articles.domain.errors import ChangeRunning, ParametersChanged
from articles.domain.moderation import Actor
from articles.domain.ranking import Parameters, out_of_range
from articles.domain.weight import fitting_votes_per_day
from articles.formatting.values import age, grouped
from articles.forms.lab import ApplyForm, LabForm, RollbackForm
from articles.repository import RankingState, Repository
from articles.text.lines import REASON_LIMIT
from articles.views.ranking.lab_page import lab_context, query_of
from articles.web.identity import actor, needs
from articles.wiring import repository

PATIENCE = 5.0
"""Seconds that applying may take within a request; housekeeping ends what takes longer."""

_A_LITTLE = 0.2
"""Seconds for which looking at the lab goes on with what is being applied."""


@never_cache
@require_safe
@needs("articles.tune_ranking")
def lab(request: HttpRequest) -> HttpResponse:
    found = repository()
    if found.parameters.get_state().applying and found.parameters.advance(_A_LITTLE):
        messages.success(request, _("The parameters are in force."))
        return redirect(request.get_full_path())
    in_force = found.parameters.get_current()
    form = LabForm(request.GET, in_force)
    suggested, note = None, ""
    if form.is_valid() and (hours := form.cleaned_data["half_life"]):
        if reached := working_out.with_half_life(hours, form.parameters):
            form = LabForm(query_of(reached, form.order), in_force)
            note = _("γ was set to the value that halves hotness in the time you wish.")
        else:
            suggested = working_out.with_half_life_and_base(hours, form.parameters)
            form.add_error("half_life", _("No γ within its range reaches this half-life with this base."))
    return _page(request, form, suggested=suggested, note=note)


def _page_of_values(request: HttpRequest) -> str:
    """The lab with the values of the form that came."""
    values = {name: value for name, value in unsent_form.sent(request).items() if name in LabForm.base_fields}
    return f"{reverse('articles:lab')}{'?' if values else ''}{urlencode(values)}"


def _words_of_applying(request: HttpRequest) -> str:
    reason = unsent_form.sent(request).get("reason", "").strip()[:REASON_LIMIT]
    return _("Apply to the whole site: “%(reason)s”") % {"reason": reason}


@never_cache
@form_action(page=_page_of_values, button=_words_of_applying)
@needs("articles.tune_ranking", carries=["reason"])
def apply(request: HttpRequest) -> HttpResponse:
    """Put the chosen parameters in force."""
    found = repository()
    state = found.parameters.get_state()
    form, apply_form = LabForm(request.POST, state.parameters), ApplyForm(request.POST)
    if not (form.is_valid() and apply_form.is_valid()):
        if "version" in apply_form.errors:
            apply_form.add_error(
                None, _("This form is incomplete. Please look at the values and apply them again.")
            )
        return _page(request, form, apply_form)
    version, reason = apply_form.cleaned_data["version"], apply_form.cleaned_data["reason"]
    if _is_begun(found, state, form.parameters, version, actor(request), reason):
        return _go_on(request, found, urlencode({"list": form.order.value}))
    if form.parameters == state.parameters and version == state.version and not state.applying:
        apply_form.add_error(None, _("These parameters are in force already."))
        return _page(request, form, apply_form)
    if refusal := _begin(found, form.parameters, version, actor(request), reason):
        apply_form.add_error(None, refusal)
        return _page(request, form, apply_form, status=409)
    return _go_on(request, found, urlencode({"list": form.order.value}))


def _words_of_return(request: HttpRequest) -> str:
    number = unsent_form.sent(request).get("to", "")
    return _("Go back to version %(number)s") % {"number": number} if number.isdigit() else _("Go back")


@never_cache
@form_action(page=lambda _request: reverse("articles:lab"), button=_words_of_return)
@needs("articles.tune_ranking")
def rollback(request: HttpRequest) -> HttpResponse:
    """Put the parameters of an earlier version in force again."""
    found, form = repository(), RollbackForm(request.POST)
    if not form.is_valid():
        return _refused(request, _("This form is incomplete. Please try again."), 400)
    history, version = found.parameters.list_changes(), form.cleaned_data["version"]
    wanted = form.cleaned_data["to"] or next((entry.version for entry in history[1:]), None)
    entry = next((entry for entry in history if entry.version == wanted), None)
    if entry is None:
        return _refused(request, _("There is no such version to go back to."), 400)
    state = found.parameters.get_state()
    if entry.parameters == state.parameters and version == state.version and not state.applying:
        return _refused(request, _("These parameters are in force already."), 400)
    if out_of_range(entry.parameters):
        return _refused(request, _("The parameters of that version are outside today's ranges."), 400)
    reason = _("Back to version %(number)s") % {"number": grouped(entry.version)}
    if refusal := _begin(found, entry.parameters, version, actor(request), reason):
        return _refused(request, refusal, 409)
    return _go_on(request, found)


@never_cache
@form_action(page=lambda _request: reverse("articles:lab"), button=lambda _request: _("Adjust automatically"))
@needs("articles.tune_ranking")
def follow(request: HttpRequest) -> HttpResponse:
    """Let the weight of a vote follow the site again, instead of the one that moderators chose."""
    found, form = repository(), RollbackForm(request.POST)
    if not form.is_valid() or found.rules.votes_per_day is not None:
        return _refused(request, _("This form is incomplete. Please try again."), 400)
    state = found.parameters.get_state()
    fitting = fitting_votes_per_day(found.weights.get_recent()) or state.parameters.votes_per_day
    wanted, version = replace(state.parameters, votes_per_day=fitting), form.cleaned_data["version"]
    reason = _("Votes per day follow the site again")
    if _is_begun(found, state, wanted, version, actor(request), reason):
        return _go_on(request, found)
    if refusal := _begin(found, wanted, version, actor(request), reason, is_chosen=False):
        return _refused(request, refusal, 409)
    return _go_on(request, found)


def _is_begun(
    found: Repository, state: RankingState, parameters: Parameters, version: int, who: Actor, reason: str
) -> bool:
    """Whether this very form has put these parameters in force, or begun to: it arrived twice."""
    if state.applying:
        return (state.version, state.applying.parameters) == (version, parameters)
    latest = found.parameters.list_changes()[0]
    done = (latest.version, latest.parameters, latest.actor_name, latest.reason)
    return done == (version + 1, parameters, who.name, reason)


def _begin(
    found: Repository,
    parameters: Parameters,
    version: int,
    who: Actor,
    reason: str,
    is_chosen: bool | None = None,
) -> str:
    """Begin to put parameters in force; returns why that is refused, empty if it is not."""
    try:
        found.parameters.apply(parameters, expected=version, actor=who, reason=reason, is_chosen=is_chosen)
    except ParametersChanged:
        return _who_was_faster(found)
    except ChangeRunning:
        return _what_is_running(found)
    return ""


def _who_was_faster(found: Repository) -> str:
    latest = found.parameters.list_changes()[0]
    told = {"name": latest.actor_name, "when": age(latest.at), "reason": latest.reason}
    if latest.learnt_from:
        return _("Meanwhile the site has adjusted its votes per day (%(when)s). Nothing was changed.") % told
    if not latest.actor_name:
        return _("The configuration has put other parameters in force meanwhile (%(when)s): “%(reason)s”.") % told
    return (
        _("%(name)s has put other parameters in force meanwhile (%(when)s): “%(reason)s”. Nothing was changed.")
        % told
    )


def _what_is_running(found: Repository) -> str:
    applying = found.parameters.get_state().applying
    done, total = (applying.done, applying.total) if applying else (0, 0)
    told = {"done": grouped(done), "total": grouped(total)}
    return (
        _("Another change is being applied: %(done)s of %(total)s articles are scored. Yours was not begun.")
        % told
    )


def _go_on(request: HttpRequest, found: Repository, query: str = "") -> HttpResponse:
    if found.parameters.advance(PATIENCE):
        messages.success(request, _("The parameters are in force."))
    return redirect(f"{reverse('articles:lab')}{'?' if query else ''}{query}")


def _refused(request: HttpRequest, refusal: str, status: int) -> HttpResponse:
    """The lab as it is, with what was refused."""
    form = LabForm({}, repository().parameters.get_current())
    return _page(request, form, refusal=refusal, status=status)


def _page(
    request: HttpRequest,
    form: LabForm,
    apply_form: ApplyForm | None = None,
    *,
    suggested: Parameters | None = None,
    note: str = "",
    refusal: str = "",
    status: int = 200,
) -> HttpResponse:
    """The lab; 400 where a form has errors and nothing else is said. `suggested` reaches the wished half-life."""
    context = lab_context(repository(), form, apply_form, suggested)
    unsent_form.refill(request, context["apply_form"])
    faulty = form.errors or (apply_form and apply_form.errors)
    status = 400 if faulty and status == 200 else status
    return render(request, "ranking/lab.html", context | {"note": note, "refusal": refusal}, status=status)
