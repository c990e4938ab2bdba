"""What readers and members request, and how often."""

from collections.abc import Mapping
from types import MappingProxyType

PAGES: Mapping[str, float] = MappingProxyType(
    {
        "front page": 0.22,
        "newest": 0.05,
        "group page": 0.10,
        "article page": 0.42,
        "feed": 0.10,
        "search": 0.01,
        "front page, member": 0.03,
        "article page, member": 0.02,
        "view": 0.05,
    }
)
"""Shares of page views. In the log of day.py, of all pages 15 % were the front page and 23 % feeds, most of them
for programs; that one in twenty is of a member, and the rest, is assumed. A view is a link that was followed."""

VOTES = 0.1
"""Votes for each page view, in the replay."""

POSTS = 0.002
"""Posts for each page view, in the replay."""

KEPT: Mapping[str, int] = MappingProxyType(
    {"front page": 1, "newest": 1, "group page": 10, "feed": 1, "article page": 0}
)
"""Pages that a web process keeps for a second, with how many there are; 0: as many as there are articles."""

ASK_EVERY_SHARD = ("front page", "newest", "group page", "feed", "search", "front page, member", "post")
"""Requests that read from every shard, or write to each; of the others, all keys are in the article's shard."""

REPLAYED: Mapping[str, float] = MappingProxyType({**PAGES, "vote": VOTES, "post": POSTS})
"""What the replay of a day sends, as weights."""
