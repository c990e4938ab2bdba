"""Copies of pages after what they show was removed, replaced, or lost its name: they are not shown any more."""

import errno
import os
from pathlib import Path
from threading import Thread

import pytest
from django.test import Client

from articles.domain.errors import GroupExists, StoreUnconfirmed
from articles.page_store import Address, PageStore, pack
from articles.web import account_ids
from tests.factories import actor, browser_of
from tests.internals import meanwhile
from tests.store_state import lost_answers

LINK = "https://example.org/a"
LISTS = ("/", "/newest/", "/top/", "/groups/python/", "/users/alice/", "/search/?q=title", "/articles/1/")
FEEDS = ("/feeds/newest.atom", "/feeds/search.atom?q=title", "/sitemap-articles-1.xml")


@pytest.fixture
def other(site_store, bob):
    """An article posted by bob."""
    return site_store.articles.post(bob.pk, "bob", "Something else", "https://example.org/other").id


def visible(path):
    """Return the page that a reader gets; "" if there is none."""
    response = Client().get(path)
    return response.content.decode() if response.status_code == 200 else ""


def remove(repository, carol):
    repository.articles.remove(1, actor(carol), "Spam")


def edit(repository, carol):
    repository.articles.edit(1, actor(carol), "Improved", "https://example.org/new", moderator=True)


def take_out(repository, carol):
    repository.groups.assign(1, remove=["python"], actor=actor(carol))


def delete_alice(repository, alice):
    while account_ids.anonymise(alice.pk, "alice", "", lambda: True, False):
        pass


@pytest.mark.parametrize("change", [remove, edit])
@pytest.mark.parametrize("path", [*LISTS, *FEEDS, "/articles/1/?a=1", "/articles/1/why/"])
def test_no_copy_shows_what_was_removed_or_replaced(kept, outage, article, carol, site_store, path, change):
    assert "A title" in visible(path) or "/articles/1/" in visible(path)
    change(site_store, carol)
    outage()

    assert LINK not in visible(path)
    assert "A title" not in visible(path)
    assert "/articles/1/" not in visible(path)


@pytest.mark.parametrize("change", [remove, edit])
def test_no_copy_of_another_article_has_it_as_neighbour(kept, outage, article, other, carol, site_store, change):
    assert "A title" in visible(f"/articles/{other}/why/")
    change(site_store, carol)
    outage()

    assert visible(f"/articles/{other}/why/") == ""


@pytest.mark.parametrize("path", ["/groups/python/", "/articles/1/", "/feeds/groups/python.atom"])
def test_no_copy_shows_an_article_in_a_group_that_it_left(kept, outage, article, carol, site_store, path):
    assert "A title" in visible(path)
    take_out(site_store, carol)
    outage()

    assert visible(path) == ""


@pytest.mark.parametrize("path", ["/articles/1/", "/articles/99/", "/", "/feeds/front.atom", "/about/"])
def test_too_many_parameters_are_no_error_of_the_site(kept, article, path):
    assert Client().get(f"{path}?{'a&' * 1500}").status_code in (200, 400, 404)


@pytest.mark.parametrize("path", [*LISTS, *FEEDS])
def test_no_copy_shows_the_name_of_a_deleted_member(kept, outage, article, alice, site_store, path):
    Client().get(path)
    delete_alice(site_store, alice)
    outage()

    assert "alice" not in visible(path)


def test_no_copy_shows_a_deleted_moderators_name(kept, outage, article, other, carol, site_store):
    remove(site_store, carol)
    assert "carol" in visible("/articles/1/")
    assert "carol" in visible("/moderation/")
    account_ids.anonymise(carol.pk, "carol", "", lambda: True, False)
    outage()

    assert "carol" not in visible("/articles/1/") + visible("/moderation/")


def test_a_removal_is_shown_without_an_outage_in_feeds_too(kept, article, carol, site_store):
    assert all(visible(path) for path in FEEDS)
    remove(site_store, carol)

    assert not any("A title" in visible(path) or "/articles/1/" in visible(path) for path in FEEDS)


def test_a_restored_article_is_shown_at_once(kept, article, carol, site_store):
    remove(site_store, carol)
    assert "A title" not in visible("/feeds/newest.atom")
    site_store.articles.restore(1, actor(carol), "A mistake")

    assert "A title" in visible("/feeds/newest.atom")


