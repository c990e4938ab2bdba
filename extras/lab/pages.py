"""The ranking lab: preview other parameters on the live lists, apply them, and roll back."""

from dataclasses import replace
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _, gettext_lazy

from accounts.moderators import TUNE_RANKING
from accounts.web import sent_forms
from accounts.web.form_pages import private_act, private_page, show_next
from articles.domain.errors import ChangeRunning, ParametersChanged
from articles.domain.moderation_log import Actor
from articles.domain.ranking import Parameters, fitting_votes_per_day, out_of_range
from articles.formatting.values import age, as_shown, grouped
from articles.repository import RankingState, Repository
from articles.text.lines import REASON_LIMIT
from articles.web.identity import actor, needs
from articles.web.wiring import repository
from extras.lab import formulas
from extras.lab.forms import ApplyForm, LabForm, RollbackForm
from extras.lab.page import lab_context, query_of

PATIENCE = 5.0  # seconds for which a request applies parameters; housekeeping finishes longer changes
_VIEW_PATIENCE = 0.2  # seconds for which a view of the lab continues a change that is being applied


@private_page(needs(TUNE_RANKING))
def lab(request: HttpRequest) -> HttpResponse:
    repo = repository()
    if repo.parameters.get_state().applying and repo.parameters.advance(_VIEW_PATIENCE):
        return show_next(request, _("The parameters have been applied."), request.get_full_path())
    current = repo.parameters.get_current()
    form = LabForm(request.GET, current)
    suggested, note = None, ""
    if form.is_valid() and (hours := form.cleaned_data["half_life"]):
        if reached := formulas.with_half_life(hours, form.parameters):
            form = LabForm(query_of(reached, form.order), current)
            note = _("γ was set so that hotness halves in the target time.")
        else:
            suggested = formulas.with_half_life_and_base(hours, form.parameters)
            form.add_error("half_life", _("No γ within its range reaches this half-life with this base."))
    return _page(request, form, suggested=suggested, note=note)


def _address_with_values(request: HttpRequest) -> str:
    """Return the address of the lab with the values of the submitted form."""
    values = {name: value for name, value in sent_forms.sent(request).items() if name in LabForm.base_fields}
    return f"{reverse('articles:lab')}{'?' if values else ''}{urlencode(values)}"


def _apply_label(request: HttpRequest) -> str:
    reason = sent_forms.sent(request).get("reason", "").strip()[:REASON_LIMIT]
    return _("Apply to the whole site: “%(reason)s”") % {"reason": reason}


@private_act(needs(TUNE_RANKING, carries=["reason"]), page=_address_with_values, button=_apply_label)
def apply(request: HttpRequest) -> HttpResponse:
    """Apply the chosen parameters."""
    repo = repository()
    state = repo.parameters.get_state()
    form, apply_form = LabForm(request.POST, state.parameters), ApplyForm(request.POST)
    if not (form.is_valid() and apply_form.is_valid()):
        if "version" in apply_form.errors:
            apply_form.add_error(None, _("This form is incomplete. Please check the values and apply them again."))
        return _page(request, form, apply_form)
    version, reason = apply_form.cleaned_data["version"], apply_form.cleaned_data["reason"]
    if _is_resubmitted(repo, state, form.parameters, version, actor(request), reason):
        return _continue_applying(request, repo, urlencode({"list": form.order.value}))
    if form.parameters == state.parameters and version == state.version and not state.applying:
        apply_form.add_error(None, _("These parameters have already been applied."))
        return _page(request, form, apply_form)
    if refusal := _begin(repo, form.parameters, version, actor(request), reason):
        apply_form.add_error(None, refusal)
        return _page(request, form, apply_form, status=409)
    return _continue_applying(request, repo, urlencode({"list": form.order.value}))


def _rollback_label(request: HttpRequest) -> str:
    number = sent_forms.sent(request).get("to", "")
    return _("Revert to version %(number)s") % {"number": number} if number.isdigit() else _("Revert")


@private_act(needs(TUNE_RANKING), page="articles:lab", button=_rollback_label)
def rollback(request: HttpRequest) -> HttpResponse:
    """Apply the parameters of an earlier version."""
    repo, form = repository(), RollbackForm(request.POST)
    if not form.is_valid():
        return _refused(request, _("This form is incomplete. Please try again."), 400)
    history, version = repo.parameters.list_changes(), form.cleaned_data["version"]
    target = form.cleaned_data["to"] or next((entry.version for entry in history[1:]), None)
    entry = next((entry for entry in history if entry.version == target), None)
    if entry is None:
        return _refused(request, _("That version does not exist."), 400)
    state = repo.parameters.get_state()
    if entry.parameters == state.parameters and version == state.version and not state.applying:
        return _refused(request, _("These parameters have already been applied."), 400)
    if out_of_range(entry.parameters):
        return _refused(request, _("The parameters of that version are outside the current limits."), 400)
    reason = _("Reverted to version %(number)s") % {"number": grouped(entry.version)}
    if refusal := _begin(repo, entry.parameters, version, actor(request), reason):
        return _refused(request, refusal, 409)
    return _continue_applying(request, repo)


