"""What moderators can do through the API about an account that was deleted less than 30 days ago."""

import pytest

from accounts import account_deletion
from tests.caller import error_of
from tests.cast import MODERATOR
from tests.factories import comment_on

SWEEP = {"days": 1, "reason": "Nothing but spam"}


@pytest.fixture
def comment(site_store, article, bob) -> int:
    return comment_on(site_store, article, "A comment", bob.pk)


@pytest.fixture
def deleted(alice, article, comment) -> str:
    """Delete alice's account; return what the API calls it."""
    account_deletion.begin(alice.pk)
    account_deletion.advance_all(60)
    return f"~{alice.pk}"


def test_moderators_read_what_a_member_posted(as_carol, site_store, article, comment):
    site_store.comments.remove(comment, MODERATOR, "Off topic")

    of_article, of_comment = as_carol.get(f"articles/{article}/poster"), as_carol.get(f"comments/{comment}/author")

    assert of_article.json() == as_carol.get("users/ALICE/posted").json()
    assert (of_article.json()["name"], of_article.json()["deleted_at"]) == ("alice", None)
    assert (of_article.json()["articles"], of_article.json()["comments"]) == (1, 0)
    assert of_comment.json()["name"] == "bob"
    site_store.articles.remove(article, MODERATOR, "Spam")
    assert as_carol.get(f"comments/{comment}/author").json()["name"] == "bob"
    for missing in (f"articles/{article + 9}/poster", f"comments/{comment + 9}/author"):
        assert error_of(as_carol.get(missing))[0] == 404
    (post,) = of_comment.json()["newest"]
    assert (post["article"], post["comment"], post["title"]) == (article, comment, "An article")
    assert post["removed"] == "Off topic"


def test_a_deleted_account_is_found_by_what_it_posted_and_swept(as_carol, site_store, article, deleted):
    found = as_carol.get(f"articles/{article}/poster").json()

    assert found == as_carol.get(f"users/{deleted}/posted").json()
    assert (found["name"], found["articles"], found["comments"]) == (deleted, 1, 0)
    assert found["known_until"] == pytest.approx(found["deleted_at"] + 30 * 86400)
    swept = as_carol.post(f"users/{deleted}/sweeps", SWEEP).json()
    assert (swept["removed"], swept["complete"]) == (1, True)
    assert as_carol.get(f"users/{deleted}/sweeps").json() == {"sweeps": [swept]}
    assert site_store.articles.get(article).removed == "Nothing but spam"
    change = {"restored": True, "reason": "A mistake"}
    assert as_carol.put(f"users/{deleted}/sweeps/{swept['id']}", change).json()["restored_at"]
    assert site_store.articles.get(article).removed is None
