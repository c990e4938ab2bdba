"""The app of suggestions, and what it adds to the site as it runs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy

from articles.web.extras import Button, Extra, Link

if TYPE_CHECKING:
    from django.http import HttpRequest

    from accounts.models import User
    from articles.domain.articles import Article
    from articles.domain.moderation_log import LogEntry
    from articles.repository import Repository


class Suggestions(Extra):
    name = "extras.suggestions"
    verbose_name = gettext_lazy("Suggestions")

    def ready(self) -> None:
        from accounts.account_deletion import register_step
        from accounts.models.moderation import banned

        register_step("suggestions", _withdraw)
        banned.connect(_withdraw_all, dispatch_uid=self.name)

    def links(self, place: str, request: "HttpRequest | None", thing: Any) -> Sequence[Link]:
        from extras.suggestions import links

        return links.AT[place](request, thing) if place in links.AT else ()

    def log_buttons(
        self, request: "HttpRequest", article: "Article", entries: "Sequence[LogEntry]"
    ) -> Mapping[float, Button]:
        from extras.suggestions import links

        return links.undoing(request, article, entries)

    def export(self, member: "User", repository: "Repository") -> Mapping[str, Iterable[Mapping[str, Any]]]:
        from extras.suggestions.store import Suggestions as Store

        supported = Store(repository.store).iterate_by(member.pk)
        return {
            "suggestions": (
                {"article": article, one.kind.value: one.to, "since": _at(one.at)} for article, one in supported
            )
        }


def _at(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def _withdraw(user: int, _name: str, _progress: str, _more: Callable[[], bool], _is_last: bool) -> str:
    from articles.web.wiring import patient_repository
    from extras.suggestions.store import Suggestions as Store

    Store(patient_repository().store).withdraw(user)
    return ""


def _withdraw_all(member: "User", **_signal: object) -> None:
    from articles.web.wiring import repository
    from extras.suggestions.store import Suggestions as Store

    Store(repository().store).withdraw(member.pk)
