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


def test_a_rule_is_written_tried_switched_on_and_changed(as_carol, as_alice, site_store):
    as_alice.post("articles", POST)

    made = as_carol.post("automatic-rules", PILLS | {"name": "Pills"})
    rule = made.json()
    path = f"automatic-rules/{rule['id']}"
    assert (made.status_code, rule["on"], rule["version"], rule["owner"]) == (201, False, 1, "carol")
    assert error_of(as_carol.put(f"{path}/on", {"on": True})) == (409, "rule-not-tried")
    tried = as_carol.post(f"{path}/trial", {}).json()
    assert (tried["looked_at"], tried["matching"], tried["complete"]) == (1, 1, True)
    assert tried["examples"][0]["text"] == "Buy pills https://example.org/pills"
    assert as_carol.put(f"{path}/on", {"on": True, "days": 7}).json()["expires"] > site_store.store.now()
    changed = as_carol.put(path, PILLS | {"act": "flag", "pattern": "x"}).json()
    assert (changed["on"], changed["version"], changed["words"], changed["pattern"]) == (
        False,
        2,
        ["buy pills"],
        "x",
    )
    assert [one["name"] for one in as_carol.get("automatic-rules").json()["rules"]] == ["Pills"]


def test_what_a_rule_cannot_say_is_refused(as_carol, as_bob):
    for wrong in ({"act": "refuse"}, {"pattern": "("}, {"words": []}, {"subject": "comment", "act": "lock"}):
        assert error_of(as_carol.post("automatic-rules", PILLS | {"name": "A rule"} | wrong)) == (400, "invalid")
    assert error_of(as_bob.post("automatic-rules", PILLS | {"name": "A rule"})) == (403, "forbidden")
    assert error_of(as_bob.get("automatic-rules")) == (403, "forbidden")
    assert error_of(as_carol.post("automatic-rules/77/trial", {})) == (404, "not-found")


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
