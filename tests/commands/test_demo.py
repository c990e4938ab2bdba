"""`manage.py demo`, and the seeding of an empty site on its first start."""

import json
import stat
import time
from collections import Counter
from dataclasses import replace
from io import StringIO

import pytest
from django.contrib.auth import authenticate
from django.core.management import call_command
from django.core.management.base import CommandError

from accounts.models import User
from articles import wiring
from articles.demo import seeding
from articles.demo.readers import draw_views
from articles.demo.seeding import content_articles
from articles.domain.articles import Choice
from articles.domain.lists import Order
from articles.domain.members import PLACEHOLDERS
from articles.domain.moderation.log import Actor
from articles.repository import ImportRunning
from tests.internals import Hot, Imports, Store, Votes
from tests.store_state import contents, empty, hold_import_lock, set_clock, voters


@pytest.fixture(autouse=True)
def data_dir(settings, tmp_path):
    """A data directory for the files that seeding writes; it does not change the store."""
    settings.STORE_OPENER = "contextlib.nullcontext"
    settings.DATA_DIR = tmp_path
    return tmp_path


def everything(repository):
    return {article.id: article for article in repository.imports.iterate()}


def votes(repository):
    return {article_id: voters(repository, article_id) for article_id in everything(repository)}


def test_the_command_fills_an_empty_site(run, site_store):
    out = run("demo")
    articles = everything(site_store).values()
    votes, views = sum(a.votes + a.opposes for a in articles), sum(a.pv for a in articles)
    assert out.startswith(f"Demo content added: {len(articles)} articles, {votes:,} votes, {views:,} views.\n")
    assert len(articles) >= 120
    assert list(site_store.audit.run()) == []


def test_groups_have_titles_and_articles(run, site_store):
    run("demo")
    groups = site_store.groups.list_all()
    assert len(groups) == 8
    assert all(group.articles >= 10 for group in groups)
    assert {group.slug: group.title for group in groups}["history"] == "Computing history"


def test_every_article_is_open_and_the_recent_ones_are_denser(run, site_store):
    run("demo")
    now = time.time()
    ages = sorted(now - article.posted_at for article in everything(site_store).values())
    assert all(article.is_open(now + 86400 * 0.9) for article in everything(site_store).values())
    assert ages[0] < 600
    assert 5 * 86400 < ages[-1] < 6.1 * 86400
    assert sum(age < 86400 for age in ages) > 2 * len(ages) / 6


def test_ids_grow_with_time(run, site_store):
    run("demo")
    times = [article.posted_at for article in everything(site_store).values()]
    assert times == sorted(times)


def test_with_a_shorter_voting_window_every_article_is_still_open(run, site_store, monkeypatch):
    monkeypatch.setattr(site_store.store, "rules", replace(site_store.store.rules, voting_window=7200))
    monkeypatch.setattr(site_store, "rules", site_store.store.rules)
    run("demo")
    assert all(article.is_open(time.time() + 600) for article in everything(site_store).values())
    assert list(site_store.audit.run()) == []


def test_voters_are_members_and_posters_are_among_them(run, site_store):
    run("demo")
    members = {str(user.pk) for user in User.objects.filter(imported=True)}
    assert len(members) == 20
    articles = everything(site_store)
    for article_id, (voted, opposed) in votes(site_store).items():
        assert voted | opposed <= members
        assert str(articles[article_id].poster) in voted
    assert not any(int(member) in PLACEHOLDERS for member in members)