@private_act(needs(TUNE_RANKING), page="articles:lab", button=gettext_lazy("Adjust automatically"))
def follow(request: HttpRequest) -> HttpResponse:
    """Adjust the weight of a vote automatically again, instead of using the one that moderators chose."""
    repo, form = repository(), RollbackForm(request.POST)
    if not form.is_valid() or repo.rules.votes_per_day is not None:
        return _refused(request, _("This form is incomplete. Please try again."), 400)
    state = repo.parameters.get_state()
    fitting = fitting_votes_per_day(repo.weights.get_recent()) or state.parameters.votes_per_day
    parameters, version = replace(state.parameters, votes_per_day=fitting), form.cleaned_data["version"]
    reason = _("Automatic votes per day resumed")
    if _is_resubmitted(repo, state, parameters, version, actor(request), reason):
        return _continue_applying(request, repo)
    if refusal := _begin(repo, parameters, version, actor(request), reason, is_chosen=False):
        return _refused(request, refusal, 409)
    return _continue_applying(request, repo)


def _is_resubmitted(
    repo: Repository, state: RankingState, parameters: Parameters, version: int, moderator: Actor, reason: str
) -> bool:
    """Return whether this same form applied these parameters, or began to: it was resubmitted."""
    if state.applying:
        return (state.version, state.applying.parameters) == (version, parameters)
    latest = repo.parameters.list_changes()[0]
    done = (latest.version, latest.parameters, latest.actor_name, latest.reason)
    return done == (version + 1, parameters, moderator.name, reason)


def _begin(
    repo: Repository,
    parameters: Parameters,
    version: int,
    moderator: Actor,
    reason: str,
    is_chosen: bool | None = None,
) -> str:
    """Begin to apply parameters. Return why that is refused, "" if it is not."""
    try:
        repo.parameters.apply(parameters, expected=version, actor=moderator, reason=reason, is_chosen=is_chosen)
    except ParametersChanged:
        return _changed_meanwhile(repo)
    except ChangeRunning:
        return _already_applying(repo)
    return ""


def _changed_meanwhile(repo: Repository) -> str:
    latest = repo.parameters.list_changes()[0]
    values = {"name": latest.actor_name, "when": age(latest.at), "reason": as_shown(latest.reason)}
    if latest.learnt_from:
        return _("The site adjusted its votes per day in the meantime (%(when)s). Nothing was changed.") % values
    if not latest.actor_name:
        return _("The configuration applied other parameters in the meantime (%(when)s): “%(reason)s”.") % values
    return (
        _("%(name)s applied other parameters in the meantime (%(when)s): “%(reason)s”. Nothing was changed.")
        % values
    )


def _already_applying(repo: Repository) -> str:
    applying = repo.parameters.get_state().applying
    done, total = (applying.done, applying.total) if applying else (0, 0)
    values = {"done": grouped(done), "total": grouped(total)}
    return (
        _("Another change is being applied (%(done)s of %(total)s articles scored). Yours was not started.")
        % values
    )


def _continue_applying(request: HttpRequest, repo: Repository, query: str = "") -> HttpResponse:
    """Apply as much as `PATIENCE` allows, and redirect to the lab."""
    if repo.parameters.advance(PATIENCE):
        messages.success(request, _("The parameters have been applied."))
    return redirect(f"{reverse('articles:lab')}{'?' if query else ''}{query}")


def _refused(request: HttpRequest, refusal: str, status: int) -> HttpResponse:
    """Return the lab with the current parameters, and a refusal."""
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
    """Return the lab, with status 400 for forms with errors. `suggested` reaches the target half-life."""
    context = lab_context(repository(), form, apply_form, suggested)
    sent_forms.refill(request, context["apply_form"])
    has_errors = form.errors or (apply_form and apply_form.errors)
    status = 400 if has_errors and status == 200 else status
    return render(request, "lab/lab.html", context | {"note": note, "refusal": refusal}, status=status)


urlpatterns = [
    path("lab/", lab, name="lab"),
    path("lab/apply/", apply, name="apply_lab"),
    path("lab/rollback/", rollback, name="roll_back"),
    path("lab/follow/", follow, name="follow_site"),
]
