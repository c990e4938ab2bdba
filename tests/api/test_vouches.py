"""GET and PUT /api/users/<name>/vouch."""

import pytest

from accounts.models import Vouch
from tests.caller import error_of

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
