"""What replies by mail add to the core's tables."""

from articles.domain.extras import Limit, Rows, Setting
from articles.domain.reasons import N_

ROWS = Rows(
    settings=(Setting("REPLY_ADDRESS", "mail address", ""),),
    limits=(
        Limit(
            "refusals",
            "member",
            "5/1d",
            label=N_("Emails about replies that were not published"),
            sentence=N_("Many of your replies by mail were not published in a short time."),
        ),
    ),
)
