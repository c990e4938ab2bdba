"""The ids of comments, and the formula of the best ones."""

from decimal import Decimal, localcontext
from itertools import product
from math import ulp

import pytest
from hypothesis import given, strategies as st

from articles.domain.articles import LATEST
from articles.domain.comments import (
    COMMENTS_PER_ARTICLE,
    QUANTILE,
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
        (10, 0, 0.8589313179), (10, 4, 0.5436861054), (100, 0, 0.9838416367), (1, 0, 0.3784475032),
        (0, 0, 0.0), (0, 7, 0.0),
    ],
)  # fmt: skip
def test_the_lower_bound_of_known_votes(votes, opposes, bound):
    assert lower_bound(votes, opposes) == pytest.approx(bound, abs=1e-10)


def exact_lower_bound(votes: int, opposes: int) -> Decimal:
    """Return the bound by its textbook formula, to 40 digits."""
    with localcontext(prec=60):
        count, quantile = Decimal(votes + opposes), Decimal(QUANTILE)
        share, square = votes / count, quantile * quantile
        spread = quantile * ((share * (1 - share) + square / (4 * count)) / count).sqrt()
        return (share + square / (2 * count) - spread) / (1 + square / count)


def test_the_lower_bound_is_exact_to_three_units_in_the_last_place_and_zero_without_votes():
    some = range(61), *[range(n, n + 1) for n in (100, 299, 300, 10**4, 10**6, 10**9)]
    counts = [number for part in some for number in part]

    for votes, opposes in product(counts[1:], counts):
        bound = lower_bound(votes, opposes)
        assert abs(Decimal(bound) - exact_lower_bound(votes, opposes)) <= 3 * Decimal(ulp(bound)), (votes, opposes)
    assert [lower_bound(0, opposes) for opposes in counts] == [0] * len(counts)


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_vote_raises_the_lower_bound_and_an_opposing_vote_lowers_it_if_there_are_votes(votes, opposes):
    bound = lower_bound(votes, opposes)

    assert 0 <= bound < lower_bound(votes + 1, opposes) < 1
    assert lower_bound(votes, opposes + 1) < bound or votes == bound == 0


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
