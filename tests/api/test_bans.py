"""GET /api/users/<name>/bans and PUT /api/users/<name>/bans/<scope>."""

from datetime import UTC, datetime, timedelta

import time_machine
from django.utils import timezone

from accounts.models import Ban
from tests.caller import error_of
from tests.factories import member

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
BANS, POSTING = "users/bob/bans", "users/bob/bans/posting"
LIFTED = {"banned": False, "reason": "It is over"}


@time_machine.travel(NOON, tick=False)
def test_a_member_is_banned_and_the_ban_is_lifted(as_carol, as_bob, site_store, article):
    for _ in range(2):
        answer = as_carol.put("users/BOB/bans/posting", {"banned": True, "days": 7, "reason": "Spam"}).json()
    (ban,) = answer["bans"]
    assert ban.pop("ends_at") == (NOON + timedelta(days=7)).timestamp()
    assert ban == {"scope": "posting", "group": None, "reason": "Spam", "appeal": "", "answer": ""}
    assert Ban.objects.count() == 1
    assert error_of(as_bob.post(f"articles/{article}/comments", {"text": "Text"})) == (403, "banned")

    Ban.objects.update(appeal="Please", appealed_at=timezone.now())
    assert as_carol.get(BANS).json()["bans"][0]["appeal"] == "Please"
    for _ in range(2):
        assert as_carol.put(POSTING, LIFTED).json() == {"name": "bob", "bans": []}
    assert as_carol.get(BANS).json() == {"name": "bob", "bans": []}
    assert as_bob.post(f"articles/{article}/comments", {"text": "Text"}).status_code == 201
    entries = site_store.moderation_log.get_page().entries
    assert [(one.action.value, one.actor_name, one.reason, one.details["scope"]) for one in entries] == [
        ("lift-ban", "carol", "It is over", "posting"),
        ("ban", "carol", "Spam", "posting"),
    ]


def test_one_of_several_bans_is_lifted_and_the_others_continue(as_carol, as_bob, article):
    for scope in ("posting", "voting", "both"):
        answer = as_carol.put(f"{BANS}/{scope}", {"banned": True, "reason": f"From {scope}"}).json()
    assert [(one["scope"], one["ends_at"]) for one in answer["bans"]] == [
        ("both", None),
        ("voting", None),
        ("posting", None),
    ]

    as_carol.put(f"{BANS}/both", LIFTED)
    assert error_of(as_bob.put(f"articles/{article}/vote", {"choice": "vote"})) == (403, "banned")
    assert [one["scope"] for one in as_carol.put(f"{BANS}/voting", LIFTED).json()["bans"]] == ["posting"]

    assert as_bob.put(f"articles/{article}/vote", {"choice": "vote"}).status_code == 200
    assert error_of(as_bob.post("articles", {"title": "T", "text": "Text"})) == (403, "banned")


def test_who_may_ban_whom(as_alice, as_carol, anyone, bob):
    member("dora", moderator=True)
    fields = {"banned": True, "days": 1, "reason": "Spam"}

    assert error_of(as_alice.put(POSTING, fields)) == (403, "forbidden")
    assert error_of(as_alice.get(BANS)) == (403, "forbidden")
    assert error_of(anyone.get(BANS)) == (401, "login-required")
    assert error_of(as_carol.put("users/dora/bans/both", fields)) == (403, "forbidden")
    assert error_of(as_carol.put("users/nobody/bans/both", fields)) == (404, "not-found")
    assert error_of(as_carol.put(f"{BANS}/reading", fields)) == (400, "invalid")
    for wrong in ({"banned": "maybe"}, {"days": -1}, {"days": 10_000}):
        assert error_of(as_carol.put(POSTING, fields | wrong)) == (400, "invalid")
    assert error_of(as_carol.put(POSTING, fields | {"reason": " "})) == (400, "reason-empty")
    assert not Ban.objects.exists()


def test_the_inbox_of_a_banned_member_tells_of_the_ban(as_carol, as_bob, site_store):
    assert as_bob.get("inbox").json()["bans"] == []
    as_carol.put(POSTING, {"banned": True, "reason": "Spam"})

    ban = {"scope": "posting", "group": None, "reason": "Spam", "ends_at": None}
    ban |= {"current": True, "appeal": "", "answer": ""}
    assert as_bob.get("inbox").json()["bans"] == [ban]
    as_carol.put(POSTING, LIFTED)
    assert as_bob.get("inbox").json()["bans"] == [ban | {"current": False}]
    as_bob.put("inbox/read", {})
    assert as_bob.get("inbox").json()["bans"] == []
