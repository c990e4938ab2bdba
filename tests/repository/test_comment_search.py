"""Searching in comments: what is found after every kind of change, in which order, and within limits."""

import pytest

from articles.domain.errors import GroupNotFound, PageNotFound
from articles.repository import Repository
from articles.repository.search import scanning
from articles.searching import read_query
from tests.cast import ALICE, BOB, MODERATOR
from tests.every_server import calls_in, reset_statistics
from tests.factories import comment_on, post
from tests.store_state import problems


def found(repository: Repository, text: str, number: int = 1, **options: object) -> list[int]:
    page = repository.comment_search.get_page(read_query(text), number, **options)
    return [comment.id for comment in page.comments]


def test_comments_are_found_by_their_words_newest_first(repository, clock):
    article = post(repository, 1)
    english = comment_on(repository, article, "Voting with https://www.redis.io/docs is *fast*")
    clock.advance(60)
    chinese = comment_on(repository, post(repository, 2), "分布式数据库，还有 Redis")

    assert found(repository, "redis") == [chinese, english]
    assert found(repository, "votes redis.io") == found(repository, "fas") == [english]
    assert found(repository, "https://www.redis.io/docs") == [english]
    assert found(repository, "数据库") == found(repository, "库") == [chinese]
    assert found(repository, "redis nothing") == found(repository, "") == []
    assert repository.comment_search.get_page(read_query("redis")).total == 2


def test_what_is_found_follows_every_change_of_a_comment(repository):
    article = post(repository, 1)
    first = comment_on(repository, article, "First words")
    comment_on(repository, article, "A reply", ALICE, first)

    repository.comments.edit(first, BOB, "Second words")
    assert (found(repository, "first"), found(repository, "second")) == ([], [first])
    repository.comments.remove(first, MODERATOR, "Spam")
    assert found(repository, "second") == []
    repository.comments.restore(first, MODERATOR, "No spam")
    assert found(repository, "second") == [first]
    repository.comments.delete(first, BOB)
    assert found(repository, "second") == []
    assert problems(repository) == []


def test_comments_on_removed_articles_and_in_hidden_groups_are_not_found(repository):
    here, there = post(repository, 1, ("python",)), post(repository, 2, ("ruby", "java"))
    first, second = comment_on(repository, here, "Same words"), comment_on(repository, there, "Same words")

    assert found(repository, "same", slug="python") == found(repository, "same", hidden=["java"]) == [first]
    repository.articles.remove(here, MODERATOR, "Spam")
    assert found(repository, "same") == [second]
    assert repository.comment_search.get_page(read_query("same")).total == 1
    repository.articles.restore(here, MODERATOR, "No spam")
    assert found(repository, "same") == [second, first]
    with pytest.raises(GroupNotFound):
        found(repository, "same", slug="nothing")


@pytest.mark.parametrize("few", [3, scanning.FEW])
def test_pages_continue_without_repeats_however_frequent_a_word_is(repository, clock, monkeypatch, few):
    monkeypatch.setattr(scanning, "FEW", few)
    articles, ids = [post(repository, number) for number in range(3)], list[int]()
    for number in range(70):
        clock.advance(1)
        ids.append(comment_on(repository, articles[number % 3], f"Frequent word {number}"))

    assert [one for number in (1, 2, 3) for one in found(repository, "frequent word", number)] == ids[::-1]
    assert found(repository, "frequent 42") == [ids[42]]
    with pytest.raises(PageNotFound):
        found(repository, "frequent word", 4)


def test_a_long_comment_is_found_by_its_first_words_and_writes_no_more(repository):
    article = post(repository, 1)
    reset_statistics(repository.store.client)
    comment_on(repository, article, " ".join(f"w{n}" for n in range(3000)))
    written = calls_in(repository.store.client)["sadd"]

    assert len(found(repository, "w199 ")) == 1
    assert found(repository, "w200 ") == []
    assert written < 210
