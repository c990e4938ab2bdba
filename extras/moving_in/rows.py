"""What moving in adds to the core's tables."""

from articles.domain.extras import Rows, Setting

ROWS = Rows(
    settings=(Setting("MOVING_IN_ADDRESSES", "yes/no", "0"),),
    backed_up=("moving_in.Source", "moving_in.Arrival", "moving_in.MovedAccount", "moving_in.FollowedFeed"),
)
