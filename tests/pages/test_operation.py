import re

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.utils import timezone

from accounts.models import User
from articles.doctor.checks import list_urgent
from articles.doctor.examination import Examination
from articles.domain.articles import Choice
from articles.domain.measurements import WebCounts
from articles.operation import metrics
from articles.web import wiring
from tests.factories import browser_of, member
from tests.store_state import (
    configured,
    limited_rights,
    logging_every_command,
    read_keys,
    reset_statistics,
    server_name,
    set_clock,
    set_notes,
)


@pytest.fixture
def olga(site_store) -> User:
    """A member, olga, who may view the operator's page and nothing else."""
    found = member("olga")
    found.user_permissions.add(Permission.objects.get(codename="see_operation"))
    return found


def page(user):
    response = browser_of(user).get("/operation/")
    assert response.status_code == 200
    return response.content.decode()


def text_of(html):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html.partition("<main")[2].partition("</main>")[0]))


def section(html, name):
    """Return the text of one section."""
    return text_of("<main " + html.partition(f'aria-labelledby="{name}"')[2].partition("</section>")[0])


def test_the_page_shows_the_server_its_memory_and_its_file(site_store, article, olga):
    reset_statistics(site_store)
    for user in (71, 72):
        site_store.votes.cast(article, user, Choice.VOTE)
    html = page(olga)

    assert server_name(site_store) in section(html, "server")
    assert "Uptime" in section(html, "server")
    for part in ("Used", "Peak", "Limit", "none", "Fragmentation"):
        assert part in section(html, "memory")
    for part in ("State on", "when the system decides", "Last write succeeded"):
        assert part in section(html, "file")
    assert "µs" in section(html, "latency") or "ms" in section(html, "latency")
    assert re.search(r"EVALSHA \d+ ", section(html, "commands"))


@pytest.mark.needs("few shards")
def test_the_page_shows_shards_and_housekeeping(site_store, article, olga):
    now = timezone.now().timestamp()
    runs = {
        "archive": {"at": now - 90, "seconds": 0.0421, "result": "archived 3", "error": ""},
        "trim": {"at": now - 30, "seconds": 1.5, "result": "", "error": "<b>broken</b>"},
    }
    set_notes(site_store, runs)

    html = page(olga)

    assert "the only one 1 0 0" in section(html, "shards")
    steps = section(html, "housekeeping")
    assert steps.index("trim just now 1.50 s Failed") < steps.index("archive 1 minute ago 42.1 ms archived 3")
    assert "<b>broken" not in html
    assert "The last run of “trim” failed." in text_of(html)


@pytest.fixture
def durable(site_store):
    """A store that confirms a vote when it is on disk, as a site's does; the tests' own does not."""
    with configured(site_store, "appendfsync", "always"):
        yield


def test_a_site_without_problems_says_so_in_one_line(durable, article, olga):
    html = page(olga)

    assert html.count("Everything is fine.") == 1
    assert "warnings" not in html


def test_the_page_opens_with_what_needs_attention_and_what_to_do(durable, site_store, article, olga):
    set_notes(
        site_store, {"trim": {"at": site_store.store.now(), "seconds": 1, "result": "", "error": "<b>x</b>"}}
    )
    with configured(site_store, "maxmemory-policy", "allkeys-lru"):
        html = page(olga)

    first, second = re.findall(
        "<li>(.*?)</li>", html.partition('class="warnings"')[2].partition("</ul>")[0], re.DOTALL
    )
    assert "Error:" in first
    assert "allkeys-lru" in first
    assert "<p>Set <code>maxmemory-policy</code> to <code>noeviction</code>.</p>" in first
    assert "Warning:" in second
    assert '<span class="detail" lang="en">&lt;b&gt;x&lt;/b&gt;</span>' in second
    assert "Everything is fine" not in html


@pytest.mark.needs("one server")
def test_what_needs_attention_is_found_in_a_few_round_trips(durable, site_store, article, monkeypatch):
    calls = []
    monkeypatch.setattr(metrics, "observe", lambda *call: calls.append(call))
    wiring.forget_repositories()
    examination = Examination(wiring.repository())
    calls.clear()

    assert list_urgent(examination) == []

    assert len(calls) <= 17, "the figures of the page are among them"


@pytest.mark.needs("one server")
def test_slow_commands_are_escaped_truncated_and_without_secrets(site_store, article, olga):
    session = ":1:cache:django.contrib.sessions.cached_dbsecretsessionkey"
    with logging_every_command(site_store):
        site_store.articles.post(5, "eve", "T", "https://example.org/c")
        read_keys(site_store, "<script>alert(1)</script>", b"\xff\x00\xfe", "x" * 100, session)

    html = page(olga)
    slow = section(html, "slow")

    assert "GET &lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert r"GET \xff\x00\xfe" in slow
    assert f"GET {'x' * 40}…" in slow
    assert "secretsession" not in html
    assert "EVALSHA articles/post 2" in slow


def test_the_page_shows_the_last_24_hours(site_store, article, olga):
    assert "once there are two measurements" in section(page(olga), "measurements")
    now = site_store.store.now()
    for seconds in (-600, -300, 0):
        set_clock(site_store, now + seconds)
        assert site_store.measurements.record(lambda: WebCounts(1.0, 7, 0, 0, {"0.1": 0, "+Inf": 0}))

    html = page(olga)

    shown = section(html, "measurements")
    assert "Latest: 0. Highest: 0." in shown
    assert "No data yet." in shown, "response times: there were no requests"
    assert html.index('class="tiles"') < html.index('id="measurements"') < html.index('id="server"')
    assert "css/charts.css" in html


@pytest.fixture
def tight_lipped(site_store, store_paths):
    """A site on a store server that refuses introspection commands."""
    with limited_rights(site_store, store_paths.url(0), "+@all", "-info", "-slowlog", "-config"):
        yield site_store


@pytest.mark.needs("one server")
def test_refused_figures_are_not_available_and_the_rest_is_shown(tight_lipped, article, olga):
    html = page(olga)

    for name in ("server", "memory", "file", "commands", "slow"):
        assert "Not available" in section(html, name), name
    assert "the only one 1 0" in section(html, "shards")


@pytest.mark.needs("one server")
def test_a_store_that_refuses_introspection_is_still_healthy(tight_lipped, article):
    text = Client().get("/metrics").content.decode()

    assert "site_store_up 1.0" in text
    assert "site_articles 1.0" in text
    assert "site_store_memory_bytes" not in text