@pytest.mark.parametrize("change", ["rename", "merge"])
def test_no_copy_shows_the_title_of_a_renamed_or_merged_group(kept, outage, article, carol, site_store, change):
    site_store.groups.create("snakes", "Snakes")
    paths = ("/groups/", "/groups/python/", "/articles/1/")
    assert all("Python" in visible(path) for path in paths[:2])
    assert "python" in visible("/articles/1/")
    if change == "rename":
        site_store.groups.rename("python", "Reptiles", actor(carol))
    else:
        site_store.groups.merge("python", "snakes", actor(carol))
    outage()

    assert [visible(path) for path in paths] == [""] * 3


def test_the_pages_of_other_articles_stay(kept, outage, article, other, carol, alice, bob, site_store):
    for n in range(2):
        site_store.articles.post(bob.pk, "bob", "Between", f"https://example.org/between{n}")
    last = site_store.articles.post(bob.pk, "bob", "The last one", "https://example.org/last").id
    assert "A title" not in visible(f"/articles/{last}/")
    remove(site_store, carol)
    site_store.articles.restore(1, actor(carol), "A mistake")
    edit(site_store, carol)
    delete_alice(site_store, alice)
    outage()

    assert "The last one" in visible(f"/articles/{last}/")


@pytest.mark.parametrize("path", ["/articles/1/", "/feeds/newest.atom", "/"])
def test_a_page_read_before_a_removal_and_ready_after_is_not_kept(kept, outage, article, carol, site_store, path):
    with meanwhile(PageStore, "keep", lambda: remove(site_store, carol)):
        assert "A title" in visible(path)
    outage()

    assert visible(path) == ""


def test_a_change_without_an_answer_may_have_been_made(kept, outage, article, carol, site_store):
    Client().get("/articles/1/")
    with lost_answers(), pytest.raises(StoreUnconfirmed):
        remove(site_store, carol)
    outage()

    assert visible("/articles/1/") == ""


def test_a_refused_change_costs_no_copy(kept, outage, article, bob, site_store):
    Client().get("/")
    assert browser_of(bob).post("/articles/1/edit/", {"title": "X", "link": LINK}).status_code == 403
    with pytest.raises(GroupExists):
        site_store.groups.create("python", "Python")
    outage()

    assert "A title" in visible("/")


def test_main_lists_are_kept_again_after_a_removal(kept, outage, article, other, carol, site_store, refresher):
    Client().get("/")
    refresher().keep_main_lists()
    remove(site_store, carol)
    refresher().keep_waiting(3600)
    refresher().keep_main_lists()
    outage()

    assert all("Something else" in visible(path) for path in ("/", "/newest/"))


def test_copies_of_what_was_retracted_are_deleted(kept, article, other, carol, site_store):
    for path in ("/", "/articles/1/", f"/articles/{other}/"):
        Client().get(path)
    remove(site_store, carol)

    assert [path.name.startswith(f"article-{other}-") for path in kept.glob("[!.]*")] == [True]


# The mark


def copy(article=None):
    return pack(Address("http://a", "/x", "", "en", article), {"Content-Type": "text/html"}, 1.0, b"x")


def test_where_no_mark_can_be_written_all_copies_are_deleted(tmp_path, monkeypatch):
    store = PageStore(tmp_path)
    store.keep(copy(1))
    store.keep(copy())

    def no_room(*_args, **_options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "utime", no_room)
    store.retract([2])

    assert not list(tmp_path.glob("[!.]*"))


def test_the_retraction_of_all_articles_concerns_each(tmp_path):
    store = PageStore(tmp_path)
    for article in (None, 1, 2):
        store.keep(copy(article))
    before = store.latest_retraction()

    store.retract(None)

    assert store.latest_retraction() != before
    assert not list(tmp_path.glob("[!.]*"))


@pytest.mark.parametrize("article", [None, 1])
def test_no_copy_of_before_a_retraction_appears_after_it(tmp_path, article):
    store = PageStore(tmp_path)
    retraction = Thread(target=store.retract, args=([1],))

    def begin():
        retraction.start()
        retraction.join(0.1)  # it ends only after the copy is written, and then deletes it

    with meanwhile(Path, "write_bytes", begin):
        store.keep(copy(article), store.latest_retraction())
    retraction.join()
    assert not list(tmp_path.glob("[!.]*"))

    with meanwhile(PageStore, "_path", lambda: store.retract([1])):
        store.keep(copy(article), store.latest_retraction())
    assert not list(tmp_path.glob("[!.]*"))
