"""Whatever is damaged in the store, the audit names it and ends, the repair ends, and pages answer without 500."""

from contextlib import suppress
from functools import partial

import pytest
from django.core.cache import caches
from django.test import Client

from articles.domain.errors import StoreDamaged, StoreUnfit
from articles.repository import Repository
from articles.repository.store import keys as names
from articles.text.links import link_digest
from tests.cast import ALICE, MALLORY
from tests.clock import Clock
from tests.factories import member
from tests.repository.damaging import DAMAGES, KINDS, UNNOTICED, victim
from tests.repository.usage import use
from tests.store_state import problems, set_clock

PAGES = (
    *("/", "/newest/", "/hot/", "/top/?range=day", "/groups/python/", "/groups/redis/", "/search/?q=articl"),
    *("/articles/9/", "/articles/7/", "/moderation/", "/feeds/newest.atom", "/feeds/hot.atom"),
    *("/feeds/groups/python.atom", "/feeds/search.atom?q=articl", "/api/articles", "/api/articles/9"),
    *("/sitemap.xml", "/sitemap-articles-1.xml", "/metrics"),
)
PAGES_OF_OPERATORS = (
    "/moderation/views/",
    "/articles/9/views/",
    "/lab/",
    "/operation/?article=9",
    "/settings/data/",
)


@pytest.fixture
def used(site_store: Repository) -> Repository:
    clock = Clock()
    set_clock(site_store, clock)
    site_store.clock.accept()
    use(site_store, clock)
    site_store.members.save(ALICE, 9, wanted=True)
    site_store.account_deletion.advance(MALLORY, "mallory", "", lambda: True)
    return site_store


@pytest.fixture
def operator(used: Repository) -> Client:
    """A browser of an administrator, who may open every page, and with votes and articles of alice."""
    browser = Client(raise_request_exception=False)
    browser.force_login(member("alice", is_staff=True, is_superuser=True))
    return browser


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", DAMAGES)
def test_damage_is_named_by_the_audit_and_breaks_no_page(used, operator, kind, how):
    name = victim(used, kind)
    DAMAGES[how](used.store.client, name)

    findings = problems(used)

    assert any(name in finding for finding in findings) or (kind, how) in UNNOTICED, findings
    reader = Client(raise_request_exception=False)
    answers = {page: _status(reader, page) for page in PAGES} | {
        page: _status(operator, page) for page in PAGES_OF_OPERATORS
    }
    assert {page: status for page, status in answers.items() if status not in (200, 404, 503)} == {}
    with suppress(StoreUnfit):  # refused without the ranking's parameters
        used.repair.run()


def _status(browser: Client, page: str) -> int:
    caches["default"].clear()
    return browser.get(page).status_code


@pytest.mark.parametrize("act", ["post", "find"])
def test_a_damaged_claim_of_a_link_is_reported_as_damage(used, act):
    link = "https://example.org/contested"
    used.store.client.set(names.link(link_digest(link)), "garbage")
    acts = {
        "post": partial(used.articles.post, ALICE, "alice", "A title", link),
        "find": partial(used.articles.find_by_link, link),
    }

    with pytest.raises(StoreDamaged):
        acts[act]()
