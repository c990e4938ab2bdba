import pytest

from articles.errors import PageNotFound
from tests.repository.conftest import ALICE, CAROL


def test_it_pages_newest_first_over_all_shards(repository, clock):
    ids = []
    for n in range(30):
        ids.append(repository.articles.post(ALICE, "alice", f"T {n}", f"https://e.org/{n}").id)
        clock.advance(1)
        repository.articles.remove(ids[-1], CAROL, f"reason {n}")

    first, second = repository.moderation_log.page(1), repository.moderation_log.page(2)

    assert [entry.article_id for entry in first.entries] == ids[:4:-1]
    assert [entry.article_id for entry in second.entries] == ids[4::-1]
    assert (first.has_next, second.has_next) == (True, False)
    assert (first.entries[0].title, first.entries[0].reason, first.entries[0].at) == (
        "T 29",
        "reason 29",
        clock.now,
    )
    for number in (0, -1, 3):
        with pytest.raises(PageNotFound):
            repository.moderation_log.page(number)


def test_whatever_a_title_or_reason_holds_comes_back(repository):
    text = 'quotes " \\ and 中文 \U0001f600 </script> \x7f'
    number = repository.articles.post(ALICE, "alice", text, "https://example.org/").id

    repository.articles.remove(number, CAROL, text)

    (entry,) = repository.moderation_log.page().entries
    assert (entry.title, entry.reason) == (text, text)
