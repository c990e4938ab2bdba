"""GET and POST /api/users/<name>/branch."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Ban, Invitation
from tests.caller import error_of

PATH = "users/alice/branch"
ACTS = {"ban": "posting", "ban_days": 7, "sweep_days": 1, "left_out": True, "reason": "A voting ring"}


@pytest.fixture
def branch(site_store, alice, bob):
    expiry = timezone.now() + timedelta(days=1)
    Invitation.objects.create(inviter=alice, invited=bob, code="x", expires_at=expiry)


def test_a_branch_is_read_and_acted_on_as_it_was_read(as_carol, as_bob, branch, settings):
    shown = as_carol.get(PATH).json()
    assert shown["concerned"] == 2
    assert shown["accounts"] == [{"name": name, "exempt": False, "banned": False} for name in ("alice", "bob")]

    for _ in range(2):  # sent twice
        done = as_carol.post(PATH, ACTS | {"version": shown["version"]})
        assert (done.status_code, done.json()) == (201, {"total": 2, "done": 2, "complete": True})

    assert Ban.objects.count() == 2
    assert [one["banned"] for one in as_carol.get(PATH).json()["accounts"]] == [True, True]
    assert error_of(as_carol.post(PATH, ACTS | {"version": "0" * 16, "sweep_days": 2}))[0] == 409
    nothing = {"version": shown["version"], "reason": "?"}
    refused = as_carol.post(PATH, nothing)
    assert (refused.status_code, refused.json()["error"]["message"]) == (
        400,
        "Choose what to do to these accounts.",
    )
    for path in (PATH, "users/bob/branch"):
        assert as_bob.get(path).status_code == 403
        assert as_bob.post(path, ACTS | {"version": shown["version"]}).status_code == 403
    settings.INVITATION_TREE = "off"
    assert as_carol.get(PATH).status_code == 404
