"""How lively groups are: how many members follow each, and when its latest article was posted.

Both are counted at most once in some seconds by every process, and never take more than a hundredth of its time.
"""

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from django.contrib.auth import get_user_model

from articles.domain.errors import StoreError
from articles.web.preferences import slugs_from
from articles.wiring import finder, repository
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


_recent: Recent[Liveliness] = Recent(_load, Liveliness({}, {}), share=0.01)
liveliness = _recent.get
forget_liveliness = _recent.forget
