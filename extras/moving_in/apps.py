"""The app of moving in and out, and what it adds to the site as it runs."""

from collections.abc import Sequence

from django.utils.translation import gettext_lazy as _

from articles.web.extras import Extra, Step


class MovingIn(Extra):
    name = "extras.moving_in"
    verbose_name = _("Moving in and out")

    def steps(self) -> Sequence[Step]:
        from extras.moving_in.sources.feed import hold_new

        return (Step("feeds", hold_new, "feed entry", "held for moderators"),)
