"""Random sequences of bans, appeals and acts: each act is refused exactly when a simple model says so."""

import random
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Ban, User
from accounts.models import bans as ban_rows
from tests.api.caller import Caller, error_of
from tests.factories import browser_of, comment_on

STEPS = 60
POSTING, VOTING = {"posting", "both"}, {"voting", "both"}


class Model:
    """What bob's ban should be."""

    def __init__(self) -> None:
        self.scope: str | None = None
        self.has_end = self.has_appealed = False

    def begin(self, scope: str, days: int) -> None:
        self.scope, self.has_end, self.has_appealed = scope, days > 0, False

    def end(self) -> None:
        self.scope = None


def act(
    rng: random.Random, carol: Caller, bob: Caller, model: Model, article: int, comment: int, number: int
) -> str:
    """Take one random step on the site and in the model; return what it was."""
    step = rng.choice(
        ["ban", "lift", "time", "appeal", "answer", *["post", "comment", "edit", "vote", "reply"] * 2]
    )
    match step:
        case "ban":
            scope, days = rng.choice(["posting", "voting", "both"]), rng.choice([0, 1, 7])
            body = {"scope": scope, "days": days, "reason": f"Reason {number}"}
            assert carol.put("users/bob/ban", body).json()["scope"] == scope
            model.begin(scope, days)
        case "lift":
            carol.put("users/bob/ban", {"scope": None, "reason": f"Over {number}"})
            model.end()
        case "time" if model.has_end:
            past = timezone.now() - timedelta(seconds=1)
            Ban.objects.exclude(ends_at=None).update(ends_at=past)
            User.objects.filter(username="bob").exclude(ban_ends_at=None).update(ban_ends_at=past)
            model.end()
        case "appeal":
            browser = browser_of(User.objects.get(username="bob"))
            answer = browser.post("/appeal/", {"text": "Please"})
            if model.scope and not model.has_appealed:
                assert answer.status_code == 302
                model.has_appealed = True
        case "answer" if model.scope and model.has_appealed:
            ban = Ban.objects.current(User.objects.get(username="bob"))
            decision = rng.choice(["lift", "keep"])
            fields = {"decision": decision, "answer": "We have read it"}
            browser_of(User.objects.get(username="carol")).post(f"/moderation/queue/appeals/{ban.pk}/", fields)
            if decision == "lift" and ban.answered_at is None:
                model.end()
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
    if model.scope in forbidding:
        assert error_of(answer) == (403, "banned")
    else:
        assert answer.status_code == expected


@pytest.mark.parametrize("seed", range(4))
def test_a_banned_member_can_do_exactly_what_the_ban_allows(
    site_store, article, as_carol, as_bob, bob, seed, monkeypatch
):
    monkeypatch.setattr(ban_rows, "_SENT_TWICE", timedelta(0))  # each ban is another one
    rng, model, comment = random.Random(seed), Model(), comment_on(site_store, article, "Mine", bob.pk)
    steps = []
    for number in range(STEPS):
        steps.append(act(rng, as_carol, as_bob, model, article, comment, number))
        member = User.objects.get(pk=bob.pk)
        current = Ban.objects.current(member)
        assert (current and current.scope) == model.scope, steps
        assert [member.is_banned_from(one) for one in ("posting", "voting")] == [
            model.scope in POSTING,
            model.scope in VOTING,
        ]
        assert (
            Ban.objects.filter(member=bob, lifted_at=None).count()
            <= 1 + Ban.objects.filter(member=bob, ends_at__lt=timezone.now()).count()
        )
    assert {"ban", "post", "comment", "vote", "appeal"} <= set(steps)
