"""The rank history of articles: sampled once every ten minutes, and bounded in size."""

from threading import Barrier, Thread

import pytest

from articles.domain.articles import Choice
from articles.domain.explanation import Sample
from articles.domain.readership import Visit
from articles.repository.readership.history import EVERY, KEPT, TOP
from tests.cast import BOB, MODERATOR
from tests.factories import imported, post
from tests.repository.racing import interleaved
from tests.rules import connect
from tests.store_state import problems

MOMENT = 1_700_000_400.0  # a multiple of 600 after the clock's start


@pytest.fixture(autouse=True)
def at_a_moment(clock):
    clock.now = MOMENT


def view(repository, article_id, visitor=1):
    repository.pageviews.record(article_id, Visit(f"{visitor:016x}"))


def samples(repository, article_id):
    return list(repository.explanations.get(repository.articles.get(article_id)).history)


def moments(repository, article_id):
    return [sample.at for sample in samples(repository, article_id)]


def test_a_sample_holds_rank_points_and_rank_on_the_hot_list(repository, clock):
    first, second = post(repository, 1), post(repository, 2)
    repository.votes.cast(first, BOB, Choice.VOTE)
    view(repository, second)
    clock.advance(30)

    sampled = repository.history.record()

    assert sampled == 2
    assert samples(repository, first) == [Sample(MOMENT, 1, 2, None)]
    assert samples(repository, second) == [Sample(MOMENT, 2, 1, 1)]


def test_a_clock_set_back_adds_no_sample_until_it_passes_the_newest_one(repository, clock):
    article = post(repository, 1)
    repository.history.record()
    newcomer = post(repository, 2)
    for seconds in (-86400, -EVERY, 0):
        clock.now = MOMENT + seconds
        assert repository.history.record() == 0

    clock.now = MOMENT + EVERY
    assert repository.history.record() == 2
    assert moments(repository, article) == [MOMENT, MOMENT + EVERY]
    assert moments(repository, newcomer) == [MOMENT + EVERY]


def test_only_the_first_hundred_of_each_list_are_sampled(repository, clock):
    ids = repository.imports.add([imported(n, MOMENT - 1000 + n) for n in range(TOP + 20)])
    view(repository, ids[0])
    view(repository, ids[-1])
    repository.hot.rescore()

    sampled = repository.history.record()

    assert sampled == TOP + 1
    assert samples(repository, ids[-1]) == [Sample(MOMENT, 1, 1, 1)]
    assert samples(repository, ids[20])[0].rank == TOP
    assert samples(repository, ids[19]) == []
    assert samples(repository, ids[0]) == [Sample(MOMENT, None, 1, 2)]


def test_an_article_removed_while_ranks_are_read_is_not_sampled(repository):
    removed, listed = post(repository, 1), post(repository, 2)

    def remove():
        repository.articles.remove(removed, MODERATOR, "Spam")

    assert interleaved(repository, "readership/sample_history", remove).history.record() == 1
    repository.articles.restore(removed, MODERATOR, "No spam")
    assert (moments(repository, removed), moments(repository, listed)) == ([], [MOMENT])
    assert problems(repository) == []


def test_samples_are_kept_for_seven_days(repository, clock):
    article = post(repository, 1)
    for seconds in (0, EVERY, 3 * EVERY):
        clock.now = MOMENT + seconds
        repository.history.record()
    clock.now = MOMENT + KEPT + EVERY
    repository.history.record()

    keys = repository.store.shards.of(article)
    assert repository.store.client.llen(keys.history(article)) == 2
    assert moments(repository, article) == [MOMENT + 3 * EVERY, MOMENT + KEPT + EVERY]
    assert KEPT - 5 <= repository.store.client.ttl(keys.history(article)) <= KEPT


def test_a_history_never_has_more_than_1008_samples(repository, clock):
    article = post(repository, 1)
    key = repository.store.shards.of(article).history(article)
    earlier = (f"{int(MOMENT - n * EVERY)} 1 1 -" for n in range(1005, 0, -1))
    repository.store.client.lpush(key, *earlier)
    for n in range(8):
        clock.now = MOMENT + n * EVERY
        repository.history.record()

    assert repository.store.client.llen(key) == 1008
    assert len(moments(repository, article)) == 1008


def test_two_concurrent_processes_sample_once(repository, clock, server_url):
    ids = [post(repository, n) for n in range(20)]
    shards = repository.store.shards.count
    nodes = [connect(server_url, shards=shards, clock=clock) for _ in range(6)]
    for n in range(5):
        clock.now = MOMENT + n * EVERY
        start, counts = Barrier(len(nodes)), []

        def work(node, start=start, counts=counts):
            start.wait(60)
            counts.append(node.history.record())

        threads = [Thread(target=work, args=(node,)) for node in nodes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert sum(counts) == len(ids)

    assert all(moments(repository, one) == [MOMENT + n * EVERY for n in range(5)] for one in ids)
    assert problems(repository) == []


def test_a_clock_that_is_briefly_far_ahead_does_not_stop_the_history(repository, clock):
    article = post(repository, 1)
    repository.history.record()
    clock.now = MOMENT + 400 * 86400
    repository.history.record()

    clock.now = MOMENT + EVERY
    assert repository.history.record() == 1
    assert repository.history.record() == 0
    assert moments(repository, article) == [MOMENT + EVERY]
