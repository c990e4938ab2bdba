"""The best of several rankings that a reader has not been shown and does not hide.

Each shard looks for them itself, from the top of its rankings; what it finds is merged. So nothing is kept between
two pages: whatever happens meanwhile, an article that was shown is not shown again, and one that was not is still
to come.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from articles.domain.articles import ArticleId
from articles.domain.lists import Order
from articles.repository.lists.merging import MOST_READINGS, Cut, Entry, Ranking, pairs
from articles.repository.lists.reading import sort_key
from articles.repository.store.connection import Call, Store, exact_time

MOST_LOOKED_AT = 50_000
"""Places, times groups they may be hidden for, that a page looks at in all rankings before it gives up."""


@dataclass(frozen=True, slots=True)
class UnseenQuery:
    """What a page takes: `size` entries after `start` of those that are neither shown nor hidden."""

    start: int
    size: int
    shown: Collection[ArticleId] = ()
    hidden: Sequence[str] = ()


def read_unseen(store: Store, rankings: Sequence[Ranking], choosing: UnseenQuery) -> tuple[Cut, bool]:
    """The entries, and whether more follow. One round trip. `Cut.total` counts what is shown, hidden and double.

    An article in several of the rankings, one for each of its groups, is taken once: by the value read last, since
    a vote may come between the readings.
    """
    calls = [_call(store, ranking, choosing, len(rankings)) for ranking in rankings]
    for _ in range(MOST_READINGS):
        replies = store.run_many(calls)
        if all(state == replies[0][2] for _, _, state in replies):
            break
    values = {member: value for _, flat, _ in replies for member, value in pairs(flat)}
    ordered: list[Entry] = sorted((sort_key(value, member) for member, value in values.items()), reverse=True)
    taken = ordered[choosing.start : choosing.start + choosing.size]
    total, refreshed_at = sum(found for found, _, _ in replies), float(replies[0][2][1] or 0)
    cut = Cut([(int(member), value) for value, member in taken], total, None, refreshed_at)
    return cut, len(ordered) > choosing.start + choosing.size


def _call(store: Store, ranking: Ranking, choosing: UnseenQuery, rankings: int) -> Call:
    keys, shards = ranking.keys, store.shards
    shown = [i for i in choosing.shown if shards.of(i).prefix == keys.prefix]
    share = MOST_LOOKED_AT // (rankings * (1 + len(choosing.hidden)))
    most = max(share, 10 * choosing.size) + len(shown)
    wanted = min(choosing.start + choosing.size + 1, most)
    since = "" if ranking.since is None else exact_time(ranking.since)
    return Call(
        "lists/read_unseen",
        (
            ranking.key,
            keys.ranking,
            keys.order(Order.TIME),
            *ranking.made_from,
            *map(keys.group, choosing.hidden),
        ),
        (keys.prefix, wanted, most, since, *ranking.making, *shown),
    )
