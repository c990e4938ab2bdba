"""A store that is not the site's is refused until the operator accepts it."""

import pytest
from django.core.management import call_command
from django.db import DatabaseError
from django.test import Client

from accounts.models import User
from articles import known_store
from articles.domain.errors import StoreUnfit
from articles.models import KnownStore
from articles.web import wiring
from tests.cast import PASSWORD
from tests.factories import browser_of
from tests.internals import failing, meanwhile, schema
from tests.store_state import forget_accounts, lose_everything


def start_again():
    wiring.forget_repositories()
    return wiring.repository()


def lose_accounts():
    KnownStore.objects.all().delete()


def test_the_sites_own_store_is_accepted_again(site_store):
    assert start_again().site_id == site_store.site_id == known_store.known_site()


def test_an_emptied_store_is_refused_and_stays_empty(site_store, article):
    lose_everything(site_store)
    for _ in range(2):
        with pytest.raises(StoreUnfit, match="is empty, but this site has used one before"):
            start_again()

    assert Client().get("/").status_code == 503
    assert Client().get("/readyz").status_code == 503


def test_another_sites_store_is_refused(site_store, article):
    known_store.remember("00000000-0000-0000-0000-000000000000")

    with pytest.raises(StoreUnfit, match="is another site's"):
        start_again()


def test_the_operator_can_accept_a_store(site_store, article, capsys):
    lose_everything(site_store)
    call_command("accept_store")
    assert "The next start uses the store that it finds." in capsys.readouterr().out
    assert start_again().site_id == known_store.known_site()

    assert Client().get("/").status_code == 200


def test_new_accounts_are_refused_until_the_operator_accepts_the_store_again(site_store, article):
    lose_accounts()
    for _ in range(2):
        with pytest.raises(
            StoreUnfit, match="has been used with accounts before, but the accounts database is new"
        ):
            start_again()

    call_command("accept_store")
    assert start_again().articles.get(article).title == "A title"
    assert known_store.known_site() == site_store.site_id


@pytest.mark.parametrize("site", [None, "00000000-0000-0000-0000-000000000000"])
def test_nobody_joins_a_running_site_whose_accounts_were_replaced(site_store, site):
    lose_accounts()
    if site:
        known_store.remember(site)

    form = {"username": "newcomer", "password1": PASSWORD, "password2": PASSWORD}
    assert browser_of().post("/signup/", form).status_code == 503
    assert not User.objects.exists()


def test_a_store_that_was_used_before_accounts_remembered_stores_is_accepted(site_store, article):
    lose_accounts()
    forget_accounts(site_store)

    assert start_again().articles.get(article).title == "A title"
    assert known_store.known_site() == site_store.site_id


def test_while_the_accounts_are_away_the_store_is_used_but_not_remembered(site_store):
    lose_accounts()
    forget_accounts(site_store)

    with failing(known_store, "known_site", DatabaseError("locked")):
        start_again()

    assert known_store.known_site() is None


def test_a_process_that_connects_checks_the_server_once(site_store):
    checks = []
    with meanwhile(schema, "check_server", lambda: checks.append(1)):
        wiring.forget_repositories()
        wiring.repository()

    assert checks == [1]
