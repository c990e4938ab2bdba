"""Moving the site to another store by the command."""

import pytest
from django.core.management import CommandError

from articles import wiring
from articles.domain.articles import Choice
from articles.management.commands import move_store
from articles.repository import Place
from tests.cast import ALICE, BOB
from tests.factories import post
from tests.internals import failing, forgotten_moves, marks, meanwhile
from tests.rules import connect
from tests.store_state import abandon_lease, client_of, expire_lease, hold_import_lock, import_lock_holder
from tests.topologies import of_this_run


@pytest.fixture(autouse=True)
def other_url(store_paths):
    """The URL of an empty store; no process of another test is led there."""
    url = store_paths.url(of_this_run.OTHER_DATABASE)
    client_of(url).flushdb()
    with forgotten_moves():
        yield url
    client_of(url).flushdb()
    wiring.forget_repositories()


def test_a_move_that_was_killed_a_moment_ago_says_what_it_waits_for_and_continues(run, site_store, other_url):
    article = post(site_store, 1)
    assert site_store.move_to(connect(other_url, shards=4)).copy(lambda *_: None) == []
    abandon_lease(site_store, 30)
    hold_import_lock(site_store, "move")

    with meanwhile(move_store.time, "sleep", lambda: expire_lease(site_store)):
        told = run("move_store", other_url, shards=4, notice=0)

    assert "Waiting until housekeeping lets the move begin" in told
    assert "The audit found nothing." in told
    assert connect(other_url, shards=4).articles.get(article, ALICE)
    assert import_lock_holder(site_store) is None


def test_a_move_waits_for_the_end_of_an_import(run, site_store, other_url):
    hold_import_lock(site_store)
    with pytest.raises(CommandError, match="Articles are being imported"):
        run("move_store", other_url, notice=0)
    assert import_lock_holder(site_store) == "another"


def test_a_move_that_is_run_again_after_its_end_says_what_to_do_next(run, site_store, other_url):
    run("move_store", other_url, shards=4, notice=0)

    told = run("move_store", other_url, shards=4, notice=0)

    assert "The site has moved to this store already." in told
    assert "move_store --confirm" in told


@pytest.mark.parametrize("ends", ["--cancel", "--confirm"])
def test_a_running_move_is_neither_cancelled_nor_confirmed(run, site_store, monkeypatch, ends):
    monkeypatch.setattr(move_store, "_LEASE_SECONDS", 0)
    abandon_lease(site_store, 30)
    with pytest.raises(CommandError, match="another move or a long backup is going on"):
        run("move_store", ends)


def test_a_move_that_died_before_the_other_store_was_opened_is_completed_by_the_next_process(
    run, site_store, other_url, settings
):
    article = post(site_store, 1)
    move = site_store.move_to(connect(other_url, shards=4))
    move.copy(lambda *_: None)
    with failing(marks, "open_copy"), pytest.raises(KeyboardInterrupt):
        move.switch(Place(settings.STORE_URL, settings.STORE_SHARDS), Place(other_url, 4), lambda *_: None)

    wiring.patient_repository().votes.cast(article, BOB, Choice.VOTE)
    assert connect(other_url, shards=4).articles.get(article, BOB).choice is Choice.VOTE
