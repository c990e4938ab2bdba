"""PUT /api/log/redacted."""

import pytest

from articles.domain.moderation_log import REDACTED
from tests.caller import error_of
from tests.factories import actor, member, post_as

NAME, WHY = "Jane Roe, 12 Baker Street", "She asked for it"


@pytest.fixture
def named(site_store, alice) -> int:
    """An article by alice whose former title a moderator replaced."""
    found = post_as(site_store, alice, NAME, "https://e.org/a").id
    moderator = actor(member("dora", moderator=True))
    site_store.articles.edit(found, moderator, "Better", "https://e.org/a", moderator=True, reason="Private")
    return found


def test_entries_about_no_article_are_named_by_their_time(as_carol, anyone, site_store, bob):
    as_carol.put("users/bob/bans/posting", {"banned": True, "days": 1, "reason": NAME})
    (ban,) = anyone.get("log").json()["entries"]
    body = {"time": ban["time"], "texts": [NAME, "bob"], "reason": WHY}

    assert as_carol.put("log/redacted", body).json() == {"places": 1}

    redaction, ban = anyone.get("log").json()["entries"]
    assert (ban["title"], ban["reason"]) == ("bob", REDACTED)
    assert (redaction["title"], redaction["details"]) == ("bob", {"about": "ban", "parts": "reason"})


def test_only_those_who_may_redact_what_is_not_their_own(as_alice, as_carol, anyone, site_store, named, carol):
    body = {"article_id": named, "texts": [NAME], "reason": WHY}
    own = post_as(site_store, carol, "Mine", "https://e.org/mine").id

    assert error_of(as_alice.put("log/redacted", body)) == (403, "forbidden")
    assert error_of(anyone.put("log/redacted", body)) == (401, "login-required")
    assert error_of(as_carol.put("log/redacted", body | {"article_id": own})) == (403, "forbidden")
    assert error_of(as_carol.put("log/redacted", body | {"article_id": 999})) == (404, "article-not-found")
    assert error_of(as_carol.put("log/redacted", body | {"reason": ""})) == (400, "reason-empty")
    for wrong in ({"time": 1.5}, {"article_id": None}, {"texts": []}, {"texts": ["x"] * 101}):
        assert error_of(as_carol.put("log/redacted", body | wrong)) == (400, "invalid"), wrong
    assert site_store.moderation_log.get_for_article(named).entries[0].details["old_title"] == NAME
