"""The app of moving in, and what it adds to the site as it runs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from articles.web.extras import Extra, Step

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from accounts.models import User


class MovingIn(Extra):
    name = "extras.moving_in"
    verbose_name = _("Moving in")

    def ready(self) -> None:
        from accounts.account_deletion import deletion_begun

        deletion_begun.connect(_remove_own, dispatch_uid=self.name)

    def steps(self) -> Sequence[Step]:
        from extras.moving_in.sources.feed import hold_new

        return (Step("feeds", hold_new, "feed entry", "held for moderators"),)

    def answer_for_host(self, request: "HttpRequest", host: str) -> "HttpResponse | None":
        from extras.moving_in.addresses import answer_for_host

        return answer_for_host(request, host)

    def find_unknown(self, request: "HttpRequest") -> "HttpResponse | str":
        from extras.moving_in.addresses import find_unknown

        return find_unknown(request)

    def sitemaps(self) -> Sequence[str]:
        from extras.moving_in.pages import sitemaps

        return sitemaps()


def _remove_own(member: "User", **_: object) -> None:
    from extras.moving_in.models import Arrival, Kind

    Arrival.objects.filter(kind=Kind.MEMBER, new_id=str(member.pk)).delete()
