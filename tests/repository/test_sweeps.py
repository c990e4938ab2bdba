"""Sweeps: what a member posted lately is removed in one act, and restored in one act."""

from itertools import islice

import pytest

from articles.domain.comments import root_of
from articles.domain.flags import FlagReason
from articles.repository.store.findings import carry_out
from tests.cast import ALICE, BOB, MALLORY, MODERATOR
from tests.clock import DAY
from tests.factories import comment_on, post
from tests.store_state import contents, problems


@pytest.fixture
def spam(repository, clock):
    """Two articles and two comments by mallory within a day, after an older article and a comment of each."""
    old = [post(repository, 1, poster=MALLORY)]
    old.append(comment_on(repository, old[0], "Old", MALLORY))
    clock.advance(2 * DAY)
    articles = [post(repository, number, poster=MALLORY) for number in (2, 3)]
    others = post(repository, 4)
    comments = [comment_on(repository, article, "Buy", MALLORY) for article in (old[0], others)]
    return articles, comments


def removed(repository, spam):
    articles, comments = spam
    found = repository.articles.get_many(articles) + [
        one for one in repository.comments.list_by(MALLORY) if one.id in comments
    ]
    return [one.removed for one in found]


def sweep(repository, clock, mark="1"):
    return repository.sweeps.remove(MALLORY, clock() - DAY, mark, MODERATOR, "Spam")


def test_a_sweep_removes_what_is_recent_and_its_reversal_restores_it(repository, clock, spam):
    before = contents(repository)
    repository.flags.set(root_of(spam[0][0]), BOB, FlagReason.SPAM)

    assert list(sweep(repository, clock)) == [True] * 4

    assert removed(repository, spam) == ["Spam"] * 4
    assert repository.articles.get(1).removed is None
    assert repository.flags.count() == 0
    assert problems(repository) == []
    assert list(sweep(repository, clock)) == [False] * 4, "it is idempotent"
    restored = repository.sweeps.restore(MALLORY, clock() - DAY, "1", MODERATOR, "Not spam")
    assert list(restored) == [True] * 4
    assert problems(repository) == []
    after = contents(repository)
    for name in before.keys() & after.keys():
        if "article:" not in name and "log:" not in name and "comment:" not in name:
            assert after[name] == before[name], name


def test_an_interrupted_sweep_continues_and_a_reversal_restores_nothing_else(repository, clock, spam):
    articles, comments = spam
    repository.comments.remove(comments[0], MODERATOR, "An insult")
    list(islice(sweep(repository, clock), 1))

    assert list(sweep(repository, clock)) == [False, True, True, False]
    repository.articles.restore(articles[0], MODERATOR, "This one is good")
    repository.articles.remove(articles[0], MODERATOR, "Or not")
    assert sum(repository.sweeps.restore(MALLORY, clock() - DAY, "1", MODERATOR, "Not spam")) == 2

    assert removed(repository, spam) == ["Or not", None, *removed(repository, spam)[2:]]
    assert sorted(map(str, removed(repository, spam)[2:])) == ["An insult", "None"]
    assert sum(repository.sweeps.restore(ALICE, clock() - DAY, "1", MODERATOR, "?")) == 0
    assert problems(repository) == []


def test_a_sweep_undoes_merges_of_spam_and_removes_it(repository, clock, spam):
    merged, into = spam[0][0], post(repository, 5)
    carry_out(repository.merges.merge(merged, into, MODERATOR, "The same story"))

    assert list(sweep(repository, clock)) == [True] * 4

    assert removed(repository, spam) == ["Spam"] * 4
    assert repository.articles.get(merged).is_withheld
    assert repository.articles.get(into).merged == ()
    assert problems(repository) == []
