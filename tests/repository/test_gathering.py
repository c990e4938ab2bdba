"""Pages merged from several rankings, compared with a plain sort, whatever the shards hold."""

from hypothesis import given, settings, strategies as st

from articles.domain.lists import Order
from articles.repository.lists.gathering import Ranking, Window, cut, gather_page
from articles.repository.lists.reading import sort_key
from articles.repository.store.keys import Keys

ranked = st.lists(st.tuples(st.integers(0, 9).map(float), st.integers(0, 5)), max_size=120)
"""Values and shards of articles: few values, so ties; any share of the articles in any shard."""


def dealt(rows):
    """Return each shard's entries, best first."""
    shards = [[sort_key(value, str(n)) for n, (value, at) in enumerate(rows) if at == s] for s in range(6)]
    return [sorted(shard, reverse=True) for shard in shards]


@given(ranked, st.data())
def test_a_page_from_any_windows_equals_the_plain_sorts_page_or_is_not_proved(rows, data):
    shards = dealt(rows)
    everything = sorted((entry for shard in shards for entry in shard), reverse=True)
    start, size = data.draw(st.integers(0, len(rows) + 3)), data.draw(st.integers(1, 30))
    windows = []
    for shard in shards:
        first = data.draw(st.integers(0, len(shard)))
        windows.append(Window(shard[first : first + data.draw(st.integers(0, 60))], first, len(shard)))

    page = cut(windows, start, size)

    assert page in (None, everything[start : start + size])


@given(ranked, st.integers(0, 120), st.integers(1, 30))
def test_windows_that_hold_everything_up_to_the_pages_end_prove_it(rows, start, size):
    shards = dealt(rows)
    windows = [Window(shard[: start + size], 0, len(shard)) for shard in shards]

    everything = sorted((entry for shard in shards for entry in shard), reverse=True)
    assert cut(windows, start, size) == everything[start : start + size]


def test_a_page_that_ends_with_the_only_window_is_not_proved():
    shard = [sort_key(float(value), str(value)) for value in range(100, 0, -1)]

    assert cut([Window(shard[:71], 0, 100), Window([], 0, 0)], 50, 25) is None
    assert cut([Window(shard[:75], 0, 100), Window([], 0, 0)], 50, 25) == shard[50:75]


def fill(client, rows, count):
    """Write the rows as rankings of `count` shards into an empty database."""
    client.flushdb()
    shards = [Keys(f"{{s{number}}}:") for number in range(count)]
    rankings = [Ranking(keys, keys.order(Order.SCORE)) for keys in shards]
    with client.pipeline(transaction=False) as pipe:
        for ranking in rankings:
            pipe.hset(ranking.keys.ranking, mapping={"version": "1", "refreshed_at": "0"})
        for number, (value, shard) in enumerate(rows):
            pipe.zadd(rankings[shard % count].key, {str(number): value})
        pipe.execute()
    return rankings


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 40).map(float), st.sampled_from([0, 0, 0, 0, 0, 1, 2, 3])), max_size=300),
    st.sampled_from([1, 2, 4]),
    st.sampled_from([3, 10, 25]),
)
def test_pages_of_skewed_shards_hold_every_article_once_in_plain_sort_order(merged_store, rows, count, size):
    rankings = fill(merged_store.store.client, rows, count)

    cuts = [gather_page(merged_store.store, rankings, start, size) for start in range(0, len(rows) + size, size)]

    plain = sorted(range(len(rows)), key=lambda n: sort_key(rows[n][0], str(n)), reverse=True)
    assert [number for found in cuts for number in found.ids] == plain
    assert {found.total for found in cuts} == {len(rows)}
