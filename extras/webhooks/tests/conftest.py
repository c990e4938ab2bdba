"""A program that takes what webhooks tell it, and webhooks to it."""

from collections.abc import Callable, Iterator, Mapping

import pytest

from accounts.models import User
from extras.webhooks import sending
from extras.webhooks.models import Webhook, WebhookPosition
from outgoing import posting
from tasks import OUT, work_off
from tests.factories import actor
from tests.push_service import HOST, PushService


class Receiver(PushService):
    """It takes everything."""

    def answer(self, path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, Mapping[str, str]]:
        self.taken.append((path, {name.lower(): value for name, value in headers.items()}, body))
        return self.answers.pop(0) if self.answers else (200, {})


@pytest.fixture(scope="module")
def running_receiver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Receiver]:
    receiver = Receiver(tmp_path_factory.mktemp("receiver"))
    yield receiver
    receiver.close()


@pytest.fixture
def receiver(running_receiver, monkeypatch, settings) -> Receiver:
    """A receiver that the site reaches; members may have webhooks, and the site is at news.example.org."""
    settings.SITE_URL, settings.WEBHOOKS = "https://news.example.org", "members"
    running_receiver.taken, running_receiver.answers, running_receiver.connected = [], [], []
    running_receiver.seconds, running_receiver.hangs = 0.0, False
    running_receiver.addresses = ["93.184.216.34"]
    monkeypatch.setattr(posting, "WORLD", running_receiver.world)
    posting._resting.clear()
    return running_receiver


@pytest.fixture
def python(site_store, carol) -> None:
    site_store.groups.create("python", "Python", actor(carol))


@pytest.fixture
def hook(receiver, site_store) -> Callable[..., Webhook]:
    """A function that adds a webhook, of no member by default; it gets the events from now on."""

    def add(owner: User | None = None, *, path: str = "/hook", **facts: object) -> Webhook:
        facts = {"since": site_store.store.now(), "form": "standard", "events": "article.posted", **facts}
        made = Webhook.objects.add(owner, f"https://{HOST}{path}", HOST, **facts)
        if not WebhookPosition.objects.exists():
            sending.announce(site_store, 60)
        return made

    return add


@pytest.fixture
def tell(site_store, receiver) -> Callable[[], list[tuple[str, Mapping[str, str], bytes]]]:
    """A function that runs housekeeping's step and the tasks; it returns what the receiver was sent."""

    def run() -> list[tuple[str, Mapping[str, str], bytes]]:
        before = len(receiver.taken)
        sending.announce(site_store, 60)
        work_off(OUT)
        return receiver.taken[before:]

    return run
