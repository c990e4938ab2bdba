"""What apps that ask members for permission add to the core's tables."""

from articles.domain.extras import Limit, Rows, Setting, View
from articles.domain.reasons import N_

ROWS = Rows(
    settings=(
        Setting(
            "OAUTH_APPS",
            "yes/no",
            "1",
            in_browser=True,
            label=N_("Apps that ask members for permission"),
            help=N_("Members can allow apps to use the site in their name, without copying a token."),
            page="programs",
        ),
    ),
    limits=(
        Limit(
            "apps",
            "network",
            "60/1h",
            wide=4,
            label=N_("Apps registered"),
            sentence=N_("Too many apps were registered from your network in a short time."),
        ),
    ),
    backed_up=("oauth.App", "oauth.Grant"),
    not_backed_up=("oauth.AppRequest",),
    views=(
        View("articles:app_metadata", is_open=True),
        View("articles:authorize", is_crawled=False),
        View("articles:app_token", is_open=True, is_for_scripts=True, is_crawled=False),
        View("articles:revoke_app_token", is_open=True, is_for_scripts=True, is_crawled=False),
        View("articles:register_app", is_open=True, limits=("apps",), is_for_scripts=True, is_crawled=False),
    ),
)
