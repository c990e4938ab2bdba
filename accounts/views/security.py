"""A member's sessions and ways to sign in: passkeys, authenticator apps, recovery codes; and the second step.

None of these pages is cached.
"""

from collections.abc import Callable
from functools import partial

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.signals import user_login_failed
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render, resolve_url
from django.utils.translation import gettext as _, gettext_lazy, ngettext, pgettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from accounts import names, sessions
from accounts.forms import LoginForm
from accounts.models import Passkey, User
from accounts.sign_in import codes, passkeys, second_factor
from accounts.sign_in.arrival import PASSKEY, WITH_SECOND_STEP, Arriving, arrive, confirmed, find_arriving, finish
from accounts.sign_in.changes import Change, tell_change
from accounts.sign_in.passkeys import ADD, CONFIRM, SECOND_STEP, SIGN_IN, PasskeyError
from accounts.sign_in.ways import LastWayError
from accounts.web import sent_forms
from accounts.web.backend import offers_second_factor
from accounts.web.form_pages import (
    MemberRequest,
    confirmation,
    form_action,
    login_page,
    members_only,
    page_with_form,
    private_act,
    private_form,
    private_page,
    show_next,
)
from accounts.web.login_intent import LoginIntent
from articles.configuration import encryption
from articles.configuration.choices import chosen

_PAGE = "accounts:security"
_FEW_CODES = 3
_OFFERED = "app-{}"
"""Where the session keeps the secret that it offers to a member, by the account's number: to no one else."""


class CodeForm(forms.Form):
    """A code of an authenticator app, or a recovery code."""

    code = forms.CharField(
        max_length=codes.LONGEST_CODE,
        label=pgettext_lazy("second step", "Code"),
        widget=forms.TextInput(
            attrs={
                "autocomplete": "one-time-code",
                "autocapitalize": "none",
                "spellcheck": "false",
                "autofocus": True,
            }
        ),
    )

    def refuse(self) -> None:
        self.add_error("code", ValidationError(_("This code is wrong, expired or used."), code="wrong"))


class PasskeyForm(forms.ModelForm):  # type: ignore[type-arg]
    """The name of a passkey."""

    class Meta:
        model = Passkey
        fields = ("name",)
        labels = {"name": gettext_lazy("Name of the passkey")}
        widgets = {"name": forms.TextInput(attrs={"autocomplete": "off"})}

    def clean_name(self) -> str:
        return names.cleaned_token_name(self.cleaned_data["name"])


@private_page(members_only())
def show(request: MemberRequest) -> HttpResponse:
    """Show the ways to sign in, and the sessions."""
    form = PasskeyForm(initial={"name": sessions.browser_of(request)})
    sent_forms.refill(request, form)
    context = {
        "passkeys": list(request.user.passkeys.all()),
        "most_passkeys": passkeys.MOST_PASSKEYS,
        "passkey_form": form,
        "has_app": second_factor.has_app(request.user),
        "codes_left": request.user.recovery_codes.count(),
        "offers_second_factor": offers_second_factor(request.user),
        "passwords": settings.PASSWORDS,
        "sessions": sessions.list_current(request.user.pk, request.session.session_key or ""),
    }
    return render(request, "accounts/security.html", context)


@private_act(members_only(proof=True), page=_PAGE, button=gettext_lazy("Log out everywhere else"))
def end_other_sessions(request: MemberRequest) -> HttpResponse:
    """End the member's other sessions; programs keep their tokens. Idempotent."""
    sessions.end_others(request.user.pk, request.session.session_key or "")
    return show_next(request, _("You are logged out everywhere else."), _PAGE)


@private_act(members_only(proof=True), page=_PAGE, button=gettext_lazy("Log out"))
def end_session(request: MemberRequest, session: str) -> HttpResponse:
    """End one of the member's other sessions. Idempotent."""
    sessions.end(request.user.pk, session, keep=request.session.session_key or "")
    return show_next(request, _("That browser is logged out."), _PAGE)


