"""A member's ways to sign in, and the sessions that these began. None of these pages is cached."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts import sessions
from accounts.sign_in.identities import shown
from accounts.views.factors import factors_of
from accounts.web.form_pages import MemberRequest, form_action, members_only

_PAGE = "accounts:security"


@never_cache
@require_safe
@members_only()
def show(request: MemberRequest) -> HttpResponse:
    """Show the ways to sign in, and the sessions."""
    context = factors_of(request) | {
        "passwords": settings.PASSWORDS,
        "identities": shown(request.user),
        "providers": settings.PROVIDERS.values(),
        "sessions": sessions.list_current(request.user.pk, request.session.session_key or ""),
    }
    return render(request, "accounts/security.html", context)


@form_action(page=_PAGE, button=gettext_lazy("Log out everywhere else"))
@members_only(proof=True)
def end_other_sessions(request: MemberRequest) -> HttpResponse:
    """End the member's other sessions; programs keep their tokens. Idempotent."""
    sessions.end_others(request.user.pk, request.session.session_key or "")
    messages.success(request, _("You are logged out everywhere else."))
    return redirect(_PAGE)


@form_action(page=_PAGE, button=gettext_lazy("Log out"))
@members_only(proof=True)
def end_session(request: MemberRequest, session: str) -> HttpResponse:
    """End one of the member's other sessions. Idempotent."""
    sessions.end(request.user.pk, session, keep=request.session.session_key or "")
    messages.success(request, _("That browser is logged out."))
    return redirect(_PAGE)
