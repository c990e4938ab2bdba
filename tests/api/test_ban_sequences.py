"""Random sequences of bans, appeals and acts: each act is refused exactly when a simple model says so."""

import random
from dataclasses import dataclass
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Ban, User, moderation as ban_rows
from tests.caller import Caller, error_of
from tests.factories import browser_of, comment_on
from tests.rules import SEED

pytestmark = pytest.mark.deep

STEPS = 60
SCOPES = ("posting", "voting", "both")
POSTING, VOTING = {"posting", "both"}, {"voting", "both"}


@dataclass
class ModelBan:
    """A ban as it should be."""

    has_end: bool
    is_appealed: bool = False
    is_answered: bool = False


class Model(dict[str, ModelBan]):
    """What bob's current bans should be, by scope."""

    def forbids(self, scopes: set[str]) -> bool:
        return not scopes.isdisjoint(self)


def act(
    rng: random.Random, carol: Caller, bob: Caller, model: Model, article: int, comment: int, number: int
) -> str:
    """Take one random step on the site and in the model; return what it was."""
    step = rng.choice(
        [*["ban", "appeal"] * 2, "lift", "time", "answer", *["post", "comment", "edit", "vote", "reply"] * 2]
    )
    scope = rng.choice(SCOPES)
    row = Ban.objects.filter(member__username="bob", scope=scope).first()
    match step:
        case "ban":
            days = rng.choice([0, 1, 7])
            body = {"banned": True, "days": days, "reason": f"Reason {number}"}
            assert carol.put(f"users/bob/bans/{scope}", body).json()["bans"][0]["scope"] == scope
            model[scope] = ModelBan(days > 0)
        case "lift":
            carol.put(f"users/bob/bans/{scope}", {"banned": False, "reason": f"Over {number}"})
            model.pop(scope, None)
        case "time" if scope in model and model[scope].has_end:
            Ban.objects.filter(pk=row.pk).update(ends_at=timezone.now() - timedelta(seconds=1))
            del model[scope]
        case "appeal" if row:
            browser = browser_of(User.objects.get(username="bob"))
            browser.post("/appeal/", {"ban": row.pk, "text": "Please"})
            left = [one for one in model if not model[one].is_appealed]
            if scope in left or (len(left) == 1 and row.appealed_at is None):
                model[scope if scope in left else left[0]].is_appealed = True
        case "answer" if scope in model and model[scope].is_appealed:
            decision = rng.choice(["lift", "keep"])
            fields = {"decision": decision, "answer": "We have read it"}
            browser_of(User.objects.get(username="carol")).post(f"/moderation/queue/appeals/{row.pk}/", fields)
            if decision == "lift" and not model[scope].is_answered:
                del model[scope]
            else:
                model[scope].is_answered = True
        case "post":
            check(bob.post("articles", {"title": f"T{number}", "text": "Text"}), POSTING, model, 201)
        case "comment":
            check(bob.post(f"articles/{article}/comments", {"text": f"Text {number}"}), POSTING, model, 201)
        case "reply":
            body = {"text": f"Reply {number}", "parent": comment}
            check(bob.post(f"articles/{article}/comments", body), POSTING, model, 201)
        case "edit":
            check(bob.patch(f"comments/{comment}", {"text": f"Edited {number}"}), POSTING, model, 200)
        case "vote":
            choice = rng.choice(["vote", "oppose", "none"])
            check(bob.put(f"articles/{article}/vote", {"choice": choice}), VOTING, model, 200)
    return step


def check(answer, forbidding: set[str], model: Model, expected: int) -> None:
    if model.forbids(forbidding):
        assert error_of(answer) == (403, "banned")
    else:
        assert answer.status_code == expected


@pytest.mark.random
def test_a_banned_member_does_exactly_what_bans_allow(site_store, article, as_carol, as_bob, bob, monkeypatch):
    monkeypatch.setattr(ban_rows, "_SENT_TWICE", timedelta(0))  # each ban is another one
    rng, model, comment = random.Random(SEED), Model(), comment_on(site_store, article, "Mine", bob.pk)
    steps = []
    for number in range(STEPS):
        steps.append(act(rng, as_carol, as_bob, model, article, comment, number))
        current = list(bob.bans.current())
        found = {one.scope: ModelBan(bool(one.ends_at), bool(one.appeal), bool(one.answer)) for one in current}
        assert found == model, steps
        assert len(current) == len(model)
        member = User.objects.get(pk=bob.pk)
        told = [member.is_banned_from(one) for one in ("posting", "voting")]
        assert told == [model.forbids(POSTING), model.forbids(VOTING)]
        listed = as_carol.get("users/bob/bans").json()["bans"]
        assert {one["scope"]: bool(one["appeal"]) for one in listed} == {
            scope: one.is_appealed for scope, one in model.items()
        }
    assert {"ban", "post", "comment", "vote", "appeal"} <= set(steps)
