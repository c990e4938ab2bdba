"""Acts on a member that take many steps: each request takes some, and the moderator continues them."""

import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from django.contrib import messages
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

Step = TypeVar("Step")

BUDGET_SECONDS = 5.0
"""Time that one request spends on an act."""


def page_of(_request: HttpRequest, name: str, **_address: Any) -> str:
    """Return the address of the moderators' page about a member, to which their forms lead back."""
    return reverse("articles:member_moderation", args=[name])


def take(steps: Iterator[Step], note: Callable[[Step], object] = bool) -> bool:
    """Take the steps of an act for as long as time allows, passing each to `note`; return whether all are done."""
    deadline = time.monotonic() + BUDGET_SECONDS
    for step in steps:
        note(step)
        if time.monotonic() > deadline:
            return False
    return True


def tell(request: HttpRequest, sentence: str, *, is_complete: bool) -> None:
    """Show the moderator what was done, and whether more remains."""
    messages.success(request, sentence)
    if not is_complete:
        messages.warning(request, _("This is not finished yet: continue below."))
