"""Signing in with providers: the way there and back, the first visit, and what is connected to an account.

None of these pages is cached. What waits for the login stays in the session meanwhile, under the state that the
provider returns: each state is used once, by the session and for the provider that it was made for.
"""

import logging
import time
from dataclasses import asdict
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.signals import user_login_failed
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _, gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from accounts.forms import LoginForm, SignUpForm
from accounts.models import Invitation, User, WaitingAccount
from accounts.sign_in.arrival import ELSEWHERE, arrive, confirmed, join, welcome_if_approved
from accounts.sign_in.ways import LastWayError, removing_a_way
from accounts.web import sent_forms
from accounts.web.form_pages import (
    MemberRequest,
    form_action,
    login_page,
    members_only,
    page_with_form,
    private_act,
)
from accounts.web.login_intent import LoginIntent
from articles.configuration.choices import chosen, site_address
from articles.formatting.kept import drawn
from extras.providers import identities
from extras.providers.models import Identity
from extras.providers.provider import Declined, Person, Provider, ProviderAway, Refused, Unproven, visit

LOGIN, LINK, CONFIRM = "login", "link", "confirm"  # what someone leaves for a provider for
SECONDS_AWAY = 1800  # for which a person can stay at a provider
_MOST_STATES = 4  # tabs of one session that can be at providers

_IN_SESSION, _LOGGED_IN = "at_providers", "logged_in_by"
_SECURITY = "accounts:security"

_EXPIRED = gettext_lazy("This login has expired or was used already. Please try again.")

_log = logging.getLogger(__name__)


# Parts of the core's pages


def draw(place: str, request: HttpRequest, **facts: Any) -> str:
    """Return what a place of one of the core's pages shows of providers. One query for a member's."""
    match place:
        case "login.head" | "sign_up.head":
            facts["connecting"] = identities.connecting(request, facts["intent"])
        case "login" | "sign_up":
            facts["providers"] = settings.PROVIDERS.values()
        case "confirm":
            facts["providers"] = identities.providers_of(request.user)
        case "security":
            facts |= {"providers": settings.PROVIDERS.values(), "identities": identities.shown(request.user)}
        case _:
            return ""
    return drawn("providers/places.html", {"place": place, **facts}, request)


# The way there


def _provider(name: str) -> Provider:
    try:
        return settings.PROVIDERS[name]  # type: ignore[no-any-return]
    except KeyError:
        raise Http404(f"no provider {name[:20]}") from None


def _button(_request: HttpRequest, provider: str) -> str:
    one = settings.PROVIDERS.get(provider)
    return _("Continue to %(provider)s") % {"provider": one.label if one else provider[:20]}


@form_action(page="accounts:login", button=_button)
def log_in(request: HttpRequest, provider: str) -> HttpResponse:
    """Leave for the provider, to log in or to sign up."""
    intent = LoginIntent.from_request(request)
    return _leave(request, _provider(provider), LOGIN, intent, invitation=request.POST.get("invitation", "")[:64])


@private_act(members_only(proof=True), page=_SECURITY, button=_button)
def link(request: MemberRequest, provider: str) -> HttpResponse:
    """Leave for the provider, to connect it to the account."""
    return _leave(request, _provider(provider), LINK, LoginIntent(), member=request.user.pk)


@private_act(members_only(), page="accounts:confirm", button=_button)
def confirm(request: MemberRequest, provider: str) -> HttpResponse:
    """Leave for the provider, to prove who uses the session."""
    intent, one = LoginIntent.from_request(request), _provider(provider)
    if not one.can_prove:
        return _explain(request, one, CONFIRM, intent, Unproven("it has no ID tokens"))
    return _leave(request, one, CONFIRM, intent, member=request.user.pk)


def _leave(
    request: HttpRequest, provider: Provider, purpose: str, intent: LoginIntent, **kept: Any
) -> HttpResponse:
    try:
        address, secrets = visit(provider).address(_address_back(request, provider), fresh=purpose == CONFIRM)
    except ProviderAway as away:
        return _explain(request, provider, purpose, intent, away)
    states = dict(list(request.session.get(_IN_SESSION, {}).items())[1 - _MOST_STATES :])
    kept |= {"provider": provider.name, "purpose": purpose, "intent": asdict(intent), "secrets": secrets}
    request.session[_IN_SESSION] = states | {secrets["state"]: kept}
    return _lead(request, address, provider.label)


def _address_back(request: HttpRequest, provider: Provider) -> str:
    return site_address(request) + reverse("articles:provider_back", args=[provider.name])


def _lead(request: HttpRequest, address: str, label: str) -> HttpResponse:
    """Return a page that leads elsewhere by itself: a redirect of a form would need a looser content policy."""
    return render(request, "accounts/leave.html", {"address": address, "provider": label})


# The way back


