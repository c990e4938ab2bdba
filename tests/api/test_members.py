"""GET /api/users/<name>, PUT /api/me/about, and the flags on what members write about themselves."""

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


def test_of_a_banned_member_nothing_is_shown_and_nothing_but_removal_accepted(as_alice, as_bob, alice, carol):
    as_alice.put("me/about", ABOUT)
    Ban.objects.begin(alice, BanScope.BOTH, "Spam", ends_at=None, moderator_id=carol.pk)

    assert as_bob.get("users/alice").json()["about"] == ""
    assert as_bob.put("users/alice/flag", {"reason": "spam"}).status_code == 404
    assert error_of(as_alice.put("me/about", {"about": "More"})) == (403, "banned")
    assert as_alice.put("me/about", {"about": ""}).json()["about"] == ""
