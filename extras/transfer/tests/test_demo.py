"""`manage.py demo`, and the seeding of an empty site on its first start."""

import json
import time
from io import StringIO

import pytest
from django.apps import apps
from django.contrib.auth import authenticate
from django.core.management import call_command
from django.core.management.base import CommandError

from accounts.models import Ban, BanScope, MemberNote, User
from articles.domain.articles import Choice
from articles.domain.moderation_log import Actor
from articles.models import SiteText
from articles.repository import ImportRunning
from articles.web import wiring
from extras.transfer.demo import seeding
from extras.transfer.demo.seeding import content_articles
from extras.transfer.tests.seeded import counts, everything, logins, views, votes, wanted_counts, wanted_views
from tests.internals import Imports, Store, Votes, failing
from tests.store_state import contents, hold_import_lock, set_clock


@pytest.fixture(autouse=True)
def data_dir(settings, tmp_path):
    """A data directory for the files that seeding writes; it does not change the store."""
    settings.STORE_OPENER = "contextlib.nullcontext"
    settings.DATA_DIR = tmp_path
    return tmp_path


@pytest.fixture(autouse=True)
def short_content(monkeypatch):
    """Fill sites with a fifth of the articles, some of them discussed: they suffice for what is tested here."""
    content = seeding._content()
    monkeypatch.setattr(seeding, "_content", lambda: content | {"articles": content["articles"][:26]})


def test_with_a_shorter_voting_window_every_article_is_still_open(run, site_store, settings):
    settings.VOTING_WINDOW_DAYS = 1 / 12
    wiring.forget_repositories()
    run("demo")
    assert all(article.is_open(time.time() + 600) for article in everything(site_store).values())
    assert list(site_store.audit.run()) == []


@pytest.mark.parametrize("is_removed", [False, True])
def test_a_site_with_articles_is_refused(run, site_store, data_dir, is_removed):
    posted = site_store.articles.post(1, "alice", "Mine", "https://example.org/")
    if is_removed:
        site_store.articles.remove(posted.id, Actor(9, "carol"), "spam")
    with pytest.raises(CommandError, match="already has articles") as caught:
        run("demo")
    assert caught.value.returncode == 1
    assert seeding.seed_if_empty(site_store) is None
    assert site_store.imports.count() == 1
    assert not User.objects.exists()
    assert list(data_dir.iterdir()) == []


def test_a_site_is_seeded_only_once(run, site_store, data_dir):
    run("demo")
    before, kept = votes(site_store), logins(data_dir)
    with pytest.raises(CommandError, match="already has articles"):
        run("demo")
    assert seeding.seed_if_empty(site_store) is None
    assert (votes(site_store), logins(data_dir)) == (before, kept)


@pytest.mark.parametrize(
    ("demo", "address", "is_filled"),
    [
        ("", "", True),
        ("", "https://news.example.org", False),
        (True, "https://news.example.org", True),
        (False, "", False),
    ],
)
def test_a_start_fills_a_site_that_has_no_address_or_is_told_to(
    site_store, settings, tmp_path, demo, address, is_filled
):
    settings.DEMO, settings.SITE_URL, settings.SEARCH_DIR = demo, address, tmp_path / "search"

    told = apps.get_app_config("transfer").prepare(site_store)

    assert ("Demo content added" in told) is is_filled
    assert (site_store.imports.count() > 0) is is_filled


def test_demo_content_never_enters_a_site_with_accounts(site_store, alice):
    assert seeding.seed_if_empty(site_store) is None
    assert site_store.imports.count() == 0


def test_nothing_is_added_during_an_import(run, site_store):
    hold_import_lock(site_store)
    assert "An import is running" in (seeding.seed_if_empty(site_store) or "")
    with pytest.raises(CommandError, match="An import is running"):
        run("demo")
    with pytest.raises(ImportRunning):
        seeding.seed(site_store)
    assert site_store.imports.count() == 0


