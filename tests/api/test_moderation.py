"""What moderators do: bans, blocked hosts, the queue, redaction, rules, vouches, removed lists."""

from urllib.parse import quote

import pytest

from accounts import account_deletion
from accounts.models import HeldPost, Vouch
from articles.domain.comments import root_of
from articles.domain.flags import FlagReason, FlagState
from articles.domain.moderation_log import REDACTED, Action
from tests.caller import error_of, with_token
from tests.cast import MODERATOR
from tests.factories import actor, comment_on, member, post_as
from tests.internals import log


def test_a_client_filters_the_log_and_learns_how_far_it_went(site_store, article, anyone, carol, monkeypatch):
    monkeypatch.setattr(log, "ENTRIES_SEARCHED", 10)
    for n, name in enumerate(("Dave", "Eve") * 20):
        site_store.moderation_log.note(Action.BAN, actor(carol), name, f"Spam {n}")
    site_store.articles.remove(article, actor(carol), "Old news")

    found, path, pages, reached = [], "log?action=ban&actor=CAROL&member=eve", 0, float("inf")
    after = ""
    while after is not None and pages < 20:
        page = anyone.get(path + after).json()
        found, pages = found + [entry["title"] for entry in page["entries"]], pages + 1
        assert 0 < page["searched_to"] <= reached
        reached, after = page["searched_to"], page["next_after"] and f"&after={quote(page['next_after'])}"
    assert (found, pages > 3) == (["Eve"] * 20, True)
    assert [one["reason"] for one in anyone.get("log?member=alice").json()["entries"]] == ["Old news"]
    assert anyone.get("log").json()["searched_to"] is None


@pytest.mark.parametrize("query", ["action=sing", f"member={'x' * 61}", "action=ban&page=2"])
def test_a_filter_of_the_log_that_makes_no_sense_is_refused(anyone, query):
    assert error_of(anyone.get(f"log?{query}"))[0] in (400, 422)


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


OWN = "This concerns you or something you posted. Another moderator has to decide."


def refusal(answer) -> tuple[int, str, str]:
    error = answer.json()["error"]
    return answer.status_code, error["code"], error["message"]


def test_moderators_decide_nothing_about_what_they_posted(as_carol, site_store, bob, carol):
    dora = member("dora", moderator=True)
    own = post_as(site_store, carol, "Mine", "https://example.org/mine").id
    comment = comment_on(site_store, own, "Me too", carol.pk)
    for subject in (root_of(own), comment):
        site_store.flags.set(subject, bob.pk, FlagReason.SPAM)

    for path in (f"articles/{own}/kept", f"comments/{comment}/kept"):
        assert refusal(as_carol.put(path, {})) == (403, "forbidden", OWN)
    assert site_store.flags.count() == 2
    restore = {"removed": False, "reason": "Fine"}
    site_store.comments.remove(comment, actor(dora), "Spam")
    assert refusal(as_carol.put(f"comments/{comment}/removed", restore))[2] == OWN
    site_store.articles.remove(own, actor(dora), "Spam")
    assert refusal(as_carol.put(f"articles/{own}/removed", restore))[2] == OWN
    assert with_token(dora).put(f"articles/{own}/removed", restore).status_code == 200
    assert refusal(as_carol.get("users/carol/notes")) == (403, "forbidden", OWN)


def test_moderators_read_the_queue_and_keep_what_is_flagged(as_carol, as_bob, site_store, article, alice, bob):
    comment = comment_on(site_store, article, "Buy *pills*", alice.pk)
    as_bob.put(f"articles/{article}/flag", {"reason": "spam"})
    as_bob.put(f"comments/{comment}/flag", {"reason": "against-rules", "words": "No adverts"})

    page = as_carol.get("queue").json()

    by_comment = {entry["comment"] and entry["comment"]["id"]: entry for entry in page["entries"]}
    assert by_comment.keys() == {None, comment}
    entry = by_comment[comment]
    assert (entry["article"]["id"], entry["author"], entry["weight"]) == (article, "alice", 1.0)
    (flag,) = entry["flags"]
    told = (flag["by"], flag["reason"], flag["words"], flag["weight"])
    assert told == ("bob", "against-rules", "No adverts", 1.0)
    assert (page["page"], page["has_next"]) == (1, False)
    for _ in range(2):
        answer = as_carol.put(f"comments/{comment}/kept", {"reason": "It is *useful*"})
        assert answer.json() == {"article_id": article, "comment_id": comment}
    as_carol.put(f"articles/{article}/kept", {})
    assert site_store.flags.count() == 0
    assert site_store.flags.get(comment, bob.pk).kept == "It is *useful*"
    assert site_store.flags.get(root_of(article), bob.pk).state is FlagState.KEPT


