"""What webhooks add to the core's tables."""

from articles.domain.extras import Rows, Setting
from articles.domain.reasons import N_

ROWS = Rows(
    settings=(
        Setting(
            "WEBHOOKS",
            "choice",
            "site",
            in_browser=True,
            choices={
                "off": N_("No one: webhooks are off"),
                "site": N_("Administrators, for the site"),
                "members": N_("Administrators and members"),
            },
            label=N_("Webhooks"),
            help=N_("Who can have events sent to chats and to other servers."),
            page="programs",
        ),
        Setting("WEBHOOK_HOSTS", "list of hosts", ""),
    ),
    backed_up=("webhooks.Webhook",),
    not_backed_up=("webhooks.Delivery", "webhooks.WebhookPosition"),
)
