"""The tests that end the write-ups this site is based on, run on its own repository.

One of them ends by asserting that votes are still above 1 after the only other voter switched to opposing; one
user holds one choice, so they are 1, and opposing votes are counted separately.
"""

import pytest

from articles.domain.articles import Choice
from articles.domain.lists import Order

pytestmark = pytest.mark.one_shard

USERNAME, OTHER_USER = 1, 2


def test_post_vote_list_and_group(repository):
    article_id = repository.articles.post(USERNAME, "username", "A title", "http://www.baidu.com").id
    assert article_id
    assert repository.articles.get(article_id).title == "A title"

    assert repository.votes.cast(article_id, OTHER_USER, Choice.VOTE).votes > 1

    assert len(repository.lists.get_page(Order.SCORE, 1).articles) >= 1

    repository.groups.assign(article_id, ["new-group"])
    assert len(repository.lists.get_page(Order.SCORE, 1, slug="new-group").articles) >= 1


def test_vote_then_oppose_by_the_same_user(repository):
    article_id = repository.articles.post(USERNAME, "guoxiaoxu", "A title", "http://www.google.com").id

    assert repository.votes.cast(article_id, OTHER_USER, Choice.VOTE).votes > 1

    tally = repository.votes.cast(article_id, OTHER_USER, Choice.OPPOSE)
    assert (tally.votes, tally.opposes) == (1, 1)

    assert len(repository.lists.get_page(Order.SCORE, 1).articles) >= 1
    repository.groups.assign(article_id, ["new-group"])
    assert len(repository.lists.get_page(Order.SCORE, 1, slug="new-group").articles) >= 1
