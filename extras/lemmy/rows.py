"""What apps for Lemmy add to the core's tables."""

from articles.domain.extras import Rows, Setting
from articles.domain.reasons import N_

ROWS = Rows(
    settings=(
        Setting(
            "LEMMY_API",
            "yes/no",
            "0",
            in_browser=True,
            label=N_("Apps for Lemmy"),
            help=N_("Members can log in with phone apps such as Voyager, Jerboa or Thunder."),
            page="programs",
        ),
    ),
)
