"""Imports of comments: each entered exactly once, with its place in the thread, whatever happens meanwhile."""

from dataclasses import replace

import pytest

from articles.domain.articles import Choice, ImportedVote
from articles.domain.comments import CommentEntry, CommentOrder, CommentPlace, ImportedComment, root_of
from articles.domain.lists import Order
from articles.domain.members import DELETED_MEMBER, PLACEHOLDERS
from articles.repository import imports
from tests.cast import ALICE, BOB, MALLORY
from tests.clock import DAY
from tests.factories import comment_on, imported, imported_comments
from tests.store_state import problems

ENTERED, PRESENT, PASSED = CommentEntry.ENTERED, CommentEntry.PRESENT, CommentEntry.PASSED


@pytest.fixture
def discussed(repository, clock):
    """An imported article whose two comments, of four numbers, are not imported yet."""
    row = imported(1, clock() - DAY, comment_numbers=4, groups=("one",))
    (number,) = repository.imports.add([row])
    return number, imported_comments(row, clock() - 600)


def thread_of(repository, article_id):
    thread = repository.comments.get_thread(article_id, CommentOrder.OLDEST)
    return [(one.id - root_of(article_id), one.depth, one.text) for one in thread.comments]


def test_imported_comments_keep_numbers_places_times_and_counts(repository, clock, discussed):
    article_id, comments = discussed
    repository.lists.get_page(Order.ACTIVE, slug="one")

    assert repository.imports.add_comments(comments) == [ENTERED, ENTERED]

    assert thread_of(repository, article_id) == [(1, 0, ""), (2, 1, "First"), (4, 2, "Second")]
    second = repository.comments.get(root_of(article_id) + 4)
    assert (second.author, second.author_name, second.posted_at) == (ALICE, "alice", clock() - 598)
    assert (second.votes, second.opposes, second.closes_at) == (3, 2, clock() - 598 + 7 * DAY)
    (article,) = repository.lists.get_page(Order.ACTIVE, slug="one").articles
    assert (article.comments, article.last_comment_at) == (2, clock() - 598)
    assert [one.text for one in repository.comments.list_by(BOB)] == ["First"]
    assert repository.inbox.get_page(BOB).notices == ()
    assert [one.id for one in repository.imports.iterate_comments(article_id)] == [
        root_of(article_id) + number for number in (1, 2, 4)
    ]
    assert problems(repository) == []


def test_open_comments_get_placeholder_voters(repository, discussed):
    article_id, comments = discussed
    repository.imports.add_comments(comments)
    keys, comment_id = repository.store.shards.of(article_id), root_of(article_id) + 4

    voters = repository.store.client.smembers(keys.comment_voted(comment_id))
    voters |= repository.store.client.smembers(keys.comment_oppose(comment_id))

    assert {int(user) for user in voters} == set(range(PLACEHOLDERS.start, PLACEHOLDERS.start + 5))
    assert repository.comments.cast(comment_id, MALLORY, Choice.VOTE).votes == 4
    assert problems(repository) == []


def test_members_who_voted_on_a_comment_elsewhere_are_its_voters(repository, discussed):
    article_id, (first, second) = discussed
    ballots = ImportedVote(BOB, Choice.OPPOSE, 0), ImportedVote(MALLORY, Choice.VOTE, 0)
    repository.imports.add_comments([first, replace(second, voters=ballots)])
    comment_id = root_of(article_id) + 4

    assert repository.comments.cast(comment_id, BOB, Choice.NONE).opposes == 1
    assert repository.comments.cast(comment_id, MALLORY, Choice.VOTE).votes == 3
    assert problems(repository) == []


def test_an_import_interrupted_between_comments_is_completed_around_new_ones(repository, discussed):
    article_id, comments = discussed
    repository.imports.add_comments(comments[:1])
    new = comment_on(repository, article_id, "Meanwhile")

    assert repository.imports.add_comments(comments) == [PRESENT, ENTERED]
    assert repository.imports.add_comments(comments) == [PRESENT, PRESENT]

    assert new == root_of(article_id) + 5
    assert len(thread_of(repository, article_id)) == 4
    assert problems(repository) == []


def test_a_comment_deleted_here_is_not_imported_again(repository, discussed):
    article_id, comments = discussed
    repository.imports.add_comments(comments)
    repository.comments.delete(root_of(article_id) + 4, ALICE)
    repository.comments.delete(root_of(article_id) + 2, BOB)

    assert repository.imports.add_comments(comments) == [PASSED, PASSED]

    assert thread_of(repository, article_id) == []
    assert problems(repository) == []


def test_a_number_of_another_comment_is_taken_and_replies_to_it_are_orphans(repository, clock):
    row = imported(1, clock() - DAY)
    (article_id,) = repository.imports.add([row])
    comment_on(repository, article_id, "Another")
    first = CommentPlace(1, clock() - 500)
    rows = [
        ImportedComment(row, place, ALICE, "alice", "Text")
        for place in (first, CommentPlace(2, clock() - 4, first))
    ]

    assert repository.imports.add_comments(rows) == [CommentEntry.TAKEN, CommentEntry.ORPHAN]

    assert thread_of(repository, article_id) == [(1, 0, "Another")]
    assert problems(repository) == []


def test_comments_without_their_article_are_not_entered(repository, clock):
    comments = imported_comments(imported(1, clock() - DAY), clock())

    assert repository.imports.add_comments(comments) == [CommentEntry.NO_ARTICLE] * 2


def test_a_comment_whose_author_deleted_the_account_is_imported_without_a_name(repository, discussed):
    article_id, comments = discussed
    assert repository.account_deletion.advance(ALICE, "alice", "", lambda: True) == ""

    repository.imports.add_comments(comments)

    second = repository.comments.get(root_of(article_id) + 4)
    assert (second.author, second.author_name, second.text) == (DELETED_MEMBER, "", "Second")
    assert problems(repository) == []


@pytest.mark.needs("few shards")
def test_one_exchange_enters_a_limited_number_of_comments_and_voters(repository, clock, monkeypatch):
    monkeypatch.setattr(imports, "AT_ONCE", 310)
    row, stub = imported(1, clock() - DAY), CommentPlace(1, clock() - 60, is_stub=True)
    repository.imports.add([row])
    comments = [
        ImportedComment(row, CommentPlace(number, clock() - 50, stub), BOB, "bob", "Text", votes)
        for number, votes in enumerate((0, 0, 0, 0, 9, 2, 30, 1), start=2)
    ]
    steps, run_many = [], repository.store.run_many

    def watched(calls):
        calls = list(calls)
        entered = [len(call.args) for call in calls if call.script == "imports/enter_comments"]
        assert len(entered) <= 1
        steps.extend((arguments - 4) // 13 - 1 for arguments in entered)
        return run_many(calls)

    monkeypatch.setattr(repository.store, "run_many", watched)

    assert repository.imports.add_comments(comments) == [ENTERED] * 8
    assert steps == [3, 2, 2, 1]
    assert problems(repository) == []
