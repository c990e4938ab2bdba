"""The app of moving in, and what it adds to the site as it runs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core import checks
from django.utils.translation import gettext_lazy as _

from articles.web.extras import Extra, Step

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from accounts.models import User


class MovingIn(Extra):
    name = "extras.moving_in"
    verbose_name = _("Moving in")

    def ready(self) -> None:
        from django.contrib.auth.signals import user_logged_in
        from django.db.models.signals import post_save

        from accounts.account_deletion import deletion_begun
        from accounts.models import User
        from extras.moving_in import claims

        deletion_begun.connect(_remove_own, dispatch_uid=self.name)
        checks.register(_check_hosts)
        user_logged_in.connect(claims.note_login, dispatch_uid=self.name)
        post_save.connect(claims.note_rehash, sender=User, dispatch_uid=self.name)

    def steps(self) -> Sequence[Step]:
        from extras.moving_in.sources.feed import hold_new

        return (Step("feeds", hold_new, "feed entry", "held for moderators"),)

    def draw(self, place: str, request: "HttpRequest", **facts: Any) -> str:
        from extras.moving_in.pages import draw

        return draw(place, request, **facts)

    def answer_for_host(self, request: "HttpRequest", host: str) -> "HttpResponse | None":
        from extras.moving_in.addresses import answer_for_host

        return answer_for_host(request, host)

    def find_unknown(self, request: "HttpRequest") -> "HttpResponse | str":
        from extras.moving_in.addresses import find_unknown

        return find_unknown(request)

    def sitemaps(self) -> Sequence[str]:
        from extras.moving_in.pages import sitemaps

        return sitemaps()


def _check_hosts(**_: object) -> list[checks.CheckMessage]:
    if settings.SITE_URL or not settings.OLD_HOSTS:
        return []
    told = "`OLD_HOSTS` needs `SITE_URL`: requests for former hosts are not redirected."
    return [checks.Error(told, "Set `SITE_URL` to the address of the site.", id="moving_in.E001")]


def _remove_own(member: "User", **_: object) -> None:
    from extras.moving_in.models import Arrival, Kind

    Arrival.objects.filter(kind=Kind.MEMBER, new_id=str(member.pk)).delete()
