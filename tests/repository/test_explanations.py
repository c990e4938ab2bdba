"""Explanations of ranks: the ranks match the lists, and the sums match the values the store ranks by."""

import random
from dataclasses import replace
from threading import Event, Thread

import pytest

from articles.domain.articles import Choice
from articles.domain.errors import ArticleNotFound, ArticleRemoved
from articles.domain.explanation import NextVote
from articles.domain.lists import Order
from articles.domain.ranking import Parameters
from articles.domain.readership import Visit
from articles.repository.lists import gathering
from tests.cast import BOB, MODERATOR
from tests.clock import DAY
from tests.every_server import count_of, delete
from tests.factories import imported, post
from tests.repository.racing import interleaved
from tests.repository.usage import listed
from tests.rules import connect, default_rules


def explain(repository, article_id):
    return repository.explanations.get(repository.articles.get(article_id))


def view(repository, article_id, *visitors):
    for visitor in visitors:
        repository.pageviews.record(article_id, Visit(f"{visitor:016x}"))


def value_of(repository, order, article_id):
    keys = repository.store.shards.of(article_id)
    return repository.store.client.zscore(keys.order(order), str(article_id))


def fill(repository, clock, count, seed):
    """Fill the store with ties: few posting times, few points, few views; in groups of several sizes."""
    chance, now = random.Random(seed), clock()
    slugs = ["python", "redis", "群组"]
    for slug in slugs:
        repository.groups.create(slug, slug.title(), MODERATOR)
    rows = [
        imported(
            n,
            now - 432 * chance.randrange(4) - 86400 * (chance.random() < 0.1) * 8,
            votes=chance.randrange(4),
            opposes=chance.randrange(3),
            groups=tuple(chance.sample(slugs, chance.randrange(4))),
        )
        for n in range(count)
    ]
    ids = repository.imports.add(rows)
    for article_id in ids:
        view(repository, article_id, *range(chance.randrange(3)))
    for article_id in chance.sample(ids, count // 10):
        repository.articles.remove(article_id, MODERATOR, "Spam")
    return ids


@pytest.mark.parametrize("seed", [1, 2])
def test_the_rank_is_the_articles_position_in_the_lists_even_with_ties(repository, clock, seed):
    fill(repository, clock, 130, seed)
    front, hot = listed(repository), listed(repository, Order.HOT)
    groups = {slug: listed(repository, slug=slug) for slug in ("python", "redis", "群组")}

    for article in repository.articles.get_many(front):
        found = repository.explanations.get(article)
        assert (front[found.front.rank - 1], found.front.of) == (article.id, len(front))
        assert (found.hot is not None) == (article.id in hot)
        if found.hot:
            assert (hot[found.hot.rank - 1], found.hot.of) == (article.id, len(hot))
        assert [place.slug for place in found.groups] == list(article.groups)
        for place in found.groups:
            ids = groups[place.slug]
            assert (ids[place.rank - 1], place.of) == (article.id, len(ids))
        check_neighbours(found.front, front)
        if found.hot:
            check_neighbours(found.hot, hot)


def check_neighbours(place, ids):
    around = [None, *ids, None]
    shown = [None if one is None else one.id for one in (place.above, place.below)]
    assert shown == [around[place.rank - 1], around[place.rank + 1]]


def test_the_sums_equal_the_values_the_store_ranks_by(repository, clock):
    ids = fill(repository, clock, 60, 3)
    repository.parameters.apply(Parameters(7, 1.5, 0.3, 1.7, 1.31), expected=1, actor=MODERATOR, reason="Odd")
    clock.advance(5000.123)
    repository.hot.rescore()
    view(repository, ids[7], 50, 51)

    for article in repository.articles.get_many(listed(repository)):
        found = repository.explanations.get(article)
        assert found.score.value == value_of(repository, Order.SCORE, article.id)
        assert (found.score.posted_at, found.score.votes) == (article.posted_at, article.votes)
        assert found.score.opposes == article.opposes
        stored = value_of(repository, Order.HOT, article.id)
        if stored is not None:
            assert found.hotness.value == pytest.approx(stored, rel=1e-9, abs=0)
        assert (found.hotness.pv, found.hotness.uv) == (article.pv, article.uv)
        assert found.hotness.refreshed_at == repository.hot.get_refreshed_at()


@pytest.mark.parametrize("seed", [4, 5])
def test_one_more_vote_has_the_predicted_effect(repository, clock, seed):
    fill(repository, clock, 60, seed)
    for article_id in random.Random(seed).sample(listed(repository), 15):
        before = explain(repository, article_id)
        if before.next_vote is None:
            continue

        repository.votes.cast(article_id, 7777, Choice.VOTE)
        after = explain(repository, article_id)

        assert after.front.rank == before.next_vote.rank == before.front.rank - before.next_vote.gained
        assert after.score.value == pytest.approx(before.score.value + before.next_vote.seconds, abs=1e-6)
        repository.votes.cast(article_id, 7777, Choice.NONE)


def test_a_closed_article_has_no_next_vote(repository, clock):
    article = post(repository, 1)
    clock.advance(7 * DAY)
    assert explain(repository, article).next_vote == NextVote(432.0, 1, 0)
    clock.advance(0.001)

    found = explain(repository, article)

    assert found.next_vote is None
    assert found.closes_at == repository.articles.get(article).closes_at


@pytest.mark.parametrize("rules", [default_rules(hot_size=3)])
def test_an_article_past_the_end_of_the_hot_list_has_no_hot_rank(repository, clock):
    ids = [post(repository, n) for n in range(5)]
    for n, article_id in enumerate(ids):
        view(repository, article_id, *range(n + 1))  # all five stay until the next rescore
    beyond = [explain(repository, one).hot for one in ids]
    repository.hot.rescore()
    trimmed = [explain(repository, one).hot for one in ids]

    for places in (beyond, trimmed):
        assert [place and (place.rank, place.of) for place in places] == [None, None, (3, 3), (2, 3), (1, 3)]
        assert places[2].below is None
        assert places[3].below.id == ids[2]


def test_removed_and_unknown_articles_have_no_explanation(repository):
    article = repository.articles.get(post(repository, 1))
    repository.articles.remove(article.id, MODERATOR, "Spam")

    with pytest.raises(ArticleRemoved):
        repository.explanations.get(article)
    with pytest.raises(ArticleNotFound):
        repository.explanations.get(replace(article, id=999))


def test_a_vote_and_a_view_during_reading_are_in_all_the_numbers(repository, clock):
    article = post(repository, 1)
    for n in range(2, 6):
        clock.advance(100)
        view(repository, post(repository, n), 1)
    assert explain(repository, article).front.rank == 5

    def change():
        repository.votes.cast(article, BOB, Choice.VOTE)
        view(repository, article, 1, 2)

    found = explain(interleaved(repository, "ranking/find_places", change), article)

    assert (found.front.rank, found.score.votes) == (1, 2)
    assert (found.hot.rank, found.hotness.uv) == (1, 2)
    assert found.score.value == value_of(repository, Order.SCORE, article)


def test_shards_with_different_versions_are_read_again(repository, monkeypatch):
    article = post(repository, 1)
    last, client = repository.store.shards.all[-1].ranking, repository.store.client
    version = client.hget(last, "version")
    readings, run = [], repository.store.run_many

    def meddled(calls, **how):
        calls = list(calls)
        if calls[0].script != "ranking/find_places":
            return run(calls, **how)
        readings.append(calls)
        if len(readings) > 1:
            return run(calls, **how)
        client.hset(last, "version", "99")
        found = run(calls, **how)
        client.hset(last, "version", version)
        return found

    monkeypatch.setattr(repository.store, "run_many", meddled)

    found = explain(repository, article)

    assert len(readings) >= 2
    assert found.front.rank == 1


def test_a_high_rank_in_a_large_group_is_counted_without_its_ranking(repository, clock, monkeypatch):
    ids = fill(repository, clock, 60, 3)
    articles = [article for article in repository.articles.get_many(ids) if article.removed is None]
    expected = [repository.explanations.get(article) for article in articles]
    client, shards = repository.store.client, repository.store.shards.all
    rankings = [keys.group_order(Order.SCORE, slug) for keys in shards for slug in repository.groups.get_titles()]
    delete(client, *rankings)
    monkeypatch.setattr(gathering, "FEW", 0)

    assert [repository.explanations.get(article) for article in articles] == expected
    assert count_of(client, *rankings) == 0
    monkeypatch.setattr(gathering, "WALKED", 0)
    assert [repository.explanations.get(article) for article in articles] == expected


@pytest.mark.deep
def test_sums_and_ranks_agree_during_votes_views_and_parameter_changes(repository, clock, server_url):
    ids = fill(repository, clock, 40, 6)
    shown = [one for one in ids if repository.articles.get(one).removed is None]
    shards, end, failures = repository.store.shards.count, Event(), []

    def disturb(seed):
        chance = random.Random(seed)
        node = connect(server_url, shards=shards, clock=clock)
        try:
            while not end.is_set():
                article_id = chance.choice(shown)
                if repository.articles.get(article_id).is_open(clock()):
                    node.votes.cast(article_id, chance.randrange(100), chance.choice(list(Choice)))
                view(node, article_id, chance.randrange(10**6))
        except Exception as error:
            failures.append(error)

    def tune():
        node = connect(server_url, shards=shards, clock=clock)
        try:
            while not end.is_set():
                state = node.parameters.get_state()
                other = Parameters(20 if state.parameters.votes_per_day == 200 else 200)
                node.parameters.apply(other, expected=state.version, actor=MODERATOR, reason="Again")
                node.parameters.advance(5)
        except Exception as error:
            failures.append(error)

    threads = [Thread(target=disturb, args=(seed,)) for seed in (1, 2)] + [Thread(target=tune)]
    for thread in threads:
        thread.start()
    try:
        for n in range(120):
            found = explain(repository, shown[n % len(shown)])
            assert found.score.seconds_per_point in (432.0, 4320.0)
            for place, own in ((found.front, found.score.value), (found.hot, found.hotness.value)):
                if place and place.above:
                    assert place.above.value - own >= -1e-9 * abs(own)
                if place and place.below:
                    assert place.below.value - own <= 1e-9 * abs(own)
            if found.next_vote:
                assert found.next_vote.gained >= 0
    finally:
        end.set()
        for thread in threads:
            thread.join(20)
    assert failures == []
