"""What moderators can do through the API about an account that was deleted less than 30 days ago."""

from datetime import timedelta

import pytest
from django.db.models import F

from accounts import account_deletion
from accounts.models import User
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


def test_only_moderators_may_and_no_one_after_the_month(
    as_carol, as_bob, anyone, site_store, article, comment, deleted
):
    paths = (f"users/{deleted}/posted", f"users/{deleted}/sweeps", f"articles/{article}/poster")
    for path in (*paths, f"comments/{comment}/author"):
        assert error_of(as_bob.get(path)) == (403, "forbidden")
        assert error_of(anyone.get(path))[0] == 401
    assert error_of(as_bob.post(f"users/{deleted}/sweeps", SWEEP)) == (403, "forbidden")
    for path in (*(f"users/{deleted}/{what}" for what in ("bans", "notes", "left-out")), "users/~9/posted"):
        assert error_of(as_carol.get(path))[0] == 404
    assert as_carol.get(f"articles/{article}").json()["poster"] == ""

    User.objects.exclude(left_at=None).update(left_at=F("left_at") - timedelta(days=30))

    for path in paths:
        assert error_of(as_carol.get(path))[0] == 404
    assert error_of(as_carol.post(f"users/{deleted}/sweeps", SWEEP))[0] == 404
