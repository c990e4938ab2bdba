"""What signing in with other providers adds to the core's tables."""

from articles.domain.extras import Family, Rows, View

ROWS = Rows(
    families=(
        Family(
            "PROVIDERS",
            r"OIDC_[A-Z][A-Z0-9]{0,19}(?:_LABEL|_SCOPES|_TRUSTED|_MODERATORS)?",
            "extras.providers.configuration",
        ),
    ),
    views=(
        View("articles:provider_login", is_open=True, may_wait=True, is_login_page=True),
        View(
            "articles:provider_back",
            is_open=True,
            limits_of_reading=("passwords_network",),
            may_wait=True,
            is_login_page=True,
        ),
        View("articles:provider_confirm", may_wait=True, is_login_page=True),
        View("articles:finish_signup", is_open=True, limits=("signups",), is_crawled=False, is_login_page=True),
        View("articles:link_identity", may_wait=True, is_login_page=True),
        View("articles:unlink_identity", is_login_page=True),
    ),
    backed_up=("providers.Identity",),
    sign_ups=("identities",),
)
