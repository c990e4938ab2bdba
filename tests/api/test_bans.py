"""GET and PUT /api/users/<name>/ban."""

from django.utils import timezone

from accounts.models import Ban
from tests.api.caller import error_of
from tests.factories import member

NO_BAN = {"name": "bob", "scope": None, "reason": "", "ends_at": None, "appeal": "", "answer": ""}


def test_a_member_is_banned_and_the_ban_is_lifted(as_carol, as_bob, site_store, article):
    for _ in range(2):
        answer = as_carol.put("users/BOB/ban", {"scope": "posting", "days": 7, "reason": "Spam"}).json()
    week = timezone.now().timestamp() + 7 * 86400
    assert week - 60 < answer.pop("ends_at") <= week
    assert answer == {"name": "bob", "scope": "posting", "reason": "Spam", "appeal": "", "answer": ""}
    assert Ban.objects.count() == 1
    assert error_of(as_bob.post(f"articles/{article}/comments", {"text": "Text"})) == (403, "banned")

    Ban.objects.update(appeal="Please", appealed_at=timezone.now())
    assert as_carol.get("users/bob/ban").json()["appeal"] == "Please"
    for _ in range(2):
        assert as_carol.put("users/bob/ban", {"scope": None, "reason": "It is over"}).json() == NO_BAN
    assert as_carol.get("users/bob/ban").json() == NO_BAN
    assert as_bob.post(f"articles/{article}/comments", {"text": "Text"}).status_code == 201
    entries = site_store.moderation_log.get_page().entries
    assert [(one.action.value, one.actor_name, one.reason) for one in entries] == [
        ("lift-ban", "carol", "It is over"),
        ("ban", "carol", "Spam"),
    ]


def test_a_ban_without_days_has_no_end(as_carol, bob):
    answer = as_carol.put("users/bob/ban", {"scope": "both", "reason": "Spam"}).json()

    assert (answer["scope"], answer["ends_at"]) == ("both", None)


def test_who_may_ban_whom(as_alice, as_carol, anyone, bob):
    member("dora", moderator=True)
    fields = {"scope": "both", "days": 1, "reason": "Spam"}

    assert error_of(as_alice.put("users/bob/ban", fields)) == (403, "forbidden")
    assert error_of(as_alice.get("users/bob/ban")) == (403, "forbidden")
    assert error_of(anyone.get("users/bob/ban")) == (401, "login-required")
    assert error_of(as_carol.put("users/dora/ban", fields)) == (403, "forbidden")
    assert error_of(as_carol.put("users/nobody/ban", fields)) == (404, "not-found")
    for wrong in ({"scope": "reading"}, {"days": -1}, {"days": 10_000}):
        assert error_of(as_carol.put("users/bob/ban", fields | wrong)) == (400, "invalid")
    assert error_of(as_carol.put("users/bob/ban", fields | {"reason": " "})) == (400, "reason-empty")
    assert not Ban.objects.exists()


def test_the_inbox_of_a_banned_member_tells_of_the_ban(as_carol, as_bob, site_store):
    assert as_bob.get("inbox").json()["ban"] is None
    as_carol.put("users/bob/ban", {"scope": "posting", "reason": "Spam"})

    ban = {"scope": "posting", "reason": "Spam", "ends_at": None, "current": True, "appeal": "", "answer": ""}
    assert as_bob.get("inbox").json()["ban"] == ban
    as_carol.put("users/bob/ban", {"scope": None, "reason": "It is over"})
    assert as_bob.get("inbox").json()["ban"] == ban | {"current": False}
    as_bob.put("inbox/read", {})
    assert as_bob.get("inbox").json()["ban"] is None
