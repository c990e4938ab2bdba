"""The app of webhooks, and what it adds to the site as it runs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy as _

from articles.web.extras import Entry, Extra, Step

if TYPE_CHECKING:
    from accounts.models import User
    from articles.repository import Repository


class Webhooks(Extra):
    name = "extras.webhooks"
    verbose_name = _("Webhooks")

    def steps(self) -> Sequence[Step]:
        from extras.webhooks.models import Delivery, Webhook
        from extras.webhooks.sending import announce

        def expire(_repository: "Repository", _seconds: float) -> int:
            return Delivery.objects.expire()

        is_awaited = Webhook.objects.filter(off_since=None).exists
        return (
            Step("webhooks", announce, "delivery", "queued", is_routine=True, is_awaited=is_awaited),
            Step("deliveries", expire, "delivery", "forgotten"),
        )

    def entries(self) -> Sequence[Entry]:
        from articles.configuration.choices import chosen

        about = _("Send events on the site to a chat or to your own server")
        return (
            Entry("administration", "articles:owner_webhooks", _("Webhooks"), lambda: chosen.WEBHOOKS != "off"),
            Entry("programs", "articles:webhooks", _("Webhooks"), lambda: chosen.WEBHOOKS == "members", about),
        )

    def export(self, member: "User", repository: "Repository") -> Mapping[str, Iterable[Mapping[str, Any]]]:
        own = member.webhooks.all()
        return {
            "webhooks": [
                {"host": one.host, "events": one.event_list, "groups": one.slugs, "added": one.added_at}
                for one in own
            ]
        }
