from hypothesis import given, settings
from hypothesis import strategies as st

from articles.domain import ImportedArticle, Order
from articles.repository.merging import Window, cut
from articles.repository.reading import sort_key

entries = st.lists(
    st.tuples(st.integers(0, 30).map(float), st.integers(1, 400).map(str)), unique_by=lambda e: e[1]
)


@given(entries, st.integers(1, 5), st.integers(0, 60), st.integers(1, 10), st.integers(0, 40), st.integers(0, 40))
def test_what_windows_prove_is_the_plain_sort_and_they_prove_it_when_they_hold_it(
    found, shards, start, size, lo, more
):
    parts = [
        sorted((sort_key(v, m) for v, m in found if int(m) % shards == n), reverse=True) for n in range(shards)
    ]
    everything = sorted((entry for part in parts for entry in part), reverse=True)
    windows = [Window(part[lo : lo + more], min(lo, len(part)), len(part)) for part in parts]

    page = cut(windows, start, size)

    assert page is None or page == everything[start : start + size]
    whole = [Window(part, 0, len(part)) for part in parts]
    assert cut(whole, start, size) == everything[start : start + size]


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 50), min_size=1, max_size=300))
def test_pages_never_repeat_or_skip_an_article(merged_store, times):
    repository = merged_store
    repository.store.client.flushdb()
    repository.prepare()
    base = repository.store.now() - 30 * 86400
    rows = [ImportedArticle("T", f"https://e.org/{n}", 0, "", base + t, 1, 0) for n, t in enumerate(times)]
    ids = repository.imports.add(rows)

    pages = -(-len(rows) // 25)
    listed = [a.id for n in range(1, pages + 1) for a in repository.listings.page(Order.TIME, n).articles]

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
    monkeypatch.setattr(
        "articles.repository.merging.cut",
        lambda windows, *rest: seen.append(sum(len(w.entries) for w in windows)) or original(windows, *rest),
    )

    page = repository.listings.page(Order.TIME, 200)

    assert [a.id for a in page.articles] == list(range(8000 - 199 * 25, 8000 - 200 * 25, -1))
    assert sum(seen) < 8000 / 2
