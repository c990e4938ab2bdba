"""What `manage.py demo` fills a site with."""

import stat
import time
from collections import Counter
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest
from django.conf import settings
from django.contrib.auth import authenticate
from django.core.management import call_command
from django.db import transaction
from django.test import override_settings
from pytest_django import DjangoDbBlocker

from accounts.models import User
from articles import wiring
from articles.demo.readers import draw_views
from articles.domain.comments import CommentOrder
from articles.domain.lists import Order
from articles.domain.members import PLACEHOLDERS
from articles.repository import Repository
from tests.commands.seeded import counts, everything, logins, views, votes, wanted_counts, wanted_views
from tests.factories import browser_of
from tests.store_state import client_of
from tests.topologies.of_this_run import Databases

pytestmark = pytest.mark.django_db


class Filled(NamedTuple):
    """A site that the command has filled, its output, and where it wrote files."""

    repository: Repository
    out: str
    data_dir: Path


@pytest.fixture(scope="module")
def filled(
    store_paths: Databases,
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Filled]:
    """A filled site for the whole module, whose tests change nothing."""
    data_dir, out = tmp_path_factory.mktemp("demo"), StringIO()
    client_of(settings.STORE_URL).flushdb()
    wiring.forget_repositories()
    own = override_settings(DATA_DIR=data_dir, STORE_OPENER="contextlib.nullcontext")
    with django_db_blocker.unblock(), own, transaction.atomic():
        call_command("demo", stdout=out)
        yield Filled(wiring.patient_repository(), out.getvalue(), data_dir)
        transaction.set_rollback(True)
    wiring.forget_repositories()


def test_the_command_fills_an_empty_site(filled):
    articles = everything(filled.repository).values()
    votes, views = sum(a.votes + a.opposes for a in articles), sum(a.pv for a in articles)
    assert filled.out.startswith(
        f"Demo content added: {len(articles)} articles, {votes:,} votes, {views:,} views.\n"
    )
    assert len(articles) >= 120
    assert list(filled.repository.audit.run()) == []


def test_groups_have_titles_and_articles(filled):
    groups = filled.repository.groups.list_all()
    assert len(groups) == 8
    assert all(group.articles >= 10 for group in groups)
    assert {group.slug: group.title for group in groups}["history"] == "Computing history"


def test_groups_have_a_description_that_visitors_see(filled):
    page = browser_of().get("/groups/redis/").text
    assert '<a href="/groups/databases/"' in page
    assert "也欢迎" in page


def test_every_article_is_open_and_the_recent_ones_are_denser(filled):
    now = time.time()
    ages = sorted(now - article.posted_at for article in everything(filled.repository).values())
    assert all(article.is_open(now + 86400 * 0.9) for article in everything(filled.repository).values())
    assert ages[0] < 600
    assert 5 * 86400 < ages[-1] < 6.1 * 86400
    assert sum(age < 86400 for age in ages) > 2 * len(ages) / 6


def test_ids_grow_with_time(filled):
    times = [article.posted_at for article in everything(filled.repository).values()]
    assert times == sorted(times)


def test_voters_are_members_and_posters_are_among_them(filled):
    members = {str(user.pk) for user in User.objects.filter(imported=True)}
    assert len(members) == 20
    articles = everything(filled.repository)
    for article_id, (voted, opposed) in votes(filled.repository).items():
        assert voted | opposed <= members
        assert str(articles[article_id].poster) in voted
    assert not any(int(member) in PLACEHOLDERS for member in members)


