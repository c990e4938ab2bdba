"""What is kept of members who moved in."""

from accounts.account_deletion import begin
from extras.moving_in.models import Arrival, FollowedFeed, MovedAccount
from extras.moving_in.tests.doors import fill
from tests.factories import member


def test_a_deleted_account_leaves_no_address_and_no_old_id(db):
    one = member("carol")
    fill(one)

    begin(one.pk)

    assert not MovedAccount.objects.exists()
    assert not Arrival.objects.exists()
    assert not FollowedFeed.objects.exists()
