"""Page on which a member deletes the account."""

from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from accounts import account_deletion
from accounts.forms import DeleteAccountForm
from accounts.web import resubmission, unsent_form
from accounts.web.form_pages import members_only, page_with_form
from accounts.web.passwords import note_password


@sensitive_post_parameters()
@never_cache
@page_with_form
def delete_account(request: HttpRequest) -> HttpResponse:
    is_sent_twice = request.method == "POST" and not request.user.is_authenticated
    if is_sent_twice and resubmission.has_just_left(request.POST.get("name", "")):
        return _farewell(request)
    response: HttpResponse = _delete_account(request)
    return response


@members_only()
def _delete_account(request: HttpRequest) -> HttpResponse:
    form = DeleteAccountForm(request.POST if request.method == "POST" else None, member=request.user)
    is_valid = form.is_valid()
    if form.is_bound:
        note_password(request, form)
    if is_valid:
        try:
            account_deletion.begin(int(request.user.pk or 0))
        except account_deletion.LastAdministratorError:
            form.add_error(
                None,
                _("You are the only administrator. Make another member an administrator first, then come back."),
            )
        else:
            return _farewell(request)
    unsent_form.refill(request, form)
    return render(request, "accounts/delete.html", {"form": form}, status=400 if form.errors else 200)


def _farewell(request: HttpRequest) -> HttpResponse:
    account_deletion.advance_briefly()
    logout(request)
    messages.success(request, _("Your account has been deleted. Thanks for being part of this community."))
    return redirect("/")
