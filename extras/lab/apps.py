"""The app of the ranking lab, and what it adds to the site as it runs."""

from collections.abc import Sequence

from django.utils.translation import gettext_lazy as _

from articles.web.extras import Entry, Extra


class Lab(Extra):
    name = "extras.lab"
    verbose_name = _("Ranking lab")

    def entries(self) -> Sequence[Entry]:
        from accounts.moderators import TUNE_RANKING

        return (Entry("moderation", "articles:lab", self.verbose_name, lambda: True, permission=TUNE_RANKING),)