@never_cache
@require_GET
def come_back(request: HttpRequest, provider: str) -> HttpResponse:
    """Receive a person whom the provider sends back."""
    one = _provider(provider)
    kept = _take_state(request, request.GET.get("state", ""))
    if kept is None or kept["provider"] != one.name:
        _note_failure(request, one, "unknown state")
        return _to_start(request, LOGIN, LoginIntent(), str(_EXPIRED))
    try:
        person = visit(one).person(kept["secrets"], request.GET.dict(), _address_back(request, one))
    except (Declined, ProviderAway, Refused) as failure:
        return _explain(request, one, kept["purpose"], LoginIntent(**kept["intent"]), failure)
    return _receive(request, person, kept)


def _receive(request: HttpRequest, person: Person, kept: dict[str, Any]) -> HttpResponse:
    """Let a person do what they left for."""
    intent = LoginIntent(**kept["intent"])
    if kept["purpose"] == LOGIN:
        return _arrive(request, person, intent, kept["invitation"])
    if not isinstance(request.user, User) or request.user.pk != kept["member"]:
        return _to_start(request, LOGIN, LoginIntent(), _("You are no longer logged in. Please try again."))
    if kept["purpose"] == CONFIRM:
        return _confirm(request, person, intent)
    return _link(request, request.user, person)


def _take_state(request: HttpRequest, state: str) -> dict[str, Any] | None:
    """Return what the session keeps under a state, which is then used; None if nothing, or if it is too old."""
    states = request.session.get(_IN_SESSION, {})
    kept: dict[str, Any] | None = states.pop(state, None)
    if kept is None:
        return None
    request.session[_IN_SESSION] = states
    return kept if kept["secrets"]["at"] > time.time() - SECONDS_AWAY else None


def _note_failure(request: HttpRequest, provider: Provider, why: str) -> None:
    _log.info("an answer of %s was refused: %s", provider.name, why.replace("\n", " "))
    credentials = {"username": f"at {provider.name}"}
    user_login_failed.send(sender=__name__, credentials=credentials, request=request)


def _explain(
    request: HttpRequest,
    provider: Provider,
    purpose: str,
    intent: LoginIntent,
    failure: Declined | ProviderAway | Refused,
) -> HttpResponse:
    """Return to where the person left from, with a sentence about what went wrong."""
    status = 403
    if isinstance(failure, Declined):
        text, status = _("You did not log in at %(provider)s."), 200
    elif isinstance(failure, ProviderAway):
        _log.warning("the provider %s cannot be used: %s", provider.name, failure)
        text, status = _("%(provider)s does not answer right now. Try again later, or log in another way."), 502
    elif isinstance(failure, Unproven):
        _note_failure(request, provider, str(failure))
        text = _(
            "%(provider)s did not confirm that you have just logged in there. Use another way, or log out and "
            "log in again."
        )
    else:
        _note_failure(request, provider, str(failure))
        text = _("The answer of %(provider)s was not valid. Please try again.")
    return _to_start(request, purpose, intent, text % {"provider": provider.label}, status)


def _to_start(
    request: HttpRequest, purpose: str, intent: LoginIntent, text: str, status: int = 403
) -> HttpResponse:
    """Return to the page that the person left from, with a sentence. The login page has what waited for it."""
    messages.error(request, text)
    if purpose == LINK:
        return redirect(_SECURITY)
    if purpose == CONFIRM:
        return redirect(f"{reverse('accounts:confirm')}{intent.query}")
    response = login_page(request, LoginForm(request), intent)
    response.status_code = status
    return response


def _arrive(request: HttpRequest, person: Person, intent: LoginIntent, invitation: str) -> HttpResponse:
    member = identities.recognise(person)
    if member is None:
        identities.keep_newcomer(request, person, intent, invitation)
        return redirect("articles:finish_signup")
    if not member.is_active:
        is_waiting = WaitingAccount.objects.filter(pk=member.pk).exists()
        text = _("A moderator has to approve your account first.") if is_waiting else _("This account is closed.")
        return _to_start(request, LOGIN, intent, text)
    welcome_if_approved(request, member)
    response = arrive(request, member, intent, ELSEWHERE)
    request.session[_LOGGED_IN] = [person.provider, member.pk]
    return response


def _confirm(request: HttpRequest, person: Person, intent: LoginIntent) -> HttpResponse:
    if identities.account_of(person) != request.user:
        _note_failure(request, _provider(person.provider), "another identity")
        text = _("That is not the account that is connected to yours here.")
        return _to_start(request, CONFIRM, intent, text)
    identities.recognise(person)
    return confirmed(request, intent)


def _link(request: HttpRequest, member: User, person: Person) -> HttpResponse:
    label = _provider(person.provider).label
    try:
        identities.link(member, person)
    except identities.TakenError:
        text = _("This account at %(provider)s is connected to another account here.")
        messages.error(request, text % {"provider": label})
    else:
        messages.success(request, _("From now on, you can log in with %(provider)s.") % {"provider": label})
    return redirect(_SECURITY)


# The first visit


