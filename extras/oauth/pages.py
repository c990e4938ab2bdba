"""Apps that ask for permission (OAuth 2.1): what programs send, and the page on which members decide.

Errors of a request are shown to the member and not sent to the app: every program can register an address, and the
site must not lead anyone to it unasked (RFC 9700, section 4.11.2).
"""

from collections.abc import Callable
from enum import Enum
from functools import wraps
from typing import Any

from authlib.oauth2.rfc6749.errors import InvalidRequestError, OAuth2Error
from django import forms
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import path
from django.utils.translation import gettext_lazy, gettext_noop
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from accounts.forms import TokenForm
from accounts.models import Token
from accounts.sign_in.changes import tell_change
from accounts.web import sent_forms
from accounts.web.form_pages import MemberRequest, View, members_only, page_with_form
from articles.configuration.choices import chosen
from articles.formatting.kept import drawn
from extras.oauth import server
from extras.oauth.registration import home_of, register


class Change(Enum):
    """What has changed, as the mail says it."""

    ALLOWED = gettext_noop("The app “%(name)s” can now use your account on %(site)s")


def _where_apps_are_on(view: View) -> View:
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not chosen.OAUTH_APPS:
            raise Http404("no apps")
        response: HttpResponse = view(request, *args, **kwargs)
        return response

    return guarded


def _for_apps(answer: Callable[[HttpRequest], HttpResponse]) -> View:
    """Accept POST from programs everywhere. Cookies are not looked at, so no form token is asked for."""
    return csrf_exempt(never_cache(require_POST(_where_apps_are_on(answer))))


def _with_fields(answer: Callable[[HttpRequest], HttpResponse]) -> View:
    """Take parameters from the body alone: addresses end up in logs."""

    @_for_apps
    @wraps(answer)
    def checked(request: HttpRequest) -> HttpResponse:
        try:
            server.check(request.POST)
            if server.PARAMETERS & request.GET.keys():
                raise InvalidRequestError("Send parameters in the body.")
        except InvalidRequestError as error:
            return JsonResponse(dict(error.get_body()), status=400)
        return answer(request)

    return checked


@require_safe
@_where_apps_are_on
def metadata(request: HttpRequest) -> HttpResponse:
    """Return the addresses below, and what the server can do."""
    return JsonResponse(server.metadata(request))


@_for_apps
def register_app(request: HttpRequest) -> HttpResponse:
    """Register an app, without an account: it can do nothing before a member allows something."""
    try:
        app = register(request.body)
    except OAuth2Error as error:
        return JsonResponse(dict(error.get_body()), status=400)
    return JsonResponse(server.described(app), status=201)


@_with_fields
def token(request: HttpRequest) -> HttpResponse:
    """Exchange a code or a refresh token. All of the answer is stored, or nothing."""
    with transaction.atomic():
        response: HttpResponse = server.server().create_token_response(request)
    return response


@_with_fields
def revoke(request: HttpRequest) -> HttpResponse:
    """End a grant. The answer is the same for an unknown token."""
    response: HttpResponse = server.server().create_endpoint_response("revocation", request)
    return response


class ScopesForm(forms.Form):
    """What the app may do besides reading, of what it asks for."""

    scopes = forms.MultipleChoiceField(
        label=gettext_lazy("Besides reading, let the app"), required=False, widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, data: Any, asked: str) -> None:
        super().__init__(data, initial={"scopes": asked.split()})
        labels = TokenForm.base_fields["scopes"].choices  # type: ignore[attr-defined]
        self.fields["scopes"].choices = [one for one in labels if one[0] in asked.split()]  # type: ignore[attr-defined]


def _decide(request: HttpRequest, asked: str) -> tuple[ScopesForm, bool | None]:
    """Return the form, and whether it allows the app something; None as long as the member has not decided."""
    decision = request.POST.get("decision", "") if request.method == "POST" else ""
    form = ScopesForm(request.POST if decision else None, asked)
    sent_forms.refill(request, form)
    if decision == "allow" and form.is_valid():
        return form, True
    return form, False if decision == "deny" else None


@never_cache
@page_with_form
@_where_apps_are_on
@members_only(carries=["scopes"], proof=True)
def authorize(request: MemberRequest) -> HttpResponse:
    """Ask the member whether an app may use the site in their name, and lead back to the app with the answer."""
    try:
        grant = server.read_authorization_request(request)
    except OAuth2Error as error:
        description = error.get_error_description() or error.error
        return render(request, "oauth/bad.html", {"description": str(description)[:300]}, status=400)
    app = grant.request.client.app
    form, is_allowed = _decide(request, grant.request.scope)
    if is_allowed is None:
        context = {"app": app, "form": form, "home": home_of(grant.redirect_uri)}
        return render(request, "oauth/allow.html", context, status=400 if form.errors else 200)
    if is_allowed:
        tell_change(request.user, Change.ALLOWED, app.name)
    address = server.address_after(request, grant, form.cleaned_data["scopes"] if is_allowed else None)
    return render(request, "accounts/leave.html", {"address": address, "provider": app.name})


def draw_allowed(request: HttpRequest) -> str:
    """Return the list of the apps that the member allowed something, for the page of their tokens."""
    tokens = Token.objects.filter(user=request.user.pk, grant__isnull=False)
    return drawn("oauth/allowed.html", {"tokens": tokens}, request) if tokens else ""


urlpatterns = [
    path(".well-known/oauth-authorization-server", metadata, name="app_metadata"),
    path("oauth/authorize/", authorize, name="authorize"),
    path("oauth/token/", token, name="app_token"),
    path("oauth/revoke/", revoke, name="revoke_app_token"),
    path("oauth/register/", register_app, name="register_app"),
]
