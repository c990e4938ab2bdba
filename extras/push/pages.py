"""A member's choice of what is pushed to which devices: the page of the settings, its forms, and the button."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_lazy

from accounts.forms import NOTICE_LABELS
from accounts.models import MemberSession, User
from accounts.web.form_pages import MemberRequest, members_only, private_act, private_form, show_form, show_next
from articles.formatting.kept import drawn
from articles.text.lines import InvalidInput
from articles.text.refusals import input_sentence
from articles.web.form_answers import way_back
from extras.push.models import Choice, Device
from extras.push.protocol import clean_subscription, is_on, public_key

Kind = Literal["reply", "mention", "moderation", "flag", "suggestion", "waiting"]
"""What members can have pushed: kinds of notices, and what waits for a moderator."""


class PushForm(forms.Form):
    """Choose what is pushed. Only moderators are asked about what waits for them."""

    kinds = forms.MultipleChoiceField(
        label=gettext_lazy("Notify me of"),
        choices=[*NOTICE_LABELS.items(), ("waiting", gettext_lazy("what waits for a moderator"))],
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, member: User, data: Any = None) -> None:
        self._chosen = Choice.objects.of(member).kind_list
        super().__init__(data, initial={"kinds": self._chosen})
        self._is_asked = member.is_moderator
        if not self._is_asked:
            field: Any = self.fields["kinds"]
            field.choices = list(NOTICE_LABELS.items())

    def clean_kinds(self) -> list[str]:
        kept = [] if self._is_asked else [kind for kind in self._chosen if kind == "waiting"]
        return [*self.cleaned_data["kinds"], *kept]


class Offer(NamedTuple):
    """What the pages show of it to a member."""

    key: str  # the site's, by which browsers know it
    here: Device | None  # the device of this login
    devices: Sequence[Device]


def offer_to(request: HttpRequest) -> Offer | None:
    """Return what the pages offer; None to readers without an account, and where nothing is pushed."""
    if not (is_on() and isinstance(request.user, User)):
        return None
    devices = devices_of(request.user)
    here = next((one for one in devices if one.session_id == request.session.session_key), None)
    return Offer(public_key(), here, devices)


def draw_button(request: HttpRequest) -> str:
    """Return the button for this browser, as the inbox has it; "" without an offer."""
    offer = offer_to(request)
    return drawn("push/turn_on.html", {"push": offer}, request) if offer else ""


def devices_of(member: User) -> list[Device]:
    return list(member.devices.select_related("session", "token"))


def choose(member: User, kinds: Iterable[str]) -> None:
    """Change what is pushed, from now on. Idempotent."""
    chosen = [kind for kind in get_args(Kind) if kind in kinds]
    Choice.objects.change(member, kinds=",".join(chosen))


def turn_on(request: MemberRequest, raw: Mapping[str, Any]) -> Device:
    """Add the asking login's or token's device. Idempotent. Raises InvalidInput; Http404 if nothing is pushed."""
    if not is_on():
        raise Http404("nothing is pushed")
    subscription, token, session = clean_subscription(raw), vars(request).get("token"), None
    if not token:
        login = {"user": request.user, "begun_at": timezone.now()}
        session, _is_new = MemberSession.objects.get_or_create(
            session_key=request.session.session_key, defaults=login
        )
    return Device.objects.add(request.user, subscription, token=token, session=session)


_PAGE = "articles:choose_push"


def _page(request: HttpRequest) -> str:
    return way_back(request) or reverse(_PAGE)


@private_form(members_only())
def choose_by_form(request: MemberRequest) -> HttpResponse:
    """Show the member's devices and what is pushed to them, and save the choice."""
    if not is_on():
        raise Http404("nothing is pushed")
    form = PushForm(request.user, request.POST if request.method == "POST" else None)
    if form.is_valid():
        choose(request.user, form.cleaned_data["kinds"])
        return show_next(request, _("Your choice of notifications has been saved."), _PAGE)
    return show_form(request, "push/settings.html", form, push=offer_to(request))


@private_act(members_only(), page=_page, button=gettext_lazy("Turn on notifications in this browser"))
def turn_on_by_form(request: MemberRequest) -> HttpResponse:
    """Add this browser, with the subscription that js/push.js has from it."""
    try:
        raw = json.loads(request.POST.get("subscription", ""))
    except (ValueError, RecursionError):
        raw = {}
    try:
        turn_on(request, raw)
    except InvalidInput as refused:
        messages.error(request, input_sentence(refused))
    else:
        messages.success(request, _("Notifications are on in this browser."))
    return redirect(_page(request))


@private_act(members_only(), page=_PAGE, button=gettext_lazy("Remove"))
def turn_off_by_form(request: MemberRequest, device_id: int) -> HttpResponse:
    request.user.devices.filter(pk=device_id).delete()
    return show_next(request, _("Notifications are off on that device."), _PAGE)


urlpatterns = [
    path("settings/push/", choose_by_form, name="choose_push"),
    path("settings/push/device/", turn_on_by_form, name="turn_on_push"),
    path("settings/push/devices/<int:device_id>/remove/", turn_off_by_form, name="turn_off_push"),
]