class NewcomerForm(SignUpForm):
    """Create an account for a person who came from a provider: only a name, and the address of the claims."""

    left_out = ("email", "password1", "password2")

    def __init__(self, data: Any = None, *, person: Person) -> None:
        super().__init__(data, initial={} if data else {"username": identities.propose_name(person)})
        self._person = person

    def save(self, commit: bool = True) -> User:
        user: User = super().save(commit)
        user.email = User.objects.normalize_email(self._person.email)
        user.verified_email = user.email if identities.has_verified(self._person) else ""
        return user

    def create(self, invitation: Invitation | None = None, *, waits: bool = False) -> User | None:
        try:
            return super().create(invitation, waits=waits)
        except identities.TakenError:  # by a form sent at the same moment
            self.add_error(
                None, ValidationError(_("You have an account already. Please log in again."), code="used")
            )
            return None

    def complete(self, user: User) -> None:
        identities.link(user, self._person, is_new=True)


@never_cache
@page_with_form
def finish_sign_up(request: HttpRequest) -> HttpResponse:
    """Let a person who came from a provider choose a name, or log in to the account that they have."""
    newcomer = identities.newcomer_of(request)
    if newcomer is None:
        if request.user.is_authenticated and not sent_forms.is_stale(request):
            return redirect(settings.LOGIN_REDIRECT_URL)  # the form arrives twice
        return _to_start(request, LOGIN, LoginIntent(), str(_EXPIRED))
    how, person, intent = chosen.SIGN_UP, newcomer.person, newcomer.intent
    invitation = Invitation.objects.find(newcomer.invitation) if how != "closed" else None
    if invitation is not None and invitation.invited_id is not None:
        invitation = None
    is_open = how in ("open", "approval") or invitation is not None
    form = NewcomerForm(request.POST or None, person=person) if is_open else None
    user = form.create(invitation, waits=how == "approval") if form is not None and form.is_valid() else None
    if user is None:
        if form is not None:
            sent_forms.refill(request, form)
        context = {"form": form, "intent": intent, "how": how, "invitation": invitation, "person": person}
        context |= {"provider": _provider(person.provider), "days": settings.SESSION_COOKIE_AGE // 86400}
        context["tree_readers"] = chosen.INVITATION_TREE
        context["address"] = person.email if identities.has_verified(person) else ""
        status = 403 if request.method == "POST" and form is None else 200
        return render(request, "providers/newcomer.html", context, status=status)
    identities.forget_newcomer(request)
    intent = LoginIntent(**asdict(intent) | {"connect": ""})
    response = join(request, user, intent, ELSEWHERE)
    if user.is_active:
        request.session[_LOGGED_IN] = [person.provider, user.pk]
    return response


def connect_newcomer(request: HttpRequest, user: User, intent: LoginIntent, **_signal: object) -> None:
    """Connect the newcomer whom a login announced to the account."""
    if not intent.connect:
        return
    try:
        provider = identities.connect(request, user, intent)
    except identities.TakenError:
        provider = None
    if provider:
        text = _("From now on, you can log in with %(provider)s.")
        messages.success(request, text % {"provider": provider.label})
    else:
        messages.warning(request, _("Nothing was connected to your account. You can try again in your settings."))


# What is connected to an account


@private_act(members_only(proof=True), page=_SECURITY, button=gettext_lazy("Disconnect"))
def unlink(request: MemberRequest, identity: int) -> HttpResponse:
    """Remove an identity from the account, unless it is the last way in. Idempotent."""
    one = Identity.objects.filter(pk=identity, user=request.user).select_related("user").first()
    try:
        with removing_a_way(request.user):
            if one is not None:
                identities.unlink(one)
    except LastWayError:
        messages.error(request, _("You could not log in any more. Add another way to log in first."))
    else:
        messages.success(request, _("That account is no longer connected to yours."))
    return redirect(_SECURITY)


# Logging out


def leave_after_logout(request: HttpRequest, **_signal: object) -> HttpResponse | None:
    """Return a page that leads to the logout at the login's provider; None without one."""
    name, member = request.session.get(_LOGGED_IN) or ("", None)
    provider = settings.PROVIDERS.get(name)
    if provider is None or member != request.user.pk:
        return None
    try:
        end = visit(provider).end_session_address()
    except ProviderAway:
        return None
    if not end:
        return None
    fields = {"client_id": provider.client_id, "post_logout_redirect_uri": f"{site_address(request)}/"}
    return _lead(request, f"{end}{'&' if '?' in end else '?'}{urlencode(fields)}", provider.label)


urlpatterns = [
    path("login/confirm/with/<slug:provider>/", confirm, name="provider_confirm"),
    path("login/with/<slug:provider>/", log_in, name="provider_login"),
    path("login/with/<slug:provider>/back/", come_back, name="provider_back"),
    path("signup/name/", finish_sign_up, name="finish_signup"),
    path("settings/identities/add/<slug:provider>/", link, name="link_identity"),
    path("settings/identities/<int:identity>/remove/", unlink, name="unlink_identity"),
]