@never_cache
@require_POST
def passkey_options(request: HttpRequest) -> HttpResponse:
    """Return the options of a ceremony, for the script, which sends the purpose of its form."""
    purpose, arriving = request.POST.get("for", ""), find_arriving(request)
    member = request.user if isinstance(request.user, User) else None
    if purpose == SECOND_STEP or (purpose == ADD and member is None):
        member = arriving.member if arriving else None
    if purpose not in passkeys.PURPOSES or (member is None and purpose != SIGN_IN):
        raise Http404("no such ceremony")
    if purpose == ADD and member:
        return JsonResponse(passkeys.options_for_adding(request, member))
    return JsonResponse(passkeys.options_for_use(request, purpose, None if purpose == SIGN_IN else member))


def _refused(request: HttpRequest, error: PasskeyError, name: str = "") -> None:
    """Tell the member, and log the refusal like that of a password."""
    user_login_failed.send(sender=__name__, credentials={"username": name}, request=request)
    text = _("The passkey was not accepted. Please try again, or use another way to sign in.")
    if error.is_copied:
        text = _("A copy of this passkey seems to be in use, so it was refused. Remove it, and add a new one.")
    messages.error(request, text)


@form_action(page="accounts:login", button=gettext_lazy("Log in"))
def log_in_with_passkey(request: HttpRequest) -> HttpResponse:
    """Log in the member whose passkey the browser has, without a name."""
    intent = LoginIntent.from_request(request)
    try:
        passkey = passkeys.use(request, SIGN_IN, request.POST.get("credential", ""))
    except PasskeyError as error:
        _refused(request, error)
    else:
        if passkey.user.is_active:
            return arrive(request, passkey.user, intent, PASSKEY)
        messages.error(request, _("This account cannot be used, or a moderator has to approve it first."))
    response = login_page(request, LoginForm(request), intent)
    response.status_code = 400
    return response


@private_act(members_only(), page="accounts:confirm", button=gettext_lazy("Confirm"))
def confirm_with_passkey(request: MemberRequest) -> HttpResponse:
    """Take a passkey of the member as the fresh proof that a page demands."""
    intent = LoginIntent.from_request(request)
    try:
        passkeys.use(request, CONFIRM, request.POST.get("credential", ""), request.user)
    except PasskeyError as error:
        _refused(request, error, request.user.username)
        response = confirmation(request, intent)
        response.status_code = 400
        return response
    return confirmed(request, intent)


@sensitive_post_parameters()
@never_cache
@page_with_form
def take_second_step(request: HttpRequest) -> HttpResponse:
    """Take the second step of a login; set one up first if the site demands it and the member has none."""
    arriving = find_arriving(request)
    if arriving is None:
        messages.info(request, _("Please log in again: the second step took too long, or has been taken."))
        is_stale = sent_forms.is_stale(request)
        return login_page(request, LoginForm(request), LoginIntent()) if is_stale else redirect("accounts:login")
    if not arriving.member.second_factor:
        return _set_up_arriving(request, arriving)
    form = CodeForm(request.POST if "code" in request.POST else None)
    if "credential" in request.POST:
        try:
            passkeys.use(request, SECOND_STEP, request.POST["credential"], arriving.member)
        except PasskeyError as error:
            _refused(request, error, arriving.member.username)
        else:
            return finish(request, arriving.member, arriving.intent)
    elif form.is_valid():
        if codes.accept(arriving.member, form.cleaned_data["code"]):
            response = finish(request, arriving.member, arriving.intent)
            _warn_of_few_codes(request, arriving.member)
            return response
        user_login_failed.send(
            sender=__name__, credentials={"username": arriving.member.username}, request=request
        )
        form.refuse()
    sent_forms.refill(request)
    context = {
        "form": form,
        "has_app": second_factor.has_app(arriving.member),
        "is_readable": codes.is_readable(arriving.member),
        "has_passkeys": arriving.member.passkeys.exists(),
    }
    return render(request, "accounts/second_step.html", context)


