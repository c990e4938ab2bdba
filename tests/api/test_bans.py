"""GET /api/users/<name>/bans and PUT /api/users/<name>/bans/<scope>."""

from tests.caller import error_of

BANS, POSTING = "users/bob/bans", "users/bob/bans/posting"
LIFTED = {"banned": False, "reason": "It is over"}


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