def test_a_flag_set_after_the_queue_was_read_stays_open(as_carol, site_store, article, bob):
    seen = site_store.store.now() - 1
    site_store.flags.set(root_of(article), bob.pk, FlagReason.SPAM)

    as_carol.put(f"articles/{article}/kept", {"seen": seen})

    assert site_store.flags.count() == 1


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


PILLS = {"subject": "article", "act": "hold", "words": ["buy pills"]}
POST = {"title": "Buy pills", "link": "https://example.org/pills"}


@pytest.fixture
def hold(as_carol):
    rule = as_carol.post("automatic-rules", PILLS | {"name": "Pills"}).json()["id"]
    as_carol.post(f"automatic-rules/{rule}/trial", {})
    assert as_carol.put(f"automatic-rules/{rule}/on", {"on": True}).json()["on"]
    return rule


def test_a_held_article_answers_202_and_is_approved(as_bob, as_carol, site_store, hold):
    answer = as_bob.post("articles", POST)
    number = answer.json()["held"]
    assert answer.status_code == 202
    (own,) = as_bob.get("me/held").json()["held"]
    assert (own["number"], own["state"], own["title"], own["rule"]) == (number, "waiting", "Buy pills", "")
    (waiting,) = as_carol.get("held").json()["held"]
    assert (waiting["author"], waiting["rule"]) == ("bob", "Pills")
    assert error_of(as_bob.put(f"held/{number}", {"approved": True})) == (403, "forbidden")

    decided = as_carol.put(f"held/{number}", {"approved": True}).json()

    assert site_store.articles.get(decided["posted_as"]).poster_name == "bob"
    assert error_of(as_carol.put(f"held/{number}", {"approved": False, "reason": "No"})) == (409, "held-decided")
    assert as_carol.get("automatic-rules").json()["rules"][0]["reversals"] == 1


def test_a_held_post_is_refused_or_withdrawn(as_bob, as_alice, as_carol, hold):
    number = as_bob.post("articles", POST).json()["held"]
    assert error_of(as_carol.put(f"held/{number}", {"approved": False}))[0] == 400
    as_carol.put(f"held/{number}", {"approved": False, "reason": "It is an advert"})
    assert as_bob.get("me/held").json()["held"][0]["reason"] == "It is an advert"

    number = as_bob.post("articles", POST).json()["held"]
    assert error_of(as_alice.send("DELETE", f"me/held/{number}")) == (404, "not-found")
    assert as_bob.send("DELETE", f"me/held/{number}").json() == {"held": number}
    assert HeldPost.objects.filter(pk=number).count() == 0


def test_a_refusal_has_a_code_and_the_rule_s_sentence(as_bob, as_carol, hold):
    refusing = PILLS | {"act": "refuse", "sentence": "No adverts."}
    as_carol.put(f"automatic-rules/{hold}", refusing)
    as_carol.post(f"automatic-rules/{hold}/trial", {})
    as_carol.put(f"automatic-rules/{hold}/on", {"on": True})

    answer = as_bob.post("articles", POST)

    assert error_of(answer) == (403, "refused-by-rule")
    assert "“No adverts”" in answer.json()["error"]["message"]


PATH = "users/bob/vouch"


@pytest.fixture
def waiting(site_store, settings, bob):
    settings.PROBATION = True
    site_store.left_out.begin_probation(bob.pk)


def test_a_member_vouches_once(as_carol, as_bob, anyone, waiting):
    state = {"name": "bob", "waits": True, "vouched": False, "left": 3}
    assert as_carol.get(PATH).json() == state

    for _ in range(2):  # sent twice
        reply = as_carol.put(PATH, None)
        assert (reply.status_code, reply.json()) == (200, state | {"vouched": True, "left": 2})

    assert Vouch.objects.count() == 1
    assert error_of(as_bob.put(PATH, None)) == (403, "may-not-vouch")
    assert error_of(as_carol.put("users/carol/vouch", None))[0] == 403
    assert anyone.put(PATH, None).status_code == 401


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
