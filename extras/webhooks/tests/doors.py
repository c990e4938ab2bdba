"""What the core's tests have of webhooks."""

from collections.abc import Mapping

from django.utils import timezone

from accounts.mail import language_of, tell
from accounts.models import User
from articles.repository import Repository
from extras.webhooks import bodies
from extras.webhooks.events import EVENTS
from extras.webhooks.models import Delivery, Webhook

PAGES = (
    ("webhooks", "/administration/webhooks/", "operator"),
    ("a webhook", "/administration/webhooks/1/", "operator"),
)
_LINE = "A line without a blank: " + "x" * 150
_ACTS = ("remove_webhook", "replay_delivery", "rotate_webhook", "switch_webhook", "test_webhook")
WITHOUT_PAGE = {
    "a form's target": " ".join(f"articles:{owner}{act}" for act in _ACTS for owner in ("", "owner_")),
    "as those of the site, if members may have them": "articles:webhooks articles:webhook",
}
EXPORTED = ("webhooks",)
SWITCHES = {"WEBHOOKS": "members"}
STAY = "Webhook Webhooks Standard Slack Mattermost Discord Matrix hookshot ntfy"


def _switched_off(member: User) -> None:
    facts = {"since": 0, "form": "standard", "events": "article.posted"}
    hook = Webhook.objects.add(member, "https://hook.example/x", "hook.example", **facts)
    with language_of(member):
        context = {"host": hook.host, "because": "gone", "path": f"/settings/webhooks/{hook.pk}/"}
        tell(member, "webhooks/off.html", context)


MAILS = {"webhooks/off.html": _switched_off}


def stage(_told: Mapping[str, object], _repository: Repository) -> None:
    """Add a webhook of the site, with a delivery that arrived and one that waits."""
    facts = {"form": bodies.STANDARD, "events": ",".join(EVENTS), "groups": "python", "points": 10, "since": 0.0}
    address = "https://hooks.example.org/services/" + "T0/" * 30
    made = Webhook.objects.add(None, address, "hooks.example.org", failing_since=timezone.now(), **facts)
    for kind, state, status in (("article.posted", Delivery.DONE, 200), ("comment.posted", Delivery.WAITING, 500)):
        happened = bodies.Happened(
            kind,
            "2026-11-27T09:30:00.000Z",
            _LINE,
            "https://example.org/",
            {},
        )
        Delivery.objects.create(
            webhook=made, key=kind, event=kind, body=happened.to_text(), state=state, status=status, problem="slow"
        )


def fill(member: User) -> None:
    Webhook.objects.add(member, "https://example.org/", "example.org", form="slack", events="x", since=0.0)
