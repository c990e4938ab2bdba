from datetime import UTC, datetime

import pytest
from django.test import Client

from articles.backup.files import MANIFEST
from articles.operation import metrics
from articles.web import wiring
from tests.cast import password_of
from tests.factories import browser_of
from tests.figures import value, value_in
from tests.store_state import count_keys

TOKEN = "a token of some length"
JSON = "application/json"


@pytest.fixture
def token(settings):
    settings.METRICS_TOKEN = TOKEN
    return TOKEN


def status_for(**headers):
    return Client().get("/metrics", **headers).status_code


def test_a_local_client_reads_the_metrics_without_a_token(site_store, article):
    response = Client().get("/metrics")

    assert response.status_code == 200
    assert response.headers["Content-Type"] == metrics.CONTENT_TYPE
    assert "no-store" in response.headers["Cache-Control"]
    text = response.content.decode()
    assert value_in(text, "site_store_up") == 1
    assert value_in(text, "site_articles") == 1
    assert value_in(text, "site_store_keys") == count_keys(site_store)
    assert value_in(text, "site_store_memory_bytes") > 100_000
    assert value_in(text, "site_disk_free_bytes") > 0


def test_the_age_of_the_newest_backup_is_a_metric(site_store, settings, tmp_path, time_machine):
    time_machine.move_to(datetime(2026, 3, 1, 12, tzinfo=UTC), tick=False)
    settings.BACKUP_DIR = tmp_path
    assert "site_backup_age_seconds" not in Client().get("/metrics").content.decode()

    (tmp_path / "2026-03-01T11-00-00Z").mkdir()
    (tmp_path / "2026-03-01T11-00-00Z" / MANIFEST).touch()

    assert value_in(Client().get("/metrics").content.decode(), "site_backup_age_seconds") == 3600


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
def test_every_local_address_is_accepted(site_store, address):
    assert status_for(REMOTE_ADDR=address) == 200


@pytest.mark.parametrize("address", ["203.0.113.7", "10.0.0.1", "::ffff:10.0.0.1", "2001:db8::1", "", "localhost"])
def test_every_other_address_gets_404(site_store, address):
    assert status_for(REMOTE_ADDR=address) == 404


@pytest.mark.parametrize("name", ["X_FORWARDED_FOR", "FORWARDED", "X_REAL_IP", "X_FORWARDED_PROTO", "VIA"])
def test_a_client_behind_a_proxy_is_not_local(site_store, name):
    assert status_for(**{f"HTTP_{name}": "127.0.0.1"}) == 404


def test_a_client_with_the_token_reads_the_metrics_from_anywhere(site_store, token, settings):
    settings.SITE_URL = "https://news.example.org"

    assert status_for(HTTP_AUTHORIZATION=f"Bearer {token}", REMOTE_ADDR="203.0.113.7") == 200
    assert status_for(HTTP_AUTHORIZATION=f"bearer  {token} ", HTTP_X_FORWARDED_FOR="203.0.113.7") == 200


@pytest.mark.parametrize("sent", ["", "Bearer", "Bearer ", "Bearer wrong", f"Basic {TOKEN}", TOKEN, "Bearer ü€"])
def test_once_a_token_is_set_local_clients_need_it_too(site_store, token, sent):
    assert status_for(HTTP_AUTHORIZATION=sent) == 404


def test_the_metrics_are_available_during_a_store_outage(site_store, settings):
    settings.STORE_URL = "unix:///nowhere/store.sock"
    wiring.forget_repositories()
    Client().get("/")

    response = Client().get("/metrics")

    assert response.status_code == 200
    text, front = response.content.decode(), {"view": "articles:front", "method": "GET", "status": "503"}
    assert value_in(text, "site_store_up") == 0
    assert value_in(text, "site_requests_total", **front) > 0


def test_requests_are_counted_by_view_method_and_status(site_store, article):
    name, labels = "site_requests_total", {"view": "articles:article", "method": "GET"}
    found, missing = value(name, status="200", **labels), value(name, status="404", **labels)
    timed = value("site_request_seconds_count", view="articles:article")

    Client().get(f"/articles/{article}/")
    Client().get("/articles/999999/")

    assert value(name, status="200", **labels) == found + 1
    assert value(name, status="404", **labels) == missing + 1
    assert value("site_request_seconds_count", view="articles:article") == timed + 2


def refusals():
    text = metrics.exposition(None).decode()
    causes = ("invalid", "csrf", "forbidden", "login", "method", "limit", "missing", "closed")
    return {cause: value_in(text, "site_refusals_total", cause=cause) for cause in causes}


def refused(before):
    """Return the causes counted since then."""
    return [cause for cause, n in refusals().items() if n > before[cause]]


@pytest.mark.deep
def test_pages_and_the_api_count_refusals_by_their_cause(site_store, article, bob):
    bobs, strict, guess = browser_of(bob), browser_of(bob, strict=True), {"username": "bob", "password": "guess"}
    removal = f"/articles/{article}/remove/"
    path, body = f"/api/articles/{article}/vote", {"data": '{"choice": "vote"}', "content_type": JSON}
    requests = [
        ("invalid", lambda: bobs.post("/post/", {"title": "", "link": "nonsense"})),
        ("invalid", lambda: Client().post("/login/", guess)),
        ("", lambda: Client().post("/login/", guess | {"password": password_of("bob")})),
        ("csrf", lambda: strict.post("/post/", {"title": "T", "link": "https://example.org/"})),
        ("forbidden", lambda: bobs.post(removal, {"reason": "I say so"})),
        ("forbidden", lambda: bobs.get(removal)),
        ("", lambda: Client().get("/nowhere/")),
        ("", lambda: Client().get("/articles/999999/")),
        ("csrf", lambda: strict.put(path, **body)),
        ("login", lambda: Client().put(path, **body)),
        ("invalid", lambda: bobs.put(path, data="{", content_type=JSON)),
        ("missing", lambda: bobs.put("/api/articles/999999/vote", **body)),
        ("method", lambda: Client().delete(path)),
    ]
    for cause, ask in requests:
        before = refusals()
        ask()
        assert refused(before) == ([cause] if cause else [])
