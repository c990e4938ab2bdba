"""What titles of links add to the core's tables."""

from articles.domain.extras import FormButton, Limit, Rows, Setting, View
from articles.domain.reasons import N_

ROWS = Rows(
    settings=(Setting("FETCH_TITLES", "yes/no", ""),),
    limits=(
        Limit(
            "titles",
            "member",
            "30/10m",
            label=N_("Titles fetched from other sites"),
            sentence=N_("You have fetched the titles of too many links in a short time."),
        ),
    ),
    buttons=(FormButton("articles:post", "fetch", limits=("lookups",)),),
    views=(View("articles:link_info", limits=("lookups",), is_for_scripts=True),),
)
