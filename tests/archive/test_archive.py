"""Archiving with the site's own database: its rows, missing or damaged rows, and failures."""

from datetime import UTC, datetime

import pytest
from django.db import DatabaseError, connection

from articles.domain.errors import ArticleNotFound, ArticleRemoved, StoreUnavailable
from articles.domain.lists import Order
from articles.domain.readership import Suspicion, Visit
from articles.models import ArchivedViews
from articles.web.readership import archive
from articles.web.readership.record import record_view
from tests.archive.conftest import ALICE_READS, BOB_READS, CAROL_READS, LONG, shown, view
from tests.cast import ALICE, MODERATOR
from tests.clock import Clock
from tests.factories import post
from tests.rules import connect
from tests.store_state import problems

pytestmark = pytest.mark.django_db


def put_away(repository):
    return archive.put_away(repository, at_most=1000, budget=60)


def come(repository, visitor, article_id=1):
    count = record_view(repository, article_id, Visit(visitor))
    return count.reason, count.pv, count.uv


@pytest.fixture
def archived(idle):
    assert put_away(idle) == 1
    return idle


def test_the_counters_of_an_unread_article_move_to_the_database(archived, clock):
    row = ArchivedViews.objects.get()

    assert (row.pk, row.pv, row.uv, row.suspects) == (1, 3, 2, {"bot": 2})
    assert bytes(row.sketch).startswith(b"HYLL")
    assert row.archived_at == datetime.fromtimestamp(clock(), UTC)
    assert row.viewed_at == clock() - LONG - 600
    assert str(row) == "views of article 1"
    assert shown(archived) == (3, 2)
    assert problems(archived) == []
    assert put_away(archived) == 0


def test_the_counters_of_a_recently_viewed_article_stay(idle):
    post(idle, 2)
    view(idle, 2, ALICE)

    assert put_away(idle) == 1

    assert [row.pk for row in ArchivedViews.objects.all()] == [1]


def test_a_view_restores_the_counters_and_is_counted(archived):
    assert come(archived, BOB_READS) == (None, 4, 2)
    assert come(archived, BOB_READS) == ("repeat", 4, 2)
    assert come(archived, CAROL_READS) == (None, 5, 3)
    assert not ArchivedViews.objects.exists()
    assert [(a.id, a.pv, a.uv) for a in archived.lists.get_page(Order.HOT).articles] == [(1, 5, 3)]
    assert problems(archived) == []


