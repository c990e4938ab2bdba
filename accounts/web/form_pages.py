"""Decorators for form views, which return a form that cannot be processed to its page."""

from collections.abc import Callable, Collection
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Any, TypeAlias

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.forms import ConfirmForm, LoginForm
from accounts.models import User
from accounts.sessions import is_fresh
from accounts.web import sent_forms
from accounts.web.login_intent import LoginIntent
from accounts.web.sent_forms import FormTokenMiddleware

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

View = Callable[..., Any]
Decorator = Callable[[View], View]
RequestText = Callable[..., str]
ButtonText: TypeAlias = "RequestText | StrPromise"


class MemberRequest(HttpRequest):
    """A request that passed `members_only`."""

    user: User


def page_with_form(view: View) -> View:
    """Accept GET, HEAD and POST. A POST that must not be processed runs as a GET: see `show_form`."""
    guarded = require_http_methods(["GET", "HEAD", "POST"])(view)
    vars(guarded)["gives_back"] = True
    return guarded


def show_form(request: HttpRequest, template: str, form: BaseForm, **context: Any) -> HttpResponse:
    """Return the page of a form, with what was typed before; 400 for a form with errors.

    `no_form`: whether the form would be refused. It is left out then, unless it shows what was typed.
    """
    sent_forms.refill(request, form)
    context |= {"form": form, "no_form": context.get("no_form", False) and not sent_forms.has_typed(request)}
    return render(request, template, context, status=400 if form.errors else 200)


def show_next(request: HttpRequest, sentence: str, to: str, *args: object, is_error: bool = False) -> HttpResponse:
    """Show a message on the next page, and redirect to it by its name and arguments, or its address."""
    (messages.error if is_error else messages.success)(request, sentence)
    return redirect(to, *args)


def page_named(view: str, *names: str) -> RequestText:
    """Return the `page` of a form whose address has these arguments of the page's."""
    return lambda _request, **address: reverse(view, args=[address[name] for name in names])


def is_page_with_form(view: View) -> bool:
    """Return whether a POST to the view can run as a GET, and then shows the form that was sent."""
    return hasattr(view, "gives_back") and not hasattr(view, "form_page")


_check_token = FormTokenMiddleware(lambda _request: HttpResponse()).process_view


def form_action(
    *, page: "ButtonText | str", button: ButtonText, for_readers: bool = False
) -> Callable[[View], View]:
    """Accept only POST, from a form on the page whose address is `page(request, …)`, or which has this name.

    A POST with a stale token gets a confirmation page with the same form; `button(request, …)`, or this text,
    labels its button. Nothing is cached.
    `for_readers`: readers without an account need no token, because pages that are the same for all have none.
    """

    def decorate(view: View) -> View:
        only_post = require_POST(view)

        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if for_readers and request.method == "POST" and request.user.is_authenticated:
                rejection: HttpResponse | None = _check_token(request, view, args, kwargs)
                if rejection:
                    return rejection
            if not sent_forms.is_stale(request):
                response: HttpResponse = only_post(request, *args, **kwargs)
            elif is_for_members(view) and not request.user.is_authenticated:
                response = view(request, *args, **kwargs)
            else:
                label = button(request, *args, **kwargs) if callable(button) else button
                context = {
                    "heading": _("Send this again?"),
                    "sentence": _(
                        "The page you sent this from was out of date: you have logged in since, or your cookies "
                        "were cleared. Nothing has been changed yet."
                    ),
                    "button": label,
                    "fields": sent_forms.fields_of(request),
                }
                response = render(request, "accounts/again.html", context, status=403)
                add_never_cache_headers(response)
            if not for_readers:
                add_never_cache_headers(response)
            return response

        vars(guarded).update(gives_back=True, form_page=page, csrf_exempt=for_readers)
        return guarded

    return decorate


