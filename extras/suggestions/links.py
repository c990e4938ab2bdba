"""Links from the core's pages to suggestions, and the buttons that undo one."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _, ngettext, pgettext

from accounts.models import BanScope
from articles.configuration.choices import chosen
from articles.domain.articles import Article
from articles.domain.moderation_log import LogEntry
from articles.domain.notices import Notice
from articles.formatting.values import grouped
from articles.web.addresses import path_of
from articles.web.extras import Button, Link
from articles.web.identity import is_banned_in, is_free, may_be_untrusted, reader_id
from extras.suggestions.pages import suggestions
from extras.suggestions.rights import find_undoable


def _below_article(request: HttpRequest, article: Article) -> Sequence[Link]:
    """Lead members to the open suggestions."""
    if not (chosen.SUGGESTIONS and article.extras and request.user.is_authenticated and article.removed is None):
        return ()
    count = len(suggestions().list_open(article))
    label = ngettext("%(num)s suggestion", "%(num)s suggestions", count) % {"num": grouped(count)}
    return [Link(path_of("articles:suggest", article.id), label)] if count else ()


def _in_menu(request: HttpRequest, article: Article) -> Sequence[Link]:
    reader = reader_id(request)
    if not chosen.SUGGESTIONS or reader in (None, article.poster) or article.removed is not None:
        return ()
    user = request.user
    if not is_free(user, BanScope.VOTING) or is_banned_in(user, article.groups) or may_be_untrusted(user):
        return ()
    return [Link(path_of("articles:suggest", article.id), _("Suggest a change"))]


def _below_notice(_request: HttpRequest | None, notice: Notice) -> Sequence[Link]:
    if notice.kind != "suggestion" or notice.is_article_removed:
        return ()
    return [Link(path_of("articles:suggest", notice.article), _("Suggestions"))]


AT: Mapping[str, Callable[[Any, Any], Sequence[Link]]] = {
    "article.foot": _below_article,
    "article.menu": _in_menu,
    "notice.foot": _below_notice,
}


def undoing(request: HttpRequest, article: Article, entries: Sequence[LogEntry]) -> Mapping[float, Button]:
    """Return a button for each suggestion that was applied and that the reader can undo."""
    label, path = pgettext("moderation", "Undo"), path_of("articles:undo_suggestion", article.id)
    return {
        entry.at: Button(path, label, "at", f"{entry.at:.3f}")
        for entry in find_undoable(request, article, entries)
    }
