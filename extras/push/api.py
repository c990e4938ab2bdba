"""What programs ask: what is pushed to which of a member's devices."""

from typing import Any

from ninja import P, PathEx
from pydantic import BaseModel, Field

from accounts.models import User
from accounts.web.form_pages import MemberRequest
from articles.api import schemas
from articles.api.protocol.operations import HIGHEST_NUMBER, MEMBERS, SAVERS, failing, router
from extras.push.models import Choice
from extras.push.pages import Kind, choose, devices_of, turn_on
from extras.push.protocol import public_key

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
        kinds: list[Any] = Choice.objects.of(member).kind_list
        devices = [
            PushDevice(id=one.pk, label=one.label, since=one.added_at.timestamp()) for one in devices_of(member)
        ]
        return cls(kinds=kinds, key=public_key(), devices=devices)


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
