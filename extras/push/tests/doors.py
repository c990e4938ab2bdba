"""What the core's tests have of notices pushed to devices."""

from datetime import timedelta

from django.contrib.sessions.models import Session
from django.utils import timezone

from accounts.models import MemberSession, User
from extras.push.models import Choice, Device

WITHOUT_PAGE = {
    "a form's target": "articles:turn_off_push articles:turn_on_push",
    "only where notices are pushed: see extras/push/tests/test_browser.py": "articles:choose_push",
}
OWN = "/settings/push/"
EXPORTED = ("devices", "pushed_about")
SWITCHES = {"WEB_PUSH": "1"}
STATUSES = {"-404": "put me/push"}
_KEYS = {"p256dh": "B", "auth": "A"}
CALLS = (
    ("read_push", 200, "Push"),
    ("choose_push", 200, "Push", "alice", (), ("PushKinds", {"kinds": ["reply", "waiting"]})),
    (
        "put_push_device", 404, "Failure", "alice", (),
        ("Subscription", {"endpoint": "https://push.example.org/1", "keys": _KEYS}),
    ),
    ("delete_push_device", 200, "Push", "alice", {"device_id": 1}),
)  # fmt: skip


def fill(member: User) -> None:
    Choice.objects.change(member, kinds="reply")


def use(member: User) -> None:
    """Add a device of a login that housekeeping will forget."""
    ended = Session.objects.create(session_key="p" * 32, expire_date=timezone.now() - timedelta(days=1))
    login = MemberSession.objects.create(session_key=ended.pk, user=member, begun_at=timezone.now())
    Device.objects.create(user=member, session=login, digest="d", secret="s")
