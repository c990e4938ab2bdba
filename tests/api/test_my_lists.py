"""GET /api/me/… and PUT /api/articles/<id>/saved: private to the member."""

from articles.domain.articles import Choice
from articles.web.preferences import MOST_FOLLOWED
from tests.caller import error_of
from tests.cast import MODERATOR
from tests.factories import comment_on, post_as
from tests.store_state import problems


def ids(answer) -> list[int]:
    assert answer.status_code == 200, answer.content
    return [article["id"] for article in answer.json()["articles"]]


def test_each_list_contains_the_members_own_articles(as_bob, as_alice, site_store, article, bob):
    for choice, expected in (
        (Choice.VOTE, ([article], [])),
        (Choice.OPPOSE, ([], [article])),
        (Choice.NONE, ([], [])),
    ):
        site_store.votes.cast(article, bob.pk, choice)
        assert (ids(as_bob.get("me/voted")), ids(as_bob.get("me/opposed"))) == expected
    assert ids(as_alice.get("me/voted")) == [article]
    assert as_alice.get("me/voted").json()["articles"][0]["choice"] == "vote"


def test_members_read_what_of_theirs_was_removed(as_alice, as_bob, anyone, site_store, article, alice):
    comment = comment_on(site_store, article, "Buy *there*", alice.pk)
    site_store.comments.remove(comment, MODERATOR, "Another one")
    post_as(site_store, alice, "Listed", "https://example.org/listed")
    site_store.articles.remove(article, MODERATOR, "An advertisement")

    articles, comments = (as_alice.get(f"me/removed/{kind}").json() for kind in ("articles", "comments"))

    (removed,) = articles["articles"]
    assert (removed["article"]["id"], removed["link"]) == (article, "https://example.org/article")
    assert (removed["text"], removed["removal"]["reason"]) == (None, "An advertisement")
    assert (articles["page"], articles["has_next"]) == (1, False)
    (removed,) = comments["comments"]
    assert (removed["comment"]["id"], removed["text"]) == (comment, "Buy *there*")
    assert (removed["title"], removed["removal"]["reason"]) == ("An article", "Another one")
    for kind in ("articles", "comments"):
        assert as_bob.get(f"me/removed/{kind}").json()[kind] == []
        assert error_of(anyone.get(f"me/removed/{kind}")) == (401, "login-required")
        assert error_of(as_alice.get(f"me/removed/{kind}?page=2")) == (404, "page-not-found")


def test_an_article_that_cannot_be_saved_is_refused_with_a_reason(as_bob, anyone, article, removed):
    assert error_of(anyone.put(f"articles/{article}/saved", {"saved": True})) == (401, "login-required")
    assert error_of(as_bob.put("articles/999/saved", {"saved": True})) == (404, "article-not-found")
    assert error_of(as_bob.put(f"articles/{removed}/saved", {"saved": True})) == (404, "article-removed")
    for body in ({}, {"saved": "yes"}, {"saved": 1}):
        assert error_of(as_bob.put(f"articles/{article}/saved", body)) == (400, "invalid")


def test_a_full_list_is_refused_with_its_own_code(as_bob, site_store, article):
    object.__setattr__(site_store.rules, "max_saved", 0)

    assert error_of(as_bob.put(f"articles/{article}/saved", {"saved": True})) == (409, "saved-full")


def test_a_deleted_member_cannot_vote(as_bob, site_store, article, bob):
    site_store.account_deletion.advance(bob.pk, "bob", "", lambda: True)

    assert error_of(as_bob.put(f"articles/{article}/vote", {"choice": "vote"})) == (403, "member-gone")
    assert problems(site_store) == []


def test_following_too_many_groups_is_refused_with_its_own_code(as_bob, site_store, bob, python):
    many = [f"g{n}" for n in range(MOST_FOLLOWED)]
    site_store.groups.ensure(dict.fromkeys(many, "G"))
    bob.followed_groups = ",".join(many)
    bob.save()

    assert error_of(as_bob.put("groups/python/followed", {"followed": True})) == (409, "followed-full")
