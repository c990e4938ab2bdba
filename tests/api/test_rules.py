"""/api/automatic-rules, /api/held and /api/me/held; and what a post answers that a rule refuses or holds."""

import pytest

from accounts.models import HeldPost
from tests.caller import error_of

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
