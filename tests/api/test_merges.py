"""Programs merge articles of one story, and undo it."""

import pytest

from articles.domain.articles import Choice
from tests.caller import error_of
from tests.cast import BOB
from tests.factories import comment_on, post


@pytest.fixture
def story(site_store, article):
    """Another article of the same story, by bob, with a comment."""
    number = post(site_store, 2, poster=BOB)
    comment_on(site_store, number, "Here")
    return number


def test_programs_merge_and_undo(site_store, article, story, as_carol):
    path = f"articles/{story}/merged"
    site_store.votes.cast(story, 77, Choice.OPPOSE)
    for _ in range(2):
        answer = as_carol.put(path, {"into": article, "reason": "The same story"}).json()
        assert (answer["merged_into"], answer["removed"], answer["link"]) == (
            article,
            "The same story",
            "https://example.org/2",
        )
    assert as_carol.get(f"articles/{article}").json()["merged"] == [story]
    assert as_carol.get(f"articles/{article}").json()["opposes"] == 1
    assert as_carol.get(f"articles/{story}/comments").json()["comments"]
    refused = as_carol.put(f"articles/{story}/removed", {"removed": True, "reason": "Spam"})
    assert error_of(refused) == (409, "article-merged")
    assert as_carol.put(f"articles/{article}/merged", {"into": article, "reason": "Itself"}).status_code == 409

    for _ in range(2):
        assert as_carol.put(path, {"into": None, "reason": ""}).json()["merged_into"] is None
    assert as_carol.put(path, {"into": article, "reason": ""}).status_code == 400, "without a reason"
    assert as_carol.put(path, {"into": 999, "reason": "Nothing"}).status_code == 404
