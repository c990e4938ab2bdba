"""The app of apps that ask members for permission, and what it adds to the site as it runs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy as _

from articles.domain import other_origins
from articles.web.extras import Extra, Step

if TYPE_CHECKING:
    from django.http import HttpRequest

    from articles.repository import Repository


class OAuth(Extra):
    name = "extras.oauth"
    verbose_name = _("Apps that ask members for permission")

    def ready(self) -> None:
        from accounts.models import Token

        Token.objects.renewed_by.add("grant")
        other_origins.OF_PROGRAMS.update(
            ("/.well-known/oauth-authorization-server", "/oauth/token/", "/oauth/revoke/", "/oauth/register/")
        )

    def steps(self) -> Sequence[Step]:
        from extras.oauth.models import App

        def expire(_repository: "Repository", _seconds: float) -> int:
            return App.objects.expire()

        return (Step("apps", expire, "app or request of one", "forgotten"),)

    def draw(self, place: str, request: "HttpRequest", **facts: Any) -> str:
        from extras.oauth.pages import draw_allowed

        return draw_allowed(request) if place == "programs" else ""
