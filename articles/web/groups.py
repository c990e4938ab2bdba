"""Who sees a group, merges, and how lively a group is: its followers, its latest article, and its moderators.

These are counted at most once in some seconds by every process, and never take more than a hundredth of its time.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Literal, NamedTuple

from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils.translation import gettext as _
from markupsafe import Markup, escape

from accounts.models import GroupModerator
from accounts.models.group_moderators import follow_merged_groups, named_groups
from articles.configuration import choices
from articles.configuration.recent import Recent
from articles.domain.errors import StoreError
from articles.domain.lists import EVERYONE, MEMBERS, without_groups
from articles.domain.moderation_log import Action, Actor
from articles.formatting.kept import piece
from articles.repository import Repository
from articles.text.lines import InvalidInput
from articles.web.preferences import slugs_from
from articles.web.wiring import finder, group_title, group_titles, repository, retract


class Liveliness(NamedTuple):
    """Followers of each group, when its latest article was posted, in Unix seconds, its moderators; by slug."""

    followers: Mapping[str, int]
    latest: Mapping[str, float]
    moderators: Mapping[str, Sequence[str]]  # their names, the longest serving first


def _load() -> Liveliness:
    """Count the members who follow each group; a merged group counts as its target. One round trip."""
    chosen = get_user_model().objects.filter(left_at=None, is_active=True).exclude(followed_groups="")
    rows = [slugs_from(joined) for joined in chosen.values_list("followed_groups", flat=True).iterator()]
    slugs, targets = {slug for row in rows for slug in row}, dict[str, str]()
    with suppress(StoreError):
        targets = repository().groups.get_targets(sorted(slugs))
    followers = Counter(slug for row in rows for slug in {targets.get(slug, slug) for slug in row})
    with without_groups(choices.closed_groups()):  # all readers of the process get them
        latest = finder().find_latest_by_group()
    return Liveliness(followers, latest, GroupModerator.objects.names_by_group())


def visibility_of(slug: str) -> Literal["everyone", "members"]:
    """Return who sees a group."""
    return MEMBERS if slug in choices.closed_groups() else EVERYONE


def closed_mark(slug: str, *, is_worded: bool = False) -> Markup:
    """Return what follows the title of a group that only members see; "" for others."""
    is_closed = slug in choices.closed_groups()
    return piece("groups/closed.html", {}, is_worded=is_worded) if is_closed else Markup()


def marked_titles(slugs: Sequence[str], titles: Iterable[object]) -> tuple[object, ...]:
    """Return the titles of these groups with the marks of those that only members see."""
    return tuple(escape(title) + closed_mark(slug) for slug, title in zip(slugs, titles, strict=True))


def option_title(slug: str, title: str) -> str:
    """Return the title of a group where there is only text."""
    if slug not in choices.closed_groups():
        return title
    return _("%(title)s (members only)") % {"title": title}


def group_options() -> list[tuple[str, str]]:
    """Return the names of all groups that the reader sees, with their titles, as the choices of a form."""
    titles = sorted(group_titles().items(), key=lambda group: group[1].casefold())
    return [(slug, option_title(slug, title)) for slug, title in titles]


def set_visibility(slug: str, moderator: Actor, reason: str, *, is_closed: bool) -> None:
    """Show a group to members only, or everyone; log it, retract copies. Raises StoreError, saving nothing."""
    with transaction.atomic():
        if choices.close_group(slug, is_closed=is_closed):
            words = (EVERYONE, MEMBERS) if is_closed else (MEMBERS, EVERYONE)
            details = dict(zip(("from", "to"), words, strict=True)) | {"slug": slug}
            repository().moderation_log.note(Action.SHOW_GROUP, moderator, group_title(slug), reason, details)
            transaction.on_commit(lambda: retract(None))


def merge(slug: str, into: str, moderator: Actor, reason: str) -> int:
    """Merge a group into another, with its moderators and its bans; return how many articles were moved.

    Raises GroupNotFound, and InvalidInput if that would show everyone what only members see.
    """
    if slug in choices.closed_groups() and into not in choices.closed_groups():
        raise InvalidInput("group-closed")
    moved = repository().groups.merge(slug, into, moderator, reason)
    follow_merges(repository())
    return moved


def follow_merges(repo: Repository) -> int:
    """Let moderators of merged groups, and bans from them, be of the groups they lead to; return how many were.

    Housekeeping completes what a request left. One round trip if there are any.
    """
    targets = repo.groups.get_targets(sorted(named_groups()))
    changed = follow_merged_groups({slug: into for slug, into in targets.items() if slug != into})
    if changed:
        forget_liveliness()
    return changed


_recent: Recent[Liveliness] = Recent(_load, Liveliness({}, {}, {}), share=0.01)
liveliness = _recent.get
forget_liveliness = _recent.forget
