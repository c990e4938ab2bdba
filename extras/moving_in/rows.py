"""What moving in adds to the core's tables."""

from articles.domain.extras import Rows, Setting, View

ROWS = Rows(
    settings=(
        Setting("MOVING_IN_ADDRESSES", "yes/no", "0"),
        Setting("OLD_HOSTS", "list of hosts", ""),
    ),
    hosts=("OLD_HOSTS",),
    hashers=("extras.moving_in.hashers.BCryptHasher",),
    backed_up=("moving_in.Source", "moving_in.Arrival", "moving_in.MovedAccount", "moving_in.FollowedFeed"),
    views=(
        View("articles:old_addresses", limits_of_reading=("feeds",)),
        View("articles:claim", True, ("mails", "mails_network"), is_crawled=False, is_login_page=True),
        View("articles:send_claim", limits=("changes", "mails", "mails_network")),
        View("articles:claim_by_link", True, ("passwords", "passwords_network"), is_login_page=True),
    ),
)
