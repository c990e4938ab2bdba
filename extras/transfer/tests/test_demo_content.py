"""What `manage.py demo` fills a site with."""

import stat
import time
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

from articles.domain.comments import CommentOrder
from articles.domain.lists import Order
from articles.repository import Repository
from articles.web import wiring
from extras.transfer.tests.seeded import counts, everything, logins, views, wanted_counts, wanted_views
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
