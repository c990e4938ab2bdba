"""The app of imports, exports and the demo, and what it adds to the site as it runs."""

from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from articles.web.extras import Extra

if TYPE_CHECKING:
    from articles.repository import Repository


class Transfer(Extra):
    name = "extras.transfer"
    verbose_name = _("Import, export and demo")

    def prepare(self, repository: "Repository") -> str:
        from django.conf import settings

        from articles.web.wiring import follower
        from extras.transfer.demo.seeding import seed_if_empty

        is_wanted = not settings.SITE_URL if settings.DEMO == "" else settings.DEMO
        if is_wanted and (message := seed_if_empty(repository)):
            index = follower()  # the memory that building it takes ends with this process
            index.catch_up()
            index.close()
            return message
        return ""
