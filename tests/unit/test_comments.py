"""The ids of comments, and the formula of the best ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from articles.domain.articles import LATEST
from articles.domain.discussion.comments import (
    COMMENTS_PER_ARTICLE,
    Comment,
    article_of,
    is_root,
    lower_bound,
    root_of,
)
from articles.domain.members import DELETED_MEMBER
from tests.cast import ALICE, BOB


@pytest.mark.parametrize(
    ("votes", "opposes", "bound"),
    [
        (10, 0, 0.8589313179),
        (10, 4, 0.5436861054),
        (100, 0, 0.9838416367),
        (1, 0, 0.3784475032),
        (0, 0, 0.0),
        (0, 7, 0.0),
    ],
)
def test_the_lower_bound_of_known_votes(votes, opposes, bound):
    assert lower_bound(votes, opposes) == pytest.approx(bound, abs=1e-10)


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_vote_raises_the_lower_bound_and_an_opposing_vote_does_not(votes, opposes):
    bound = lower_bound(votes, opposes)

    assert -1e-12 <= bound < lower_bound(votes + 1, opposes) < 1
    assert lower_bound(votes, opposes + 1) <= bound + 1e-12


@given(st.integers(1, 10**9), st.integers(1, COMMENTS_PER_ARTICLE - 1))
def test_an_id_leads_to_its_article_and_sorts_as_text_as_it_does_as_a_number(article, number):
    comment = root_of(article) + number

    assert (article_of(comment), is_root(comment), is_root(root_of(article))) == (article, False, True)
    assert str(root_of(article)) < str(comment)


def comment(**changes: object) -> Comment:
    facts = {"id": 1_000_001, "article": 1, "parent": None, "author": BOB, "author_name": "bob", "text": "Hi"}
    facts |= {"posted_at": 10.0, "votes": 5, "opposes": 2, "closes_at": 20.0}
    return Comment(**facts | changes)  # type: ignore[arg-type]


def test_voting_ends_with_the_millisecond_that_the_comment_says():
    assert comment().is_open(20.0004)
    assert not comment().is_open(20.001)
    assert not comment(removed="Spam").is_open(15)
    assert not comment(is_deleted=True).is_open(15)
    assert comment(closes_at=LATEST).points == 3


def test_only_the_author_may_edit_a_comment_that_is_shown():
    assert comment().may_be_edited_by(BOB)
    assert not comment().may_be_edited_by(ALICE)
    assert not comment().may_be_edited_by(None)
    assert not comment(removed="Spam").may_be_edited_by(BOB)


def test_a_deleted_account_is_distinguished_from_a_deleted_comment():
    assert comment(author=DELETED_MEMBER).by_deleted_member
    assert not comment(author=DELETED_MEMBER, is_deleted=True).by_deleted_member
