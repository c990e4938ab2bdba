"""GET /api/users/<name>, PUT /api/me/about, and the flags on what members write about themselves."""

import pytest

from accounts.models import Ban, BanScope
from tests.caller import error_of
from tests.factories import vote

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


@pytest.mark.parametrize("about", ["x" * 501, "\ud800", None, ["a"]])
def test_what_is_refused(as_alice, about):
    assert as_alice.put("me/about", {"about": about}).status_code == 400


def test_of_a_banned_member_nothing_is_shown_and_nothing_but_removal_accepted(as_alice, as_bob, alice, carol):
    as_alice.put("me/about", ABOUT)
    Ban.objects.begin(alice, BanScope.BOTH, "Spam", ends_at=None, moderator_id=carol.pk)

    assert as_bob.get("users/alice").json()["about"] == ""
    assert as_bob.put("users/alice/flag", {"reason": "spam"}).status_code == 404
    assert error_of(as_alice.put("me/about", {"about": "More"})) == (403, "banned")
    assert as_alice.put("me/about", {"about": ""}).json()["about"] == ""


def test_a_flag_is_set_taken_back_and_decided(as_alice, as_bob, as_carol, site_store):
    as_alice.put("me/about", ABOUT)
    path = "users/alice/flag"
    spam = {"name": "alice", "reason": "spam", "words": "", "state": "open"}

    for _ in range(2):
        assert as_bob.put(path, {"reason": "spam"}).json() == spam
    for _ in range(2):
        assert as_bob.send("DELETE", path).json()["reason"] is None
    for reason in ("withdrawal", "broken-link", "against-rules"):
        assert error_of(as_bob.put(path, {"reason": reason}))[0] == 400
    assert error_of(as_alice.put(path, {"reason": "spam"})) == (403, "own-content")
    as_bob.put(path, {"reason": "spam", "words": "Pills"})
    (queued,) = as_carol.get("queue/profiles").json()["profiles"]
    assert (queued["name"], queued["about"]) == ("alice", ABOUT["about"])
    assert [(one["by"], one["words"]) for one in queued["flags"]] == [("bob", "Pills")]
    for _ in range(2):
        assert as_carol.put("users/alice/about", {"removed": False}).json() == {"name": "alice"} | ABOUT
    assert error_of(as_bob.send("DELETE", path)) == (409, "flag-decided")
    assert error_of(as_carol.put("users/alice/about", {"removed": True}))[0] == 400, "everyone reads why"
    for _ in range(2):
        removed = as_carol.put("users/alice/about", {"removed": True, "reason": "Spam"})
        assert removed.json() == {"name": "alice", "about": ""}
    assert [one.action.value for one in site_store.moderation_log.get_page().entries] == ["remove-about"]


def test_only_moderators_decide(as_alice, as_bob, as_carol):
    as_carol.put("me/about", ABOUT)

    assert as_bob.get("queue/profiles").status_code == 403
    assert as_bob.put("users/carol/about", {"removed": True, "reason": "x"}).status_code == 403
    assert error_of(as_carol.put("users/carol/about", {"removed": False})) == (403, "forbidden")
