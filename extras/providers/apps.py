"""The app of signing in with other providers, and what it adds to the site as it runs."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy as _

from articles.web.extras import Extra

if TYPE_CHECKING:
    from django.http import HttpRequest

    from accounts.models import User
    from articles.repository import Repository


class Providers(Extra):
    name = "extras.providers"
    verbose_name = _("Other accounts to log in with")

    def ready(self) -> None:
        from accounts.sign_in.ways import leaving, ways_asked
        from accounts.web.login_intent import member_arrived
        from extras.providers import identities, pages

        ways_asked.connect(identities.count_ways, dispatch_uid=self.name)
        member_arrived.connect(pages.connect_newcomer, dispatch_uid=self.name)
        leaving.connect(pages.leave_after_logout, dispatch_uid=self.name)

    def draw(self, place: str, request: "HttpRequest", **facts: Any) -> str:
        from extras.providers.pages import draw

        return draw(place, request, **facts)

    def export(self, member: "User", repository: "Repository") -> Mapping[str, Iterable[Mapping[str, Any]]]:
        return {
            "logins_elsewhere": [
                {
                    "issuer": one.issuer,
                    "subject": one.subject,
                    "label": one.label,
                    "made_moderator": one.gives_moderation,
                    "linked": one.linked_at,
                    "used": one.last_used_at,
                }
                for one in member.identities.all()
            ]
        }
