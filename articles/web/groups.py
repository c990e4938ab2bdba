"""Who sees a group, and how lively it is: how many members follow it, and when its latest article was posted.

Both are counted at most once in some seconds by every process, and never take more than a hundredth of its time.
"""

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from typing import Literal, NamedTuple

from django.contrib.auth import get_user_model
from django.db import transaction

from articles.domain.errors import StoreError
from articles.domain.lists import EVERYONE, MEMBERS
from articles.domain.moderation_log import Action, Actor
from articles.text.lines import InvalidInput
from articles.web.preferences import slugs_from
from articles.wiring import finder, group_title, repository, retract
from owner import choices
from owner.choices import Recent


class Liveliness(NamedTuple):
    """Followers of each group, and when its latest article was posted, in Unix seconds; by slug."""

    followers: Mapping[str, int]
    latest: Mapping[str, float]


def _load() -> Liveliness:
    """Count the members who follow each group; a merged group counts as its target. One round trip."""
    chosen = get_user_model().objects.filter(left_at=None, is_active=True).exclude(followed_groups="")
    rows = [slugs_from(joined) for joined in chosen.values_list("followed_groups", flat=True).iterator()]
    slugs, targets = {slug for row in rows for slug in row}, dict[str, str]()
    with suppress(StoreError):
        targets = repository().groups.get_targets(sorted(slugs))
    followers = Counter(slug for row in rows for slug in {targets.get(slug, slug) for slug in row})
    return Liveliness(followers, finder().find_latest_by_group())


def visibility_of(slug: str) -> Literal["everyone", "members"]:
    """Return who sees a group."""
    return MEMBERS if slug in choices.closed_groups() else EVERYONE


def set_visibility(slug: str, moderator: Actor, reason: str, *, is_closed: bool) -> None:
    """Let only members see a group, or everyone; log a change, and retract all copies of pages.

    Raises StoreError; then nothing is saved.
    """
    with transaction.atomic():
        if choices.close_group(slug, is_closed=is_closed):
            words = (EVERYONE, MEMBERS) if is_closed else (MEMBERS, EVERYONE)
            details = dict(zip(("from", "to"), words, strict=True)) | {"slug": slug}
            repository().moderation_log.note(Action.SHOW_GROUP, moderator, group_title(slug), reason, details)
            transaction.on_commit(lambda: retract(None))


def check_merge(slug: str, into: str) -> None:
    """Raise InvalidInput if a merge would show everyone what only members see."""
    if slug in choices.closed_groups() and into not in choices.closed_groups():
        raise InvalidInput("group-closed")


_recent: Recent[Liveliness] = Recent(_load, Liveliness({}, {}), share=0.01)
liveliness = _recent.get
forget_liveliness = _recent.forget