def _warn_of_few_codes(request: HttpRequest, member: User) -> None:
    left = member.recovery_codes.count()
    if left < _FEW_CODES:
        text = ngettext(
            "You have %(num)s recovery code left. Create new ones.",
            "You have %(num)s recovery codes left. Create new ones.",
            left,
        )
        messages.warning(request, text % {"num": left})


def _set_up_arriving(request: HttpRequest, arriving: Arriving) -> HttpResponse:
    """Let a member of whom the site demands a second factor set one up, and then complete the login."""
    member = arriving.member

    def complete() -> HttpResponse:
        address = finish(request, member, arriving.intent)["Location"]
        return _codes_page(request, second_factor.turn_on(member), address)

    if "credential" in request.POST:
        purpose = ADD if not member.passkeys.exists() else SECOND_STEP
        try:
            if purpose == ADD:
                passkeys.add(request, member, request.POST["credential"], sessions.browser_of(request))
                tell_change(member, Change.PASSKEY_ADDED)
            else:
                passkeys.use(request, SECOND_STEP, request.POST["credential"], member)
        except (PasskeyError, passkeys.TooManyPasskeys) as error:
            _refused(request, error if isinstance(error, PasskeyError) else PasskeyError(), member.username)
        else:
            return complete()
    must_use_passkey = arriving.way in WITH_SECOND_STEP and member.passkeys.exists()
    if must_use_passkey:  # otherwise a password alone would add an app
        sent_forms.refill(request)
        return render(request, "accounts/second_step_by_passkey.html")
    form = CodeForm(request.POST if "code" in request.POST else None)
    return _set_up_app(request, member, form, complete, is_demanded=True)


def _offered_secret(request: HttpRequest, member: User) -> str:
    """Return the secret that the page offers to the member, the same until it is confirmed."""
    try:
        return encryption.decrypt(request.session[_OFFERED.format(member.pk)])
    except (KeyError, encryption.KeyChanged):
        secret = codes.new_secret()
        request.session[_OFFERED.format(member.pk)] = encryption.encrypt(secret)
        return secret


def _set_up_app(
    request: HttpRequest, member: User, form: CodeForm, complete: Callable[[], HttpResponse], *, is_demanded: bool
) -> HttpResponse:
    """Make an app the member's second factor if its first code is right, and `complete`; else show the page."""
    secret = _offered_secret(request, member)
    if form.is_valid():
        if codes.save_secret(member, secret, form.cleaned_data["code"]):
            del request.session[_OFFERED.format(member.pk)]
            tell_change(member, Change.APP_ADDED)
            return complete()
        form.refuse()
    sent_forms.refill(request)
    context = {
        "form": form,
        "secret": " ".join(secret[start : start + 4] for start in range(0, len(secret), 4)),
        "picture": codes.picture_of(secret, member.username, chosen.SITE_NAME),
        "is_demanded": is_demanded,
        "has_passkeys": member.passkeys.exists(),
    }
    return render(request, "accounts/set_up_app.html", context, status=400 if form.errors else 200)


def _codes_page(request: HttpRequest, new: list[str], address: str) -> HttpResponse:
    """Return the only page that shows these codes; lead on at once if there are none."""
    if not new:
        return redirect(address)
    return render(request, "accounts/recovery_codes.html", {"codes": new, "address": address})


@sensitive_post_parameters()
@private_form(members_only(proof=True))
def set_up_app(request: MemberRequest) -> HttpResponse:
    """Make an authenticator app the member's second factor, confirmed by its first code."""
    if not offers_second_factor(request.user):
        return redirect(_PAGE)

    def complete() -> HttpResponse:
        messages.success(request, _("Logging in takes a second step from now on."))
        return _codes_page(request, second_factor.turn_on(request.user), resolve_url(_PAGE))

    return _set_up_app(request, request.user, CodeForm(request.POST or None), complete, is_demanded=False)


