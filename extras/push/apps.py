"""The app of notices pushed to devices, and what it adds to the site as it runs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy as _

from articles.web.extras import Entry, Extra, Step

if TYPE_CHECKING:
    from django.http import HttpRequest

    from accounts.models import User
    from articles.repository import Repository


class Push(Extra):
    name = "extras.push"
    verbose_name = _("Notifications")

    def steps(self) -> Sequence[Step]:
        from extras.push.protocol import is_on
        from extras.push.sending import send_due

        def queue(repository: "Repository", seconds: float) -> int:
            return send_due(repository, seconds) if is_on() else 0

        return (Step("push", queue, "message", "queued", is_routine=True, is_awaited=is_on),)

    def entries(self) -> Sequence[Entry]:
        from extras.push.protocol import is_on

        about = _("On your devices, even when the site isn’t open")
        return (Entry("settings", "articles:choose_push", _("Notifications"), is_on, about, "push"),)

    def draw(self, place: str, request: "HttpRequest", **facts: Any) -> str:
        from extras.push.pages import draw_button

        return draw_button(request) if place == "inbox" else ""

    def export(self, member: "User", repository: "Repository") -> Mapping[str, Iterable[Mapping[str, Any]]]:
        from extras.push.models import Choice

        devices = member.devices.select_related("session", "token")
        return {
            "devices": [{"device": one.label, "since": one.added_at} for one in devices],
            "pushed_about": [{"kinds": one.kind_list} for one in Choice.objects.filter(member=member)],
        }
