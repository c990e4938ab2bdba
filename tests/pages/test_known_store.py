"""A store that is not the site's is refused until the operator accepts it."""

import pytest
from django.core.management import call_command
from django.db import DatabaseError
from django.test import Client

from articles import known_store, wiring
from articles.demo.seeding import seed_if_empty
from articles.domain.errors import StoreUnfit
from tests.store_state import lose_everything


def start_again():
    wiring.forget_repositories()
    return wiring.repository()


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


def test_without_a_known_store_there_is_nothing_to_accept(site_store, capsys):
    known_store.forget()
    call_command("accept_store")

    assert "There is no store to forget." in capsys.readouterr().out


def test_a_store_that_was_used_before_the_accounts_remember_it_is_accepted(site_store, article):
    known_store.forget()

    assert start_again().articles.get(article).title == "A title"
    assert known_store.known_site() == site_store.site_id


def test_while_the_accounts_are_away_the_store_is_used_but_not_remembered(site_store, monkeypatch):
    known_store.forget()

    def fail():
        raise DatabaseError("locked")

    with monkeypatch.context() as patched:
        patched.setattr(known_store, "known_site", fail)
        start_again()

    assert known_store.known_site() is None


def test_demo_content_never_enters_a_site_with_accounts(site_store, alice):
    assert seed_if_empty(site_store) is None
    assert site_store.imports.count() == 0
