"""GET /api/users/<name>/bans and PUT /api/users/<name>/bans/<scope>."""

BANS, POSTING = "users/bob/bans", "users/bob/bans/posting"
LIFTED = {"banned": False, "reason": "It is over"}


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
