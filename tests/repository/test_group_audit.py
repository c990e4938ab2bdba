"""The audit compares a number for each group, and finds what is wrong where that differs."""

import pytest

from articles.repository import Repository
from articles.repository.upkeep import group_audit
from articles.repository.upkeep.group_audit import GroupMarks, mark_of
from tests.every_server import configured
from tests.store_state import problems

OPEN = 7  # an article in python


def take_out(repository: Repository) -> str:
    """Take an article out of its group; return what the audit says of the article."""
    keys = repository.store.shards.of(OPEN)
    repository.store.client.srem(keys.group("python"), OPEN)
    return f"{keys.article(OPEN)}: not in python"


@pytest.mark.parametrize(("name", "most"), [("_FEW", 0), ("_SETS_PER_SCRIPT", 1)])
def test_missing_places_are_found_among_many_doubtful_groups_and_in_small_steps(used, monkeypatch, name, most):
    monkeypatch.setattr(group_audit, name, most)
    expected = take_out(used)

    assert expected in problems(used)


def test_groups_with_very_many_articles_are_read_in_parts(used):
    client, keys = used.store.client, used.store.shards.of(OPEN)
    ids, marks = [str(OPEN + 4 * n) for n in range(3000)], GroupMarks()
    for article_id in ids:
        marks.add(article_id, ["many"])
    with configured(client, "set-max-intset-entries", "1"):
        client.sadd(keys.group("many"), *ids)

    assert list(marks.list_doubtful(used.store, keys, [])) == []

    client.srem(keys.group("many"), ids[-1])
    client.sadd(keys.group("many"), "1")
    assert list(marks.list_doubtful(used.store, keys, [])) == ["many"]


def test_marks_differ_for_sets_with_the_same_sum_and_size():
    assert mark_of(["1", "4"]) != mark_of(["2", "3"])
    assert mark_of(["0", "4", "5"]) != mark_of(["1", "2", "6"])
    assert mark_of(["3", "1"]) == mark_of(["1", "3"])
