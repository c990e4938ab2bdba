"""Pages merged from several rankings, compared with a plain sort, whatever the shards hold."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from articles.domain.articles import ImportedArticle
from articles.domain.lists import Order
from articles.repository.lists.merging import Ranking, Window, cut, merge_page
from articles.repository.lists.reading import sort_key
from articles.repository.store.keys import Keys

entries = st.lists(
    st.tuples(st.integers(0, 30).map(float), st.integers(1, 400).map(str)), unique_by=lambda e: e[1]
)


@given(entries, st.integers(1, 5), st.integers(0, 60), st.integers(1, 10), st.integers(0, 40), st.integers(0, 40))
def test_windows_prove_a_page_exactly_when_they_hold_the_plain_sorts_page(found, shards, start, size, lo, more):
    parts = [
        sorted((sort_key(v, m) for v, m in found if int(m) % shards == n), reverse=True) for n in range(shards)
    ]
    everything = sorted((entry for part in parts for entry in part), reverse=True)
    windows = [Window(part[lo : lo + more], min(lo, len(part)), len(part)) for part in parts]

    page = cut(windows, start, size)

    assert page is None or page == everything[start : start + size]
    whole = [Window(part, 0, len(part)) for part in parts]
    assert cut(whole, start, size) == everything[start : start + size]


@settings(max_examples=15)
@given(st.lists(st.integers(0, 50), min_size=1, max_size=300))
def test_pages_never_repeat_or_skip_an_article(merged_store, times):
    repository = merged_store
    repository.store.client.flushdb()
    repository.prepare()
    base = repository.store.now() - 30 * 86400
    rows = [ImportedArticle("T", f"https://e.org/{n}", 0, "", base + t, 1, 0) for n, t in enumerate(times)]
    ids = repository.imports.add(rows)

    pages = -(-len(rows) // 25)
    listed = [a.id for n in range(1, pages + 1) for a in repository.lists.get_page(Order.TIME, n).articles]

    key = {number: sort_key(row.posted_at, str(number)) for number, row in zip(ids, rows, strict=True)}
    assert listed == sorted(ids, key=key.__getitem__, reverse=True)


def test_a_deep_page_of_many_shards_reads_only_a_window(merged_store, monkeypatch):
    repository = merged_store
    repository.store.client.flushdb()
    repository.prepare()
    base = repository.store.now() - 30 * 86400
    rows = [ImportedArticle("T", f"https://e.org/{n}", 0, "", base + n, 1, 0) for n in range(8000)]
    for at in range(0, len(rows), 1000):
        repository.imports.add(rows[at : at + 1000])
    seen = []
    original = cut
    monkeypatch.setattr(  # counts what was read, and cuts as usual
        "articles.repository.lists.merging.cut",
        lambda windows, *rest: seen.append(sum(len(w.entries) for w in windows)) or original(windows, *rest),
    )

    page = repository.lists.get_page(Order.TIME, 200)

    assert [a.id for a in page.articles] == list(range(8000 - 199 * 25, 8000 - 200 * 25, -1))
    assert sum(seen) < 8000 / 2


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

    cuts = [merge_page(merged_store.store, rankings, start, size) for start in range(0, len(rows) + size, size)]

    plain = sorted(range(len(rows)), key=lambda n: sort_key(rows[n][0], str(n)), reverse=True)
    assert [number for found in cuts for number in found.ids] == plain
    assert {found.total for found in cuts} == {len(rows)}


@pytest.mark.parametrize("only", range(4))
def test_a_group_whose_articles_are_all_in_one_shard_has_no_gaps(merged_store, only):
    rankings = fill(merged_store.store.client, [(float(n), only) for n in range(500)], 4)

    pages = [merge_page(merged_store.store, rankings, start, 25).ids for start in range(0, 500, 25)]

    assert [number for page in pages for number in page] == list(range(499, -1, -1))