def ask_once(request: HttpRequest, heading: str, sentence: str, button: str) -> HttpResponse | None:
    """Return a page that asks before an act that cannot be undone; None if the form was sent from that page."""
    if "confirmed" in request.POST:
        return None
    fields = [*sent_forms.fields_of(request), ("confirmed", "1")]
    context = {"heading": heading, "sentence": sentence, "button": button, "fields": fields, "is_final": True}
    return render(request, "accounts/again.html", context)


def members_only(*, carries: Collection[str] = (), proof: bool = False) -> Callable[[View], View]:
    """Redirect logged-out readers to the login page, and from there to the page that has the view's form.

    The login form carries the fields named in `carries`, never passwords, of a form sent without a session.
    `proof`: leads members without a fresh proof of who they are to a page that asks for one.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not request.user.is_authenticated or (proof and not is_fresh(request)):
                return _to_login(request, carries)
            sent_forms.take_out(request)
            response: HttpResponse = view(request, *args, **kwargs)
            return response

        vars(guarded)["is_for_members"] = True
        return guarded

    return decorate


def with_address(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Answer a script that prefers JSON with the `address` of the page that follows, instead of a redirect.

    The script then knows that the form was processed, and the browser shows that page with its messages.
    """

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = view(request, *args, **kwargs)
        if isinstance(response, HttpResponseRedirect) and prefers_json(request):
            return JsonResponse({"address": response.url})
        return response

    return guarded


def prefers_json(request: HttpRequest) -> bool:
    """Return whether a script sent the request. Browsers accept anything, and get a page."""
    return _prefers_json(request.META.get("HTTP_ACCEPT"))


@lru_cache(100)
def _prefers_json(accept: str | None) -> bool:
    probe = HttpRequest()
    probe.META = {} if accept is None else {"HTTP_ACCEPT": accept}
    return probe.get_preferred_type(["text/html", "application/json"]) == "application/json"


def private_page(guard: Decorator) -> Decorator:
    """Return the decorator of a page for those whom `guard`, as `members_only()`, lets in. No cache stores it."""
    return lambda view: never_cache(require_safe(guard(view)))


def private_form(guard: Decorator) -> Decorator:
    """Return the same for a page with a form: see `page_with_form`."""
    return lambda view: never_cache(page_with_form(guard(view)))


def private_act(guard: Decorator, *, page: "ButtonText | str", button: ButtonText) -> Decorator:
    """Return the same for what a form does: see `form_action`."""
    return lambda view: form_action(page=page, button=button)(guard(view))


def is_for_members(view: View | None) -> bool:
    """Return whether the view requires a login."""
    return hasattr(view, "is_for_members")


def _to_login(request: HttpRequest, carries: Collection[str]) -> HttpResponse:
    page = sent_forms.page_of(request)
    seal = sent_forms.sealed(request, page, carries)
    is_member = request.user.is_authenticated
    if not seal:
        return redirect_to_login(page, reverse("accounts:confirm") if is_member else None)
    intent = LoginIntent(next=page, typed=seal)
    response = confirmation(request, intent) if is_member else login_page(request, LoginForm(request), intent)
    response.status_code = 403
    add_never_cache_headers(response)
    return response


def login_page(request: HttpRequest, form: LoginForm, intent: LoginIntent) -> HttpResponse:
    """Return the login page. The form and the ways to sign in without it carry the intent."""
    context = {"form": form, "intent": intent, "passwords": settings.PASSWORDS}
    return render(request, "accounts/login.html", context)


def confirmation(request: HttpRequest, intent: LoginIntent, form: ConfirmForm | None = None) -> HttpResponse:
    """Return the page that asks the member for a fresh proof."""
    context = {
        "form": form or ConfirmForm(member=request.user),
        "intent": intent,
        "passwords": settings.PASSWORDS,
        "has_passkeys": isinstance(request.user, User) and request.user.passkeys.exists(),
    }
    return render(request, "accounts/confirm.html", context)
