"""The address to which all forms about a member return, and the message after an act of many steps."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _


def page_of(_request: HttpRequest, name: str, **_address: Any) -> str:
    """Return the address of the moderators' page about a member, to which their forms lead back."""
    return reverse("articles:member_moderation", args=[name])


def tell(request: HttpRequest, sentence: str, *, is_complete: bool) -> None:
    """Show the moderator what was done, and whether more remains."""
    messages.success(request, sentence)
    if not is_complete:
        messages.warning(request, _("This is not finished yet: continue below."))
