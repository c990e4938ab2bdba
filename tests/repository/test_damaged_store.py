"""Whatever is damaged in the store, the audit ends and names keys of another type, and no page answers 500."""

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import TypeAlias

import pytest
from django.core.cache import caches
from django.test import Client

from articles.domain.errors import StoreDamaged, StoreUnfit
from articles.repository import Repository
from articles.repository.store import keys as names
from articles.repository.store.keys import recognise
from articles.text.links import link_digest
from tests.cast import ALICE, MALLORY
from tests.clock import Clock
from tests.factories import member
from tests.repository.damaging import DAMAGES, KINDS, victim
from tests.repository.usage import merge_two, use, words_of_commands
from tests.store_state import problems, set_clock

PAGES = (
    "/", "/newest/", "/hot/", "/top/?range=day", "/groups/python/", "/groups/redis/", "/search/?q=articl",
    "/articles/9/", "/articles/7/", "/moderation/", "/feeds/newest.atom", "/feeds/hot.atom",
    "/feeds/groups/python.atom", "/feeds/search.atom?q=articl", "/api/articles", "/api/articles/9",
    "/sitemap.xml", "/sitemap-articles-1.xml", "/metrics",
)  # fmt: skip
PAGES_OF_OPERATORS = (
    "/moderation/views/", "/articles/9/views/", "/operation/?article=9", "/settings/data/",
)  # fmt: skip

pytestmark = pytest.mark.hostile

Visitors: TypeAlias = Mapping[str, Client]  # the browser that opens each page


@pytest.fixture
def used(site_store: Repository) -> Repository:
    fill(site_store)
    return site_store


def fill(repository: Repository) -> None:
    clock = Clock()
    set_clock(repository, clock)
    repository.clock.accept()
    use(repository, clock)
    merge_two(repository)
    repository.members.save(ALICE, 9, wanted=True)
    repository.account_deletion.advance(MALLORY, "mallory", "", lambda: True)


@pytest.fixture
def visitors(used: Repository) -> Visitors:
    """A browser for each page: of an administrator, with votes and articles of alice, where it needs one."""
    reader, operator = (Client(raise_request_exception=False) for _ in range(2))
    operator.force_login(member("alice", is_staff=True, is_superuser=True))
    return dict.fromkeys(PAGES, reader) | dict.fromkeys(PAGES_OF_OPERATORS, operator)


_touched: dict[str, set[str]] = {}
"""By page, the kinds of keys that it reads or writes; the same for every damage, so measured once."""


@pytest.fixture
def touched(used: Repository, visitors: Visitors) -> dict[str, set[str]]:
    if not _touched:
        for page, browser in visitors.items():
            with words_of_commands(used) as words:
                assert _status(browser, page) == 200, page
            _touched[page] = {kind.name for kind in recognise(words) if kind}
            assert _touched[page], page
        used.store.client.flushdb()
        used.prepare()
        fill(used)
    return _touched


# CI damages each kind of key in one way.
@pytest.mark.parametrize(
    ("kind", "how"),
    [
        pytest.param(kind, how, marks=[] if n % len(DAMAGES) == m else [pytest.mark.long])
        for n, kind in enumerate(KINDS)
        for m, how in enumerate(DAMAGES)
    ],
)
def test_damage_breaks_no_page_and_a_key_of_another_type_is_named(used, visitors, touched, kind, how):
    """Pages that touch no key of this kind answer as they do without the damage."""
    name = victim(used, kind)
    DAMAGES[how](used.store.client, name)

    findings = problems(used)

    assert how != "another type" or any(name in finding for finding in findings), findings
    answers = {page: _status(browser, page) for page, browser in visitors.items() if kind in touched[page]}
    assert {page: status for page, status in answers.items() if status not in (200, 404, 503)} == {}
    with suppress(StoreUnfit, StoreDamaged):  # then a backup has to be restored
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