def _remove(request: MemberRequest, remove: Callable[[], bool], event: Change, done: str) -> HttpResponse:
    """Remove a factor, if there is one, unless the member needs it; tell the member what happened."""
    try:
        was_there = remove()
    except second_factor.FactorNeededError:
        messages.error(request, _("This site demands a second step of you, so one app or passkey has to stay."))
    except LastWayError:
        text = _("Without it, you could not log in any more. Add another way to sign in first.")
        messages.error(request, text)
    else:
        if was_there:
            tell_change(request.user, event)
        messages.success(request, done)
    return redirect(_PAGE)


@private_act(members_only(proof=True), page=_PAGE, button=gettext_lazy("Remove the app"))
def remove_app(request: MemberRequest) -> HttpResponse:
    """Remove the authenticator app. Idempotent."""
    remove = partial(second_factor.remove_app, request.user)
    return _remove(request, remove, Change.APP_REMOVED, _("The app has been removed."))


@private_act(members_only(proof=True), page=_PAGE, button=gettext_lazy("Ask for a second step"))
def turn_on(request: MemberRequest) -> HttpResponse:
    """Ask for one of the member's passkeys after a password or a login elsewhere."""
    if not (request.user.passkeys.exists() and offers_second_factor(request.user)):
        return redirect(_PAGE)
    messages.success(request, _("Logging in takes a second step from now on."))
    new = second_factor.turn_on(request.user)
    if new:
        tell_change(request.user, Change.TURNED_ON)
    return _codes_page(request, new, resolve_url(_PAGE))


@private_act(members_only(proof=True), page=_PAGE, button=gettext_lazy("Turn the second step off"))
def turn_off(request: MemberRequest) -> HttpResponse:
    """Turn the second step off: removes the app and the recovery codes. Idempotent."""
    remove = partial(second_factor.turn_off, request.user)
    return _remove(request, remove, Change.TURNED_OFF, _("Logging in takes no second step any more."))


@private_act(members_only(proof=True), page=_PAGE, button=gettext_lazy("Create new recovery codes"))
def renew_codes(request: MemberRequest) -> HttpResponse:
    """Replace the recovery codes. Only this response shows them."""
    if not request.user.second_factor:
        return redirect(_PAGE)
    tell_change(request.user, Change.NEW_CODES)
    return _codes_page(request, codes.new_recovery_codes(request.user), resolve_url(_PAGE))


@private_act(members_only(carries=["name"], proof=True), page=_PAGE, button=gettext_lazy("Add a passkey"))
def add_passkey(request: MemberRequest) -> HttpResponse:
    """Add the passkey that the browser has created."""
    form = PasskeyForm(request.POST)
    if not form.is_valid():
        return show_next(request, str(form.errors["name"][0]), _PAGE, is_error=True)
    try:
        passkeys.add(request, request.user, request.POST.get("credential", ""), form.cleaned_data["name"])
    except PasskeyError:
        messages.error(request, _("The passkey was not accepted. Please try again."))
    except passkeys.TooManyPasskeys:
        messages.error(request, _("You have reached the limit of passkeys. Remove one first."))
    else:
        tell_change(request.user, Change.PASSKEY_ADDED)
        messages.success(request, _("The passkey has been added. You can log in with it, without your name."))
    return redirect(_PAGE)


@private_act(members_only(carries=["name"]), page=_PAGE, button=gettext_lazy("Rename"))
def rename_passkey(request: MemberRequest, passkey_id: int) -> HttpResponse:
    form = PasskeyForm(request.POST)
    if not form.is_valid():
        return show_next(request, str(form.errors["name"][0]), _PAGE, is_error=True)
    request.user.passkeys.filter(pk=passkey_id).update(name=form.cleaned_data["name"])
    return show_next(request, _("The passkey has been renamed."), _PAGE)


@private_act(members_only(proof=True), page=_PAGE, button=gettext_lazy("Remove the passkey"))
def remove_passkey(request: MemberRequest, passkey_id: int) -> HttpResponse:
    """Remove a passkey, unless it is the last way in or a factor that the site demands. Idempotent."""
    remove = partial(second_factor.remove_passkey, request.user, passkey_id)
    return _remove(request, remove, Change.PASSKEY_REMOVED, _("The passkey has been removed."))
