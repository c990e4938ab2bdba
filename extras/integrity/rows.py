"""What integrity adds to the core's tables."""

from articles.domain.extras import Limit, Rows, View
from articles.domain.reasons import N_

_RECORDS = ("records",)

ROWS = Rows(
    backed_up=("integrity.MonthReport", "integrity.ChainDay"),
    limits=(
        Limit(
            "records",
            "network",
            "600/1m",
            label=N_("Ballot records"),
            sentence=N_("Too many ballot records were fetched from your network in a short time."),
        ),
    ),
    views=(
        View("articles:ballot_record", cache="list", limits_of_reading=_RECORDS),
        View("articles:ballot_proof", is_open=True, limits_of_reading=_RECORDS),
        View("articles:ballots", limits_of_reading=_RECORDS),
        View("articles:integrity", cache="list", parameters=("page",)),
        View("articles:integrity_month", cache="list"),
        View("articles:chain", limits_of_reading=_RECORDS),
        View("articles:chain_day", limits_of_reading=_RECORDS),
        View("articles:chain_feed", cache="feed", limits_of_reading=("feeds",)),
    ),
    other_origins=("/integrity/",),
    crawlers_skip=("ballot_record", "ballots"),
)
