"""A member's choice of what is pushed to which devices: the page of the settings, its forms, and programs."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path, reverse
from django.utils import timezone
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _, gettext_lazy
from ninja import P, PathEx
from pydantic import BaseModel, Field

from accounts.forms import NOTICE_LABELS
from accounts.models import Device, MemberSession, User
from accounts.web.form_pages import MemberRequest, members_only, private_act, private_form, show_form, show_next
from articles.api import schemas
from articles.api.protocol.operations import HIGHEST_NUMBER, MEMBERS, SAVERS, failing, router
from articles.text.lines import InvalidInput
from articles.text.refusals import input_sentence
from articles.web.form_answers import way_back
from push.protocol import clean_subscription, public_key

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
        self._chosen = [kind for kind in member.push_kinds.split(",") if kind]
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


def offer(request: HttpRequest) -> dict[str, Any]:
    """Provide `push`; false to readers without an account, and where nothing is pushed. Read on first use."""
    return {"push": SimpleLazyObject(lambda: _offer(request))}


def _offer(request: HttpRequest) -> Offer | tuple[()]:
    user = getattr(request, "user", None)
    if not (settings.WEB_PUSH and isinstance(user, User)):
        return ()
    devices = _devices_of(user)
    here = next((one for one in devices if one.session_id == request.session.session_key), None)
    return Offer(public_key(), here, devices)


def _devices_of(member: User) -> list[Device]:
    return list(member.devices.select_related("session", "token"))


def choose(member: User, kinds: Iterable[str]) -> None:
    """Change what is pushed, from now on. Idempotent."""
    chosen = [kind for kind in get_args(Kind) if kind in kinds]
    User.objects.filter(pk=member.pk).update(push_kinds=",".join(chosen), pushed_until=timezone.now().timestamp())


def turn_on(request: MemberRequest, raw: Mapping[str, Any]) -> Device:
    """Add the asking login's or token's device. Idempotent. Raises InvalidInput; Http404 if nothing is pushed."""
    if not settings.WEB_PUSH:
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
    if not settings.WEB_PUSH:
        raise Http404("nothing is pushed")
    form = PushForm(request.user, request.POST if request.method == "POST" else None)
    if form.is_valid():
        choose(request.user, form.cleaned_data["kinds"])
        return show_next(request, _("Your choice of notifications has been saved."), _PAGE)
    return show_form(request, "push/settings.html", form)


@private_act(members_only(), page=_page, button=gettext_lazy("Turn on notifications in this browser"))
def turn_on_by_form(request: MemberRequest) -> HttpResponse:
    """Add this browser, with the subscription that static/js/push.js has from it."""
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


DeviceNumber = PathEx[int, P(description="The device's number.", ge=1, le=HIGHEST_NUMBER, examples=[7])]


class PushKinds(schemas.Model):
    """What is pushed to your devices."""

    kinds: list[Kind] = Field(examples=[["reply", "mention"]])
    """Kinds of notices; “waiting” is what waits for a moderator."""


_POINT = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
"""The example of RFC 8291."""


class DeviceKeys(BaseModel):
    """What messages to a device are encrypted with (RFC 8291), in base64url."""

    p256dh: str = Field(max_length=200)
    auth: str = Field(max_length=100)


class Subscription(schemas.Model):
    """A subscription of a push service, as browsers describe it."""

    endpoint: str = Field(max_length=1000, examples=["https://push.example.org/p/1"])
    """A public https address."""

    keys: DeviceKeys = Field(examples=[{"p256dh": _POINT, "auth": "BTBZMqHH6r4Tts7J_aSIgg"}])


class PushDevice(BaseModel):
    """A device to which notices are pushed."""

    id: int
    label: str = Field(description="The browser and its system, or the name of the token.")
    since: float = Field(description="In Unix seconds.")


class Push(PushKinds):
    """What is pushed to your devices, and to which."""

    key: str = Field(description="The site's public key for push services (VAPID), in base64url.")
    devices: list[PushDevice]

    @classmethod
    def of(cls, member: User) -> "Push":
        kinds = User.objects.values_list("push_kinds", flat=True).get(pk=member.pk)
        devices = [
            PushDevice(id=one.pk, label=one.label, since=one.added_at.timestamp()) for one in _devices_of(member)
        ]
        return cls(kinds=list(filter(None, kinds.split(","))), key=public_key(), devices=devices)


@router.get("me/push", auth=MEMBERS)
def read_push(request: MemberRequest) -> Push:
    """What is pushed to your devices, and to which. With the key that a subscription needs."""
    return Push.of(request.user)


@router.put("me/push", auth=SAVERS)
def choose_push(request: MemberRequest, wanted: PushKinds) -> Push:
    """Choose what is pushed. Idempotent."""
    choose(request.user, wanted.kinds)
    return Push.of(request.user)


@router.put("me/push/device", response=failing(404), auth=SAVERS)
def put_push_device(request: MemberRequest, subscription: Subscription) -> Push:
    """Have notices pushed to this device.

    A token, or a session, has one device: another one takes its place, and it ends with them. A member can have
    10; the oldest makes room. What waits for a moderator takes a token with the scope “moderate”. Messages are
    JSON with “title”, “body”, “data” (the path of a page) and “tag”: a later one replaces an earlier one of the
    same tag. Not available where the site pushes nothing. Idempotent.
    """
    turn_on(request, subscription.model_dump())
    return Push.of(request.user)


@router.delete("me/push/devices/{device_id}", auth=SAVERS)
def delete_push_device(request: MemberRequest, device_id: DeviceNumber) -> Push:
    """Push nothing more to a device. Idempotent."""
    request.user.devices.filter(pk=device_id).delete()
    return Push.of(request.user)


urlpatterns = [
    path("settings/push/", choose_by_form, name="choose_push"),
    path("settings/push/device/", turn_on_by_form, name="turn_on_push"),
    path("settings/push/devices/<int:device_id>/remove/", turn_off_by_form, name="turn_off_push"),
]
