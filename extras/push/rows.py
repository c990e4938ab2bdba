"""What notices pushed to devices add to the core's tables."""

from articles.domain.extras import Rows, Setting
from articles.domain.reasons import N_

ROWS = Rows(
    settings=(Setting("WEB_PUSH", "yes/no", ""),),
    inputs={"push-subscription": N_("This is not a subscription of a push service with a public https address.")},
    backed_up=("push.Choice",),
    not_backed_up=("push.Device",),
)