@pytest.mark.deep
@pytest.mark.parametrize(
    ("owner", "name", "at"),
    [
        (seeding.private_files, "write", 1), (Imports, "add", 1), (Votes, "cast", 60),
        (seeding, "_view", 1), (Store, "_replies", 9), (seeding, "_make_logins", 1), (seeding, "_summary", 1),
    ],
)  # fmt: skip
def test_seeding_interrupted_anywhere_is_finished_by_the_next_run(run, site_store, data_dir, owner, name, at):
    with failing(owner, name, at=at), pytest.raises(CommandError, match="Run it again to finish"):
        run("demo")
    if name != "_summary":  # the last step, after all others are done
        assert "Demo content added" in run("demo")
    assert counts(site_store) == wanted_counts()
    assert views(site_store) == wanted_views()
    assert authenticate(username="demo-moderator", password=logins(data_dir)["demo-moderator"]) is not None
    assert list(site_store.audit.run()) == []


def begin():
    with failing(seeding, "ThreadPoolExecutor", at=1), pytest.raises(CommandError):
        call_command("demo", stdout=StringIO())


@pytest.mark.deep
def test_seeding_resumed_after_a_long_time_omits_votes_on_closed_articles(run, site_store):
    begin()
    set_clock(site_store, lambda: time.time() + 4 * 86400)
    assert "Demo content added" in run("demo")
    assert list(site_store.audit.run()) == []


@pytest.mark.deep
@pytest.mark.parametrize("text", ["", "{", "[]", '{"at": null, "logins": []}', json.dumps({"at": 5})])
def test_a_damaged_marker_file_is_ignored(run, site_store, data_dir, text):
    (data_dir / "demo-begun.json").write_text(text)
    assert "Demo content added" in run("demo")
    assert sorted(path.name for path in data_dir.iterdir()) == ["demo-logins.txt"]


def test_the_demo_content_is_removed_and_nothing_else(run, site_store, data_dir):
    run("demo")
    alice = User.objects.create_user("alice")
    site_store.votes.cast(1, alice.pk, Choice.VOTE)
    site, last = site_store.site_id, max(everything(site_store))
    highest = max(User.objects.values_list("pk", flat=True))

    demo, moderator = User.objects.get(username="demo"), User.objects.get(username="demo-moderator")
    Ban.objects.begin(demo, BanScope.VOTING, "A ring", ends_at=None, moderator_id=moderator.pk)
    MemberNote.objects.create(member=demo, author=moderator, text="Votes with a friend")
    SiteText.objects.filter(name="rules", language="en").update(text="Our own rules.")
    output = run("demo", "--remove")

    assert f"{len(content_articles())} articles and" in output
    assert list(User.objects.values_list("username", flat=True)) == ["alice"]
    assert everything(site_store) == {}
    assert site_store.groups.list_all() == []
    assert list(SiteText.objects.values_list("text", flat=True)) == ["Our own rules."]
    assert site_store.groups.get_descriptions() == {}
    assert site_store.members.get_voted(alice.pk).articles == ()
    assert list(site_store.audit.run()) == []
    assert wiring.unprepared_repository().site_id == site
    assert site_store.articles.post(alice.pk, "alice", "First", "https://example.org/1").id == last + 1
    assert User.objects.create_user("demo").pk > highest
    assert not seeding.logins_file().exists()


def test_demo_content_beside_other_articles_is_left_alone(run, site_store, alice):
    run("demo")
    site_store.articles.post(alice.pk, "alice", "Mine", "https://example.org/mine")
    before = contents(site_store), User.objects.count()

    with pytest.raises(CommandError, match=r"1 articles are not the demo's\. The demo content can only"):
        run("demo", "--remove")
    assert (contents(site_store), User.objects.count()) == before


def test_a_site_without_accounts_is_told_that_the_demo_comes_again(run, site_store):
    run("demo")

    assert "Set DEMO=0" in run("demo", "--remove")
    assert "0 articles and 0 accounts of the demo deleted" in run("demo", "--remove")
