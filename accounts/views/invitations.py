"""A member's invitations."""

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.forms import Form
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from accounts.mail import public_address
from accounts.models import Invitation, InvitationLimitError
from accounts.web import unsent_form
from accounts.web.form_pages import MemberRequest, members_only, page_with_form


@never_cache
@page_with_form
@members_only()
def invitations(request: MemberRequest) -> HttpResponse:
    """Show the member's invitations, and create one. Raises PermissionDenied unless members invite others here."""
    if settings.SIGN_UP != "invitation":
        raise PermissionDenied("sign-up is not by invitation")
    if request.method == "POST":
        try:
            Invitation.objects.issue(request.user)
        except InvitationLimitError:
            messages.error(request, _("You have no invitations left."))
        return redirect("accounts:invitations")
    form = Form()
    unsent_form.refill(request, form)
    scheme, host = public_address(request)
    mine = Invitation.objects.filter(inviter=request.user).select_related("invited")
    context = {
        "form": form,
        "site": f"{scheme}://{host}{reverse('accounts:signup')}?invitation=",
        "open": [one for one in mine if one.invited is None and one.expires_at > timezone.now()],
        "invited": [one.invited for one in mine if one.invited is not None],
        "left": Invitation.objects.left(request.user),
        "days": settings.INVITATION_DAYS,
    }
    return render(request, "accounts/invitations.html", context)
