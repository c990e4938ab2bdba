"""Voting rings on the pages: whose votes are noted, what moderators see of them, and the check."""

import logging
import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.utils import timezone

from accounts.models import User
from articles.domain.errors import StoreUnavailable
from articles.web import wiring
from tests.cast import password_of
from tests.factories import browser_of, member, post_as, vote_from
from tests.figures import value
from tests.internals import failing
from tests.pages.lists import text_of
from tests.store_state import key_names

PAGE = "/moderation/rings/"
SCHOOL = "203.0.113.7"


def newcomers(number: int, **facts: object) -> list[User]:
    return [member(f"new{n}", password="!", **facts) for n in range(number)]


def vote_of(user: User, article: int, address: str = SCHOOL, choice: str = "vote") -> None:
    browser_of(user).post(f"/articles/{article}/vote/", {"choice": choice}, REMOTE_ADDR=address)


def ring_of(site_store, article):
    return site_store.articles.get(article).ring


def flag(site_store, article, network=1):
    """Flag an article, and return the fields of the form that checks it."""
    vote_from(site_store, article, network, 10)
    return {"seen": f"{ring_of(site_store, article).last_at:.3f}"}


@pytest.fixture
def dora(db: None) -> User:
    """A member who can only assign groups."""
    user = member("dora", password=password_of("dora"))
    user.user_permissions.add(Permission.objects.get(codename="assign_groups"))
    return user


def test_votes_from_addresses_of_one_network_flag_the_article_once(site_store, article, caplog):
    flags = value("site_voting_rings_total")
    with caplog.at_level(logging.WARNING, "articles.web.votes"):
        for number, user in enumerate(newcomers(12)):
            vote_of(user, article, f"203.0.113.{number}", "oppose" if number % 2 else "vote")

    assert ring_of(site_store, article).accounts == 12
    noted = [record.getMessage() for record in caplog.records if record.name == "articles.web.votes"]
    assert noted == [f"voting ring: article={article} accounts=10"]
    assert value("site_voting_rings_total") == flags + 1


@pytest.mark.parametrize("age", [timedelta(hours=24, seconds=1), timedelta(hours=23, minutes=55)])
def test_votes_of_members_are_noted_until_a_day_after_they_joined(site_store, article, age):
    before = key_names(site_store)
    for user in newcomers(10, date_joined=timezone.now() - age):
        vote_of(user, article)

    is_noted = age < timedelta(days=1)
    assert bool(ring_of(site_store, article)) is is_noted
    assert any(name.startswith("ring") for name in key_names(site_store) - before) is is_noted


def test_votes_from_distant_networks_are_counted_apart(site_store, article):
    for number, user in enumerate(newcomers(18)):
        vote_of(user, article, f"203.0.{number % 2}.7")

    assert ring_of(site_store, article) is None


def test_votes_without_an_address_are_not_noted(site_store, article):
    for user in newcomers(10):
        vote_of(user, article, "")

    assert ring_of(site_store, article) is None


def test_the_number_of_accounts_is_a_setting_and_zero_turns_it_off(site_store, article, settings):
    users = newcomers(12)
    settings.VOTING_RING_ACCOUNTS = 0
    wiring.forget_repositories()
    for user in users[:9]:
        vote_of(user, article)
    assert not [name for name in key_names(site_store) if name.startswith("ring")]

    settings.VOTING_RING_ACCOUNTS = 3
    wiring.forget_repositories()
    for user in users[9:]:
        vote_of(user, article)
    assert ring_of(site_store, article).accounts == 3


def test_a_vote_cast_after_the_sign_up_is_noted(site_store, article):
    vote_from(site_store, article, 1, 1)
    before = key_names(site_store)
    fields = {"next": "/", "article": str(article), "choice": "vote", "username": "newest"}
    passwords = {"password1": "a long secret 71", "password2": "a long secret 71"}

    Client().post("/signup/", fields | passwords, REMOTE_ADDR=SCHOOL)

    assert [name for name in key_names(site_store) - before if f"ring:{article}:" in name]


def test_moderators_see_numbers_and_times_and_no_names(site_store, article, alice, carol):
    other = post_as(site_store, alice, "Quiet", "https://e.org/quiet").id
    for user in newcomers(20):
        vote_of(user, article)

    page = text_of(carol, PAGE)

    assert "A title" in page
    assert "Quiet" not in page
    assert "20 new accounts voted from one network." in page
    assert "First vote just now , last vote just now ." in page
    assert "21 for, 0 against. Posted by alice ." in page
    assert "Voting rings (1)" in page
    for path in (PAGE, f"/articles/{article}/"):
        raw = browser_of(carol).get(path).text
        assert "203.0.113" not in raw
        assert not re.search(r"new\d", raw)
    assert "20 new accounts voted from one network." in text_of(carol, f"/articles/{article}/")
    assert "one network" not in text_of(carol, f"/articles/{other}/")


def test_members_who_can_only_assign_groups_see_and_check_rings(site_store, article, dora):
    fields = flag(site_store, article)

    assert "10 new accounts voted" in text_of(dora, PAGE)
    assert browser_of(dora).post(f"/articles/{article}/ring/", fields).status_code == 302
    assert ring_of(site_store, article) is None


def test_a_checked_article_leaves_the_list_and_the_page_it_was_checked_on_comes_back(site_store, article, carol):
    fields, browser = flag(site_store, article), browser_of(carol)

    for _ in range(2):  # pressed twice
        response = browser.post(f"/articles/{article}/ring/", fields | {"next": f"/articles/{article}/"})
        assert response.headers["Location"] == f"/articles/{article}/"
        assert "The votes are marked as checked." in browser.get(f"/articles/{article}/").text

    page = text_of(carol, PAGE)
    assert "No voting rings to check." in page
    assert "Voting rings (" not in page
    assert "one network" not in text_of(carol, f"/articles/{article}/")
    assert browser.post(f"/articles/{article}/ring/", fields).headers["Location"] == PAGE


def test_a_site_that_looks_for_none_says_so(site_store, article, carol, settings):
    settings.VOTING_RING_ACCOUNTS = 0
    wiring.forget_repositories()

    assert "This site doesn’t look for voting rings." in text_of(carol, PAGE)


def test_a_number_that_cannot_be_read_is_left_out_and_pages_without_it_read_none(site_store, article, carol):
    flag(site_store, article)
    with failing(type(site_store.voting_rings), "count", AssertionError("it is read")):
        for path in ("/", f"/articles/{article}/", "/about/"):
            assert browser_of(carol).get(path).status_code == 200
        assert Client().get("/moderation/").status_code == 200

    with failing(type(site_store.voting_rings), "count", StoreUnavailable("away")):
        page = text_of(carol, "/moderation/")
    assert "Voting rings" in page
    assert "Voting rings (" not in page
