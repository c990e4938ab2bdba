"""A push service, and members with browsers that subscribed to it."""

from collections.abc import Callable, Iterator

import pytest

from accounts.models import MemberSession, User
from extras.push import protocol, sending
from extras.push.models import Choice, Device
from outgoing import posting
from tasks import OUT, work_off
from tests.factories import browser_of
from tests.push_service import FakeBrowser, PushService


@pytest.fixture(scope="module")
def running_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PushService]:
    service = PushService(tmp_path_factory.mktemp("push"))
    yield service
    service.close()


@pytest.fixture
def service(running_service, monkeypatch, settings) -> PushService:
    """A push service that the site reaches; the site pushes, and is at news.example.org."""
    settings.WEB_PUSH, settings.SITE_URL = True, "https://news.example.org"
    running_service.taken, running_service.claims, running_service.answers = [], [], []
    running_service.connected, running_service.seconds, running_service.hangs = [], 0.0, False
    running_service.addresses, running_service.known = ["93.184.216.34"], protocol.public_key()
    monkeypatch.setattr(posting, "WORLD", running_service.world)
    monkeypatch.setattr(sending._Round, "last", 0)
    posting._resting.clear()
    return running_service


@pytest.fixture
def device_of(service) -> Callable[..., tuple[FakeBrowser, Device]]:
    """A function that lets a member's new login turn notifications on."""

    def turn_on(user: User, name: str = "firefox", **facts: object) -> tuple[FakeBrowser, Device]:
        login, browser = browser_of(user), FakeBrowser(name)
        session = MemberSession.objects.get(session_key=login.session.session_key)
        flat = protocol.clean_subscription(browser.subscription)
        device = Device.objects.add(user, flat, token=None, session=session)
        Choice.objects.filter(member=user).update(**{"pushed_until": 0, **facts})
        return browser, device

    return turn_on


@pytest.fixture
def push(site_store, service) -> Callable[[], list[tuple[str, bytes]]]:
    """A function that runs housekeeping's step and the tasks; it returns what the service took: path and body."""

    def run() -> list[tuple[str, bytes]]:
        before = len(service.taken)
        sending.send_due(site_store, 60)
        work_off(OUT)
        return [(path, body) for path, _headers, body in service.taken[before:]]

    return run
