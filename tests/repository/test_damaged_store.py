"""Whatever is damaged in the store, the audit names it and ends, the repair ends, and pages answer without 500."""

from contextlib import suppress

import pytest
from django.core.cache import caches
from django.test import Client

from articles.domain.errors import StoreUnfit
from articles.repository import Repository
from tests.cast import ALICE, MALLORY
from tests.clock import Clock
from tests.repository.damaging import DAMAGES, KINDS, UNNOTICED, victim
from tests.repository.usage import use
from tests.store_state import problems, set_clock

PAGES = (
    *("/", "/newest/", "/hot/", "/top/?range=day", "/groups/python/", "/groups/redis/", "/search/?q=articl"),
    *("/articles/9/", "/articles/7/", "/moderation/", "/feeds/newest.atom", "/feeds/hot.atom"),
    *("/feeds/groups/python.atom", "/feeds/search.atom?q=articl", "/api/articles", "/api/articles/9"),
)


@pytest.fixture
def used(site_store: Repository) -> Repository:
    clock = Clock()
    set_clock(site_store, clock)
    use(site_store, clock)
    site_store.members.save(ALICE, 9, wanted=True)
    site_store.account_deletion.advance(MALLORY, "mallory", "", lambda: True)
    return site_store


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", DAMAGES)
def test_damage_is_named_by_the_audit_and_breaks_no_page(used, kind, how):
    name = victim(used, kind)
    DAMAGES[how](used.store.client, name)

    findings = problems(used)

    assert any(name in finding for finding in findings) or (kind, how) in UNNOTICED, findings
    reader = Client(raise_request_exception=False)
    for page in PAGES:
        caches["default"].clear()
        assert (page, reader.get(page).status_code) in {(page, 200), (page, 404), (page, 503)}
    with suppress(StoreUnfit):  # refused without the ranking's parameters
        used.repair.run()
