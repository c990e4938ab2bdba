"""Sweeps on the moderators' page of a member."""

import pytest

from accounts.models import Sweep
from articles.domain.errors import StoreUnavailable
from tests.factories import browser_of, comment_on
from tests.internals import failing

PAGE, BEGIN = "/users/alice/moderation/", "/users/alice/moderation/sweep/"
FIELDS = {"days": "1", "reason": "Nothing but spam"}


@pytest.fixture
def comment(site_store, article, alice):
    return comment_on(site_store, article, "Buy", alice.pk)


def state(site_store, article):
    return site_store.articles.get(article).removed


def test_one_act_removes_all_and_another_restores_it(site_store, article, comment, alice, carol):
    browser = browser_of(carol)
    for _ in range(2):  # pressed twice
        assert browser.post(BEGIN, FIELDS).headers["Location"] == PAGE

    sweep = Sweep.objects.get()
    assert (sweep.removed, sweep.is_complete, sweep.moderator) == (2, True, carol)
    assert state(site_store, article) == "Nothing but spam"
    assert "2 removed, posted since" in browser.get(PAGE).text
    for _ in range(2):  # pressed twice
        browser.post(f"{BEGIN}{sweep.pk}/restore/", {"reason": "It was a mistake"})

    assert state(site_store, article) is None
    assert site_store.comments.get(comment).removed is None
    assert "Everything was restored." in browser.get(PAGE).text
    actions = [entry.action.value for entry in site_store.moderation_log.get_page().entries]
    assert sorted(actions[:4]) == ["remove", "remove-comment", "restore", "restore-comment"]


def test_a_sweep_of_more_days_is_another_one(site_store, article, alice, carol):
    for days in ("1", "7", "7"):
        browser_of(carol).post(BEGIN, FIELDS | {"days": days})

    assert Sweep.objects.count() == 2


def test_a_long_sweep_is_continued(site_store, article, comment, alice, carol, hurry):
    hurry(True)
    browser = browser_of(carol)

    page = browser.post(BEGIN, FIELDS, follow=True)

    sweep = Sweep.objects.get()
    assert (sweep.removed, sweep.is_complete) == (1, False)
    assert "This is not finished yet: continue below." in page.text
    hurry(False)
    browser.post(f"{BEGIN}{sweep.pk}/", {})
    sweep.refresh_from_db()
    assert (sweep.removed, sweep.is_complete) == (2, True)


def test_a_sweep_that_fails_has_counted_what_it_removed(site_store, article, comment, alice, carol):
    with failing(type(site_store.comments), "remove", StoreUnavailable):
        assert browser_of(carol).post(BEGIN, FIELDS).status_code == 503

    sweep = Sweep.objects.get()
    assert (sweep.removed, sweep.is_complete) == (1, False)
