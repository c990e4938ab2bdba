"""The audit compares a number for each set of words and groups, and finds what is wrong where that differs."""

import pytest

from articles.repository import Repository
from articles.repository.search.word_sets import SetMarks, mark_of
from articles.repository.upkeep import place_audit
from tests.every_server import configured
from tests.repository.usage import use
from tests.store_state import problems

OPEN = 7


@pytest.fixture
def used(repository, clock) -> Repository:
    use(repository, clock)
    return repository


def take_from(repository: Repository, word: str) -> str:
    """Take an article from one of its words; return what the audit says of the article."""
    keys = repository.store.shards.of(OPEN)
    repository.store.client.srem(keys.word(word), OPEN)
    return f"{keys.article(OPEN)}: not under {word}"


@pytest.mark.parametrize(("name", "most"), [("_FEW", 0), ("_SETS_PER_SCRIPT", 1)])
def test_missing_places_are_found_among_many_doubtful_sets_and_in_small_steps(used, monkeypatch, name, most):
    monkeypatch.setattr(place_audit, name, most)
    expected = take_from(used, "better")

    found = problems(used)

    assert len(found) == 2
    assert expected in found


def test_missing_places_are_found_although_the_lexicon_cannot_be_read(used):
    keys, expected = used.store.shards.of(OPEN), take_from(used, "better")
    used.store.client.delete(keys.lexicon)
    used.store.client.set(keys.lexicon, "damaged")

    found = problems(used)

    assert expected in found
    assert any(finding.startswith(f"{keys.lexicon}: is a string") for finding in found)


def test_missing_places_are_found_although_a_word_cannot_be_read(used):
    keys, expected = used.store.shards.of(OPEN), take_from(used, "better")
    used.store.client.delete(keys.word("articl"))
    used.store.client.set(keys.word("articl"), "damaged")

    found = problems(used)

    assert expected in found
    assert any(finding.startswith(f"{keys.word('articl')}: is a string") for finding in found)


def test_sets_with_very_many_articles_are_read_in_parts(used):
    client, keys = used.store.client, used.store.shards.of(OPEN)
    ids, marks = [str(OPEN + 4 * n) for n in range(3000)], SetMarks()
    for article_id in ids:
        marks.add(article_id, ["better"])
    client.delete(keys.word("better"))
    with configured(client, "set-max-intset-entries", "1"):
        client.sadd(keys.word("better"), *ids)

    assert list(marks.list_doubtful(used.store, keys, [])) == []

    client.smove(keys.word("better"), keys.word("articl"), ids[-1])
    client.sadd(keys.word("better"), "1")
    assert list(marks.list_doubtful(used.store, keys, [])) == ["better"]


def test_marks_differ_for_sets_with_the_same_sum_and_size():
    assert mark_of(["1", "4"]) != mark_of(["2", "3"])
    assert mark_of(["0", "4", "5"]) != mark_of(["1", "2", "6"])
    assert mark_of(["3", "1"]) == mark_of(["1", "3"])
