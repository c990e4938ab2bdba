"""The app of integrity, and what it adds to the site as it runs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _, gettext_lazy

from articles.web.extras import Entry, Extra, Link, Step

if TYPE_CHECKING:
    from django.http import HttpRequest


class Integrity(Extra):
    name = "extras.integrity"
    verbose_name = gettext_lazy("Integrity")

    def ready(self) -> None:
        from articles.backup import accounts
        from articles.web import ballots
        from extras.integrity import chain, former

        ballots.recording.connect(chain.first_open_day, dispatch_uid=self.name)
        accounts.loaded.connect(former.remake, dispatch_uid=self.name)

    def steps(self) -> Sequence[Step]:
        from extras.integrity.chain import complete

        return (Step("chain", complete, "day", "added to the chain"),)

    def entries(self) -> Sequence[Entry]:
        return (Entry("footer", "articles:integrity", self.verbose_name, lambda: True),)

    def links(self, place: str, request: "HttpRequest | None", thing: Any) -> Sequence[Link]:
        from articles.web.addresses import path_of

        if place != "article.menu" or not thing.ballots:
            return ()
        return (Link(path_of("articles:ballot_record", thing.id), _("Ballot record")),)