def test_views_of_other_articles_do_not_query_the_database(idle, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert come(idle, CAROL_READS) == (None, 4, 3)


def test_views_of_unknown_and_removed_articles_are_refused(archived):
    archived.articles.remove(1, MODERATOR, "Spam")

    with pytest.raises(ArticleRemoved):
        come(archived, ALICE_READS)
    with pytest.raises(ArticleNotFound):
        come(archived, ALICE_READS, 4000)
    assert ArchivedViews.objects.count() == 1


def test_many_articles_are_archived_in_batches_and_none_twice(idle, clock, monkeypatch):
    monkeypatch.setattr(archive, "_ARTICLES_PER_BATCH", 4)
    for number in range(2, 12):
        view(idle, post(idle, number), ALICE)
    clock.advance(LONG)

    assert archive.put_away(idle, at_most=1000, budget=0) == 4
    assert archive.put_away(idle, at_most=3, budget=60) == 3
    assert put_away(idle) == 4
    assert put_away(idle) == 0
    assert ArchivedViews.objects.count() == 11


def test_archiving_overwrites_the_row_of_an_interrupted_run(archived, clock):
    come(archived, CAROL_READS)
    stale = ArchivedViews(pk=1, pv=3, uv=2, sketch=b"old", viewed_at=0, archived_at=datetime.fromtimestamp(0, UTC))
    stale.save()
    clock.advance(LONG)

    put_away(archived)

    row = ArchivedViews.objects.get()
    assert (row.pv, row.uv, row.archived_at) == (4, 3, datetime.fromtimestamp(clock(), UTC))
    assert come(archived, CAROL_READS) == (None, 5, 3)


def test_an_article_without_its_row_keeps_its_numbers_and_logs_a_warning(archived, caplog):
    ArchivedViews.objects.all().delete()

    assert come(archived, ALICE_READS) == (None, 4, 3), "alice is not known any more"

    assert "the archive has no current visitors of article 1" in caplog.text
    assert come(archived, ALICE_READS) == ("repeat", 4, 3)
    assert problems(archived) == []


def test_a_view_is_counted_when_housekeeping_archives_the_article_again(archived, monkeypatch):
    """Archive the article between restoring it and counting the view: it is still idle until then."""
    found, times = archived.archive.restore, []

    def unlucky(article_id, counters):
        has_visitors = found(article_id, counters)
        if len(times) < 1:
            times.append(put_away(archived))
        return has_visitors

    monkeypatch.setattr(archived.archive, "restore", unlucky)

    assert come(archived, CAROL_READS) == (None, 4, 3)
    assert times == [1]
    assert not ArchivedViews.objects.exists()
    assert problems(archived) == []


def test_deleting_an_old_row_leaves_its_replacement(archived, clock):
    old = ArchivedViews.objects.get()
    come(archived, CAROL_READS)
    clock.advance(LONG)
    put_away(archived)

    archive.forget_row(old)

    assert ArchivedViews.objects.get().pv == 4


class Broken:
    """A database that fails every statement that begins with the given word."""

    def __init__(self, word):
        self.word = word

    def __call__(self, execute, sql, *args):
        if sql.startswith(self.word):
            raise DatabaseError("database is locked")
        return execute(sql, *args)


def test_a_database_error_makes_the_store_unavailable(archived):
    with connection.execute_wrapper(Broken("SELECT")), pytest.raises(StoreUnavailable, match="database is locked"):
        come(archived, CAROL_READS)
    assert shown(archived) == (3, 2)
    assert come(archived, CAROL_READS) == (None, 4, 3)


@pytest.mark.django_db(transaction=True)
def test_a_row_that_cannot_be_deleted_is_swept_up_later(archived, caplog, clock):
    with connection.execute_wrapper(Broken("DELETE")):
        assert come(archived, CAROL_READS) == (None, 4, 3)
    assert "stay in the archive for now" in caplog.text
    clock.advance(60)
    assert archive.sweep(archived, at_most=10) == 0, "not yet: somebody might be archiving it"
    clock.advance(3601)

    assert archive.sweep(archived, at_most=10) == 1

    assert not ArchivedViews.objects.exists()
    assert come(archived, CAROL_READS) == (None, 5, 3)


def test_articles_without_counters_do_not_block_others(idle):
    for number in (1000, 2000):
        idle.store.client.zadd(idle.store.shards.of(number).viewed, {str(number): 1.0})

    assert archive.put_away(idle, at_most=2, budget=60) == 0
    assert archive.put_away(idle, at_most=2, budget=60) == 1
    assert problems(idle) == []


def test_nothing_is_archived_when_the_row_cannot_be_written(idle):
    with connection.execute_wrapper(Broken("INSERT")), pytest.raises(DatabaseError):
        put_away(idle)
    assert not idle.archive.is_archived(1)
    assert problems(idle) == []


def test_rows_of_archived_articles_are_not_swept_up(archived, clock):
    clock.advance(LONG)

    assert archive.sweep(archived, at_most=10) == 0
    assert ArchivedViews.objects.count() == 1


def test_rows_are_kept_when_the_store_is_a_different_one(archived, clock):
    clock.advance(LONG)
    archived.store.client.flushdb()
    archived.prepare()
    assert archive.sweep(archived, at_most=10) == 0

    view(archived, post(archived, 1), ALICE)

    assert archive.sweep(archived, at_most=10) == 0, "its article 1 has fewer views than that was"
    assert ArchivedViews.objects.count() == 1


@pytest.fixture
def left_over(archived):
    """An archive with rows of 30 articles whose counters are back in the store, and the row of article 1."""
    long_ago = datetime.fromtimestamp(0, UTC)
    for number in range(2, 32):
        article_id = post(archived, number)
        view(archived, article_id, ALICE)
        ArchivedViews.objects.create(pk=article_id, pv=1, uv=1, sketch=b"", viewed_at=0, archived_at=long_ago)
    return archived


@pytest.mark.parametrize("start", [0, 1, 20, 31])
def test_a_small_archive_is_swept_in_one_call_from_any_start(left_over, monkeypatch, start):
    monkeypatch.setattr(archive, "randrange", lambda end: min(start, end - 1))

    assert archive.sweep(left_over, at_most=100) == 30


def test_suspect_views_of_all_time_add_the_store_and_the_archive(archived):
    archived.pageviews.record(1, Visit(CAROL_READS, suspicion=Suspicion.BOT))
    archived.pageviews.record(1, Visit(CAROL_READS, suspicion=Suspicion.PREFETCH))

    assert archive.suspects(archived, 1) == {"bot": 3, "prefetch": 1}

    row = ArchivedViews.objects.get()
    come(archived, CAROL_READS)
    row.save()  # as if it had not been deleted
    assert archive.suspects(archived, 1) == {"bot": 3, "prefetch": 1}, "what is back does not count twice"
    assert archive.suspects(archived, 2) == {}


def test_large_numbers_are_restored_exactly(idle, clock):
    post(idle, 2)
    view(idle, 2, ALICE)
    keys = idle.store.shards.of(2)
    idle.store.client.pfadd(keys.visitors(2), *(f"{number:016x}" for number in range(20_000)))
    idle.store.client.set(keys.views(2), 20_000)
    before = shown(idle, 2)
    clock.advance(LONG)
    put_away(idle)
    assert len(bytes(ArchivedViews.objects.get(pk=2).sketch)) > 12_000, "no short form any more"

    assert come(idle, f"{77:016x}", 2) == (None, before[0] + 1, before[1])

    assert shown(idle, 2) == (20_001, before[1])
    assert not ArchivedViews.objects.filter(pk=2).exists()


def test_a_node_whose_clock_is_behind_does_not_archive_early(idle, server_url, clock):
    late = connect(server_url, shards=idle.store.shards.count, clock=Clock(clock() - LONG))

    assert put_away(late) == 0
