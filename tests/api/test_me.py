"""What a member has: /api/me with its lists, the inbox, saved articles, and what is said of members."""

from django.contrib.auth.models import Permission

from accounts.models import Ban, BanScope
from articles.domain.articles import Choice
from articles.web.preferences import MOST_FOLLOWED
from tests.caller import error_of
from tests.cast import MODERATOR
from tests.factories import comment_on, post_as, vote
from tests.store_state import problems


def test_a_member_gets_their_name_and_lists(as_alice, article):
    me = as_alice.get("me").json()

    assert (me["name"], me["moderator"], me["permissions"]) == ("alice", False, [])
    assert {
        name: as_alice.client.get(path, headers=as_alice.headers).status_code for name, path in me["lists"].items()
    } == dict.fromkeys(("voted", "opposed", "saved", "following", "posted"), 200)


def test_a_moderator_gets_their_permissions(as_carol, as_bob, bob):
    me = as_carol.get("me").json()

    assert me["moderator"]
    assert me["permissions"] == [
        "assign_groups", "ban_members", "edit_any_article", "redact", "remove_articles",
        "see_views", "tune_ranking",
    ]  # fmt: skip

    bob.user_permissions.add(Permission.objects.get(codename="see_operation"))
    me = as_bob.get("me").json()
    assert (me["moderator"], me["permissions"]) == (False, ["see_operation"])


def test_the_articles_a_member_posted_are_public(anyone, as_bob, site_store, bob, article, removed):
    site_store.members.save(bob.pk, article, wanted=True)

    for caller, saved in ((anyone, False), (as_bob, True)):
        page = caller.get("users/Alice/articles").json()
        assert [(one["id"], one["saved"]) for one in page["articles"]] == [(article, saved)]
        assert (page["page"], page["has_next"]) == (1, False)
    assert error_of(anyone.get("users/nobody/articles")) == (404, "not-found")
    assert error_of(anyone.get("users/alice/articles?page=2")) == (404, "page-not-found")


ABOUT = {"about": "Gardener in *Lyon*"}


def test_a_member_is_described_as_on_the_page_and_writes_about_themselves(anyone, as_alice, site_store, article):
    vote(site_store, article, 2)

    for _ in range(2):
        assert as_alice.put("me/about", ABOUT).json()["about"] == ABOUT["about"]

    shown = anyone.get("users/ALICE").json()
    assert shown.pop("joined") > 0
    assert shown == {"name": "alice", "points": 2, "invited_by": None, "invited": [], "vouched_for_by": []} | ABOUT
    assert anyone.get("users/nobody").status_code == 404
    assert anyone.put("me/about", ABOUT).status_code == 401


def test_of_a_banned_member_nothing_is_shown_and_nothing_but_removal_accepted(as_alice, as_bob, alice, carol):
    as_alice.put("me/about", ABOUT)
    Ban.objects.begin(alice, BanScope.BOTH, "Spam", ends_at=None, moderator_id=carol.pk)

    assert as_bob.get("users/alice").json()["about"] == ""
    assert as_bob.put("users/alice/flag", {"reason": "spam"}).status_code == 404
    assert error_of(as_alice.put("me/about", {"about": "More"})) == (403, "banned")
    assert as_alice.put("me/about", {"about": ""}).json()["about"] == ""


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


def test_the_inbox_lists_notices_with_what_they_are_about(site_store, article, as_alice, anyone, bob):
    comment = comment_on(site_store, article, "Hello", bob.pk)
    site_store.articles.remove(article, MODERATOR, "Off topic")
    site_store.articles.restore(article, MODERATOR, "On topic")

    inbox = as_alice.get("inbox").json()

    assert (inbox["page"], inbox["has_next"]) == (1, False)
    found = {one["action"] or one["kind"]: one for one in inbox["notices"]}
    assert set(found) == {"reply", "remove", "restore"}
    assert found["reply"]["comment"]["id"] == comment
    assert (found["reply"]["by"], found["reply"]["new"], found["reply"]["reason"]) == ("bob", True, None)
    assert (found["remove"]["by"], found["remove"]["reason"]) == ("carol", "Off topic")
    assert found["remove"]["article_id"] == article
    assert as_alice.get("inbox").json() == inbox, "reading marks nothing as read"
    assert as_alice.get("inbox?page=2").status_code == 404
    assert anyone.get("inbox").status_code == 401


def test_a_notice_of_a_deleted_comment_says_whose_it_was(site_store, article, as_alice, bob):
    comment = comment_on(site_store, article, "Hello", bob.pk)
    site_store.comments.delete(comment, bob.pk)

    (notice,) = as_alice.get("inbox").json()["notices"]

    assert (notice["kind"], notice["by"], notice["comment"]) == ("reply", "bob", None)


def test_the_inbox_is_marked_as_read(as_alice, anyone, site_store, article, alice, bob):
    comment_on(site_store, article, "A comment", bob.pk)
    (notice,) = as_alice.get("inbox").json()["notices"]

    assert as_alice.put("inbox/read", {"until": notice["time"] - 1}).json()["until"] == notice["time"] - 1
    assert as_alice.get("inbox").json()["notices"][0]["new"]
    for _ in range(2):
        assert as_alice.put("inbox/read", {"until": notice["time"]}).json()["until"] == notice["time"]
    assert not as_alice.get("inbox").json()["notices"][0]["new"]
    assert as_alice.put("inbox/read", {"until": 1}).json()["until"] == notice["time"]
    now = as_alice.put("inbox/read", {}).json()["until"]
    assert notice["time"] <= now
    assert as_alice.put("inbox/read", {"until": now + 9_999}).json()["until"] < now + 9_999
    assert error_of(anyone.put("inbox/read", {})) == (401, "login-required")