def test_points_are_spread_as_on_a_real_site(filled):
    articles = everything(filled.repository).values()
    points = sorted(article.points for article in articles)
    assert len(set(points)) >= 12
    assert points[0] < 0
    assert points[-1] >= 15
    assert points[len(points) // 2] <= 6
    assert 5 <= sum(article.opposes > 1 for article in articles) <= len(articles) / 3
    front = [article.points for article in filled.repository.lists.get_page(Order.SCORE).articles]
    assert len(set(front)) >= 6


def test_the_front_page_shows_popular_articles_from_the_start(filled):
    front, best, newest = (
        [article.id for article in filled.repository.lists.get_page(order).articles]
        for order in (Order.SCORE, Order.POINTS, Order.TIME)
    )
    assert 5 <= filled.repository.parameters.get_current().votes_per_day <= 12
    assert front[0] in best[:5]
    assert len(set(front) & set(newest)) < 20
    assert list(filled.repository.audit.run()) == []


def test_votes_are_the_same_each_time(filled):
    assert counts(filled.repository) == wanted_counts()


def test_the_hot_list_is_varied(filled):
    page = filled.repository.lists.get_page(Order.HOT)
    assert page.total == len(everything(filled.repository))
    newest = filled.repository.lists.get_page(Order.TIME)
    front = filled.repository.lists.get_page(Order.SCORE)
    ids = [[article.id for article in one.articles[:10]] for one in (page, newest, front)]
    assert ids[0] not in (ids[1], ids[2])
    assert len({article.hotness for article in page.articles}) == 25
    assert all(1 <= article.uv <= article.pv for article in page.articles)
    pvs = sorted(article.pv for article in everything(filled.repository).values())
    assert pvs[0] <= 5
    assert pvs[-1] >= 40
    assert abs(filled.repository.hot.get_refreshed_at() - time.time()) < 60


def test_views_are_spread_over_the_days_and_some_are_suspect(filled):
    *whole_days, _today = days = filled.repository.pageviews.list_days()[-6:]
    assert all(day.counted > 30 and day.visitors > 20 for day in whole_days)
    suspects = sum((Counter(day.suspects) for day in days), Counter())
    assert set(suspects) == {"bot", "prefetch"}
    assert sum(suspects.values()) < sum(day.counted for day in days) / 2


def test_views_fall_between_posting_and_the_start_of_seeding():
    facts = [("a", 1.0, 1000.0), ("b", 0.0, 4990.0)]
    for one, (_, _, posted_at) in zip(draw_views(facts, 5000.0), facts, strict=True):
        assert one.counted
        assert all(posted_at <= at <= 5000 for _, at in one.counted + one.suspect)


def test_no_visitor_returns_too_soon_to_be_counted():
    for one in draw_views([("a", 1.0, -6 * 86400.0)] * 20, 0.0):
        last = {}
        for visit, at in one.counted:
            assert at - last.get(visit.visitor, -1e9) >= 1800
            last[visit.visitor] = at
        assert len(last) < len(one.counted), "some come back"


def test_views_are_the_same_each_time(filled):
    assert views(filled.repository) == wanted_views()


def test_two_logins_are_printed_and_stored_for_the_operator_only(filled):
    kept = logins(filled.data_dir)
    assert set(kept) == {"demo", "demo-moderator"}
    assert all(f"{name}" in filled.out and password in filled.out for name, password in kept.items())
    assert stat.S_IMODE((filled.data_dir / "demo-logins.txt").stat().st_mode) == 0o600
    assert len(set(kept.values())) == 2
    for name, password in kept.items():
        assert len(password) >= 16
        assert authenticate(username=name, password=password) is not None


def test_only_the_demo_moderator_can_moderate(filled):
    assert User.objects.get(username="demo-moderator").has_perm("articles.remove_articles")
    assert not User.objects.get(username="demo").has_perm("articles.remove_articles")
    assert not User.objects.filter(is_staff=True).exists()


def test_each_member_joined_at_a_different_time_before_posting(filled):
    joined = {user.pk: user.date_joined.timestamp() for user in User.objects.filter(imported=True)}
    articles = list(everything(filled.repository).values())

    assert all(joined[article.poster] < article.posted_at for article in articles)
    assert len({int(at // 86400) for at in joined.values()}) > len(joined) / 2
    assert min(joined.values()) > min(article.posted_at for article in articles) - 400 * 86400


def test_articles_are_discussed_one_of_them_a_text_and_one_discussion_is_locked(filled):
    discussed = [article for article in everything(filled.repository).values() if article.comments]
    assert len(discussed) >= 7
    assert [article.locked is not None for article in discussed].count(True) == 1

    (text,) = [article for article in discussed if not article.link]
    thread = filled.repository.comments.get_thread(text.id, CommentOrder.BEST)
    assert {text.poster} < {comment.author for comment in thread.comments}
    assert max(comment.depth for comment in thread.comments) == 2
    assert all(comment.votes for comment in thread.comments)
    assert filled.repository.flags.count() == 1


def test_the_member_follows_groups_and_has_replies(filled):
    demo = User.objects.get(username="demo")
    assert filled.repository.groups.get_targets(demo.followed_groups.split(",")).keys() >= {"databases"}
    assert len(filled.repository.groups.get_targets(demo.followed_groups.split(","))) == 3
    assert [notice.kind.value for notice in filled.repository.inbox.get_page(demo.pk).notices] == ["reply"] * 2