def test_points_are_spread_as_on_a_real_site(run, site_store):
    run("demo")
    articles = everything(site_store).values()
    points = sorted(article.points for article in articles)
    assert len(set(points)) >= 12
    assert points[0] < 0
    assert points[-1] >= 15
    assert points[len(points) // 2] <= 6
    assert 5 <= sum(article.opposes > 1 for article in articles) <= len(articles) / 3
    front = [article.points for article in site_store.lists.get_page(Order.SCORE).articles]
    assert len(set(front)) >= 6


def test_the_front_page_shows_popular_articles_from_the_start(run, site_store):
    run("demo")

    front, best, newest = (
        [article.id for article in site_store.lists.get_page(order).articles]
        for order in (Order.SCORE, Order.POINTS, Order.TIME)
    )
    assert 5 <= site_store.parameters.get_current().votes_per_day <= 12
    assert front[0] in best[:5]
    assert len(set(front) & set(newest)) < 20
    assert list(site_store.audit.run()) == []


def counts(repository):
    return {a.link or a.title: (a.votes, a.opposes, a.poster_name) for a in everything(repository).values()}


def wanted_counts():
    """What seeding draws, whenever it is done."""
    posters, links = seeding._posters(), [row["link"] or row["title"] for row in seeding._content()["articles"]]
    ages = [-posted_at for posted_at in seeding._times(0, 7 * 86400)]
    chosen = Counter((vote.article, vote.choice) for vote in seeding._votes(ages, posters))
    return {
        link: (1 + chosen[link, Choice.VOTE], chosen[link, Choice.OPPOSE], poster)
        for link, poster in zip(links, posters, strict=True)
    }


def test_votes_are_the_same_each_time(run, site_store):
    run("demo")
    assert counts(site_store) == wanted_counts()


def views(repository):
    """Return the counted and the suspect views of each article."""
    return {
        a.link or a.title: (a.pv, repository.pageviews.get_suspects(a.id)) for a in everything(repository).values()
    }


def wanted_views():
    """What seeding draws, whenever it is done."""
    rows, times = seeding._content()["articles"], seeding._times(0, 7 * 86400)
    facts = [
        (row["link"] or row["title"], row["appeal"], posted_at) for row, posted_at in zip(rows, times, strict=True)
    ]
    return {
        one.article: (len(one.counted), dict(Counter(visit.suspicion.value for visit, _ in one.suspect)))
        for one in draw_views(facts, 0)
    }


def test_the_hot_list_is_varied(run, site_store):
    run("demo")
    page = site_store.lists.get_page(Order.HOT)
    assert page.total == len(everything(site_store))
    newest = site_store.lists.get_page(Order.TIME)
    front = site_store.lists.get_page(Order.SCORE)
    ids = [[article.id for article in one.articles[:10]] for one in (page, newest, front)]
    assert ids[0] not in (ids[1], ids[2])
    assert len({article.hotness for article in page.articles}) == 25
    assert all(1 <= article.uv <= article.pv for article in page.articles)
    pvs = sorted(article.pv for article in everything(site_store).values())
    assert pvs[0] <= 5
    assert pvs[-1] >= 40
    assert abs(site_store.hot.get_refreshed_at() - time.time()) < 60


def test_views_are_spread_over_the_days_and_some_are_suspect(run, site_store):
    run("demo")
    *whole_days, _today = days = site_store.pageviews.list_days()[-6:]
    assert all(day.counted > 30 and day.visitors > 20 for day in whole_days)
    suspects = sum((Counter(day.suspects) for day in days), Counter())
    assert set(suspects) == {"bot", "prefetch"}
    assert sum(suspects.values()) < sum(day.counted for day in days) / 2


def test_views_fall_between_posting_and_the_start_of_seeding(site_store):
    facts = [("a", 1.0, 1000.0), ("b", 0.0, 4990.0)]
    for one, (_, _, posted_at) in zip(draw_views(facts, 5000.0), facts, strict=True):
        assert one.counted
        assert all(posted_at <= at <= 5000 for _, at in one.counted + one.suspect)


def test_no_visitor_returns_too_soon_to_be_counted(site_store):
    for one in draw_views([("a", 1.0, -6 * 86400.0)] * 20, 0.0):
        last = {}
        for visit, at in one.counted:
            assert at - last.get(visit.visitor, -1e9) >= 1800
            last[visit.visitor] = at
        assert len(last) < len(one.counted), "some come back"


def test_views_are_the_same_each_time(run, site_store):
    run("demo")
    assert views(site_store) == wanted_views()


def logins(path):
    return dict(line.split() for line in (path / "demo-logins.txt").read_text().splitlines())


def test_two_logins_are_printed_and_stored_for_the_operator_only(run, site_store, data_dir):
    out = run("demo")
    kept = logins(data_dir)
    assert set(kept) == {"demo", "demo-moderator"}
    assert all(f"{name}" in out and password in out for name, password in kept.items())
    assert stat.S_IMODE((data_dir / "demo-logins.txt").stat().st_mode) == 0o600
    assert len(set(kept.values())) == 2
    for name, password in kept.items():
        assert len(password) >= 16
        assert authenticate(username=name, password=password) is not None


def test_only_the_demo_moderator_can_moderate(run, site_store):
    run("demo")
    assert User.objects.get(username="demo-moderator").has_perm("articles.remove_articles")
    assert not User.objects.get(username="demo").has_perm("articles.remove_articles")
    assert not User.objects.filter(is_staff=True).exists()


def test_an_existing_account_is_unchanged(run, site_store, data_dir):
    User.objects.create_user("Demo", password="correct horse battery staple")
    out = run("demo")
    assert set(logins(data_dir)) == {"demo-moderator"}
    assert "The account demo already existed and was not changed." in out
    assert authenticate(username="demo", password="correct horse battery staple") is not None


def test_a_site_with_articles_is_refused(run, site_store, data_dir):
    site_store.articles.post(1, "alice", "Mine", "https://example.org/")
    with pytest.raises(CommandError, match="has articles already") as caught:
        run("demo")
    assert caught.value.returncode == 1
    assert seeding.seed_if_empty(site_store) is None
    assert site_store.imports.count() == 1
    assert not User.objects.exists()
    assert list(data_dir.iterdir()) == []


def test_a_site_whose_only_article_was_removed_is_refused(run, site_store):
    posted = site_store.articles.post(1, "alice", "Mine", "https://example.org/")
    site_store.articles.remove(posted.id, Actor(9, "carol"), "spam")
    with pytest.raises(CommandError, match="has articles already"):
        run("demo")


def test_a_site_is_seeded_only_once(run, site_store, data_dir):
    run("demo")
    before, kept = votes(site_store), logins(data_dir)
    with pytest.raises(CommandError, match="has articles already"):
        run("demo")
    assert seeding.seed_if_empty(site_store) is None
    assert (votes(site_store), logins(data_dir)) == (before, kept)


def test_the_first_start_of_a_site_reports_the_seeding(site_store):
    assert "Demo content added" in (seeding.seed_if_empty(site_store) or "")


def test_nothing_is_added_during_an_import(run, site_store):
    hold_import_lock(site_store)
    assert "An import is running" in (seeding.seed_if_empty(site_store) or "")
    with pytest.raises(CommandError, match="An import is running"):
        run("demo")
    with pytest.raises(ImportRunning):
        seeding.seed(site_store)
    assert site_store.imports.count() == 0


def interrupting(call, at):
    """Wrap a function so that its `at`-th call raises KeyboardInterrupt."""
    calls = []

    def counted(*args, **kwargs):
        calls.append(1)
        if len(calls) == at:
            raise KeyboardInterrupt
        return call(*args, **kwargs)

    return counted


@pytest.mark.parametrize(
    ("owner", "name", "at"),
    [
        (seeding, "_write_private", 1),
        (User.objects, "bulk_create_imported", 1),
        (Imports, "add", 1),
        (Imports, "_claim_links", 1),
        (seeding, "_cast", 1),
        (Votes, "cast", 1),
        (Votes, "cast", 300),
        (seeding, "_view", 1),
        (Store, "_attempt", 9),
        (Hot, "rescore", 1),
        (seeding, "_make_logins", 1),
        (seeding, "_write_private", 2),
        (User, "set_password", 2),
        (seeding, "_summary", 1),
    ],
)
def test_seeding_interrupted_anywhere_is_finished_by_the_next_run(
    run, site_store, data_dir, monkeypatch, owner, name, at
):
    with monkeypatch.context() as patched:
        patched.setattr(owner, name, interrupting(getattr(owner, name), at))
        with pytest.raises(CommandError, match="Run it again to finish"):
            run("demo")
    if name != "_summary":  # the last step, after all others are done
        assert "Demo content added" in run("demo")
    assert counts(site_store) == wanted_counts()
    assert views(site_store) == wanted_views()
    assert authenticate(username="demo-moderator", password=logins(data_dir)["demo-moderator"]) is not None
    assert list(site_store.audit.run()) == []


@pytest.mark.parametrize("done", [0, 1, 2, 4])
def test_interrupted_views_are_neither_duplicated_nor_lost(run, site_store, monkeypatch, done):
    sent, batches = Store._attempt, []

    def attempt(self, calls, client):
        if calls and calls[0].script == "readership/record_view":
            if len(batches) == done:
                sent(self, calls[: len(calls) // 3], client)  # part of a batch is stored
                raise KeyboardInterrupt
            batches.append(1)
        return sent(self, calls, client)

    with monkeypatch.context() as patched:
        patched.setattr(Store, "_attempt", attempt)
        with pytest.raises(CommandError, match="Run it again to finish"):
            run("demo")
    assert views(site_store) != wanted_views()

    run("demo")

    assert views(site_store) == wanted_views()
    assert list(site_store.audit.run()) == []


def begin(site_store, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(seeding, "_cast", interrupting(seeding._cast, 1))
        with pytest.raises(CommandError):
            call_command("demo", stdout=StringIO())


def test_interrupted_seeding_is_not_finished_on_a_site_with_other_articles(run, site_store, monkeypatch):
    begin(site_store, monkeypatch)
    empty(site_store)
    site_store.prepare()
    site_store.articles.post(1, "alice", "Mine", "https://example.org/")
    assert seeding.seed_if_empty(site_store) is None
    assert site_store.imports.count() == 1


def test_seeding_resumed_after_a_long_time_omits_votes_on_closed_articles(run, site_store, monkeypatch):
    begin(site_store, monkeypatch)
    set_clock(site_store, lambda: time.time() + 4 * 86400)
    assert "Demo content added" in run("demo")
    assert list(site_store.audit.run()) == []


@pytest.mark.parametrize("text", ["", "{", "[]", '{"at": null, "logins": []}', json.dumps({"at": 5})])
def test_a_damaged_marker_file_is_ignored(run, site_store, data_dir, text):
    (data_dir / "demo-begun.json").write_text(text)
    assert "Demo content added" in run("demo")
    assert sorted(path.name for path in data_dir.iterdir()) == ["demo-logins.txt"]


def test_the_demo_member_can_vote(run, site_store):
    run("demo")
    article = site_store.lists.get_page(Order.TIME).articles[0]
    demo = User.objects.get(username="demo")
    assert site_store.votes.cast(article.id, demo.pk, Choice.VOTE).votes == article.votes + 1


def test_each_member_joined_at_a_different_time_before_posting(run, site_store):
    run("demo")
    joined = {user.pk: user.date_joined.timestamp() for user in User.objects.filter(imported=True)}
    articles = list(everything(site_store).values())

    assert all(joined[article.poster] < article.posted_at for article in articles)
    assert len({int(at // 86400) for at in joined.values()}) > len(joined) / 2
    assert min(joined.values()) > min(article.posted_at for article in articles) - 400 * 86400


def test_an_existing_member_keeps_their_joining_date(run, site_store):
    name = seeding._content()["members"][0]
    member = User.objects.create_user(name, password="a long enough secret")
    run("demo")

    assert User.objects.get(pk=member.pk).date_joined == member.date_joined


def test_the_demo_content_is_removed_and_nothing_else(run, site_store, data_dir):
    run("demo")
    alice = User.objects.create_user("alice")
    site_store.votes.cast(1, alice.pk, Choice.VOTE)
    site, last = site_store.site_id, max(everything(site_store))
    highest = max(User.objects.values_list("pk", flat=True))

    output = run("demo", "--remove")

    assert f"{len(content_articles())} articles and" in output
    assert list(User.objects.values_list("username", flat=True)) == ["alice"]
    assert everything(site_store) == {}
    assert site_store.groups.list_all() == []
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
