"""Gathering: one page from the rankings of several shards, and the best unseen articles of several rankings.

With one shard a page is one range. With N shards its position in each is only roughly known: ids are dealt out
evenly, so the article at rank r is near r/N in each shard. A window around that position is read from each shard.
If the windows do not prove the page, they are widened, at last to everything above the page.

Unseen articles were not shown to the reader and are not hidden. Each shard searches its rankings from the top, and
passes over hidden ones as far as `lib/hiding.lua` can tell; the others are left out here. The results are joined.
No state is kept between two pages: whatever changes meanwhile, an article that was shown is not shown again, and
no other one is skipped.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from math import inf, isqrt
from typing import Any, NamedTuple

from articles.domain.articles import Article, ArticleId
from articles.domain.lists import Order, Period, Position, closed_groups
from articles.domain.members import UserId
from articles.repository.lists.reading import FIELDS, articles_in, readable, rescored_at, sort_key
from articles.repository.store import keys as names
from articles.repository.store.connection import Call, Store, Value, exact_time
from articles.repository.store.keys import Keys
from articles.repository.store.values import article_id_from
from articles.text.searching import NOTHING, Hiding, Kind

GROUP_RANKING_LIFE = 60  # seconds that a group's ranking is kept after its last read

TOP_RANKING_LIFE = 60
"""Seconds that the ranking of a period is kept after it was made. An expired article may stay listed this long."""

FEW = 10_000  # articles of a group or period up to which its ranking is made at any read, in some milliseconds

WALKED = 10_000
"""Entries of the ranking of all articles that are searched for a page of a larger group or period. Its ranking is
made only for pages that lie deeper."""

_LEAST_SLACK = 8
"""Entries that a window extends beyond its share on both sides, in addition to 4 times the root of the share."""

_MOST_WIDENINGS = 14
"""Widenings, each by a factor of four: after them a window reaches from the top to the end of the page."""

Entry = tuple[float, bytes]


MOST_READINGS = 10  # attempts to read all rankings between two rescores, before the page is taken as it is


@dataclass(frozen=True, slots=True)
class Ranking:
    """One shard's ranking.

    If it does not exist, a group's is made from `group` and `base`, a period's from the articles posted `since`.
    """

    keys: Keys
    key: str
    group: str = ""
    base: str = ""
    since: float | None = None
    """Only articles posted then or later, in Unix seconds; for hot lists, and the beginning of a period."""

    period: Period | None = None

    @property
    def made_from(self) -> tuple[str, str]:
        """The keys of the group and of the ranking of all articles; twice its own key if it is not a group's."""
        return self.group or self.key, self.base or self.key

    @property
    def making(self) -> tuple[Value, ...]:
        """Arguments with which the scripts that read it make it if it does not exist."""
        period = "" if self.period is None else self.period.value
        since = "" if self.since is None else exact_time(self.since)
        return (period, since, GROUP_RANKING_LIFE if self.group else TOP_RANKING_LIFE, FEW, WALKED)

    def part(self, first: int, last: int, titles: str = "", slug: str | None = None) -> Call:
        """Return the call that reads the entries `first` to `last`, both included, and the title of a group."""
        keys = (self.key, self.keys.ranking, *self.made_from, titles or self.key)
        return Call("lists/read", keys, (self.keys.prefix, first, last, *self.making, slug or ""))

    def page(self, part: Call, reader: UserId | None, *, with_visitors: bool) -> Call:
        """Return the call that reads the articles as well."""
        saved, user = (self.key, "") if reader is None else (names.saved(reader), reader)
        return Call(part.script, (*part.keys, saved), (*part.args, user, int(with_visitors), *FIELDS))


@dataclass(frozen=True, slots=True)
class Window:
    """Part of one ranking, best first, with `skipped` entries before it, of `total` entries."""

    entries: Sequence[Entry]
    skipped: int
    total: int


class Cut(NamedTuple):
    """A page's ids and values, the length of the whole list, and title and description of the group if it exists.

    `refreshed_at`: the moment of the last rescore of the hot list, in Unix seconds. `articles`: by id, if read
    together with the ids.
    """

    entries: list[tuple[ArticleId, float]]
    total: int
    group_title: str | None
    refreshed_at: float
    articles: Mapping[ArticleId, Article] | None = None
    description: str = ""

    @property
    def ids(self) -> list[ArticleId]:
        """The page's ids."""
        return [article_id for article_id, _ in self.entries]


class _Reading(NamedTuple):
    """One read of all rankings. `states`: each shard's version and moment of rescore, as its part was read."""

    title: str | None
    windows: list[Window]
    states: list[list[Any]]
    description: str


def site_rankings(
    store: Store, order: Order, period: Period = Period.ALL, since: float | None = None
) -> list[Ranking]:
    """Return the site's ranking in every shard. `period` is for points, `since` (in s) for the hot list."""
    posted_since = period.since(store.now())
    if order is Order.POINTS and posted_since is not None:
        return [Ranking(keys, keys.top(period), since=posted_since, period=period) for keys in store.shards.all]
    return [Ranking(keys, keys.order(order), since=since) for keys in store.shards.all]


def group_rankings(store: Store, order: Order, slugs: Sequence[str]) -> list[Ranking]:
    """Return the ranking of each group in every shard."""
    return [
        Ranking(keys, keys.group_order(order, slug), keys.group(slug), keys.order(order))
        for keys in store.shards.all
        for slug in slugs
    ]


def read_page(
    store: Store, rankings: Sequence[Ranking], query: "UnseenQuery", *, may_be_stale: bool = False
) -> Cut:
    """Return the entries of a page that hides nothing, and follows none; of one ranking with their articles.

    `may_be_stale`: replicas may reply. One round trip, more where windows have to be widened. Raises StoreUnfit if
    the store has no parameters.
    """
    (ranking, *others), slug = rankings, query.slugs[0] if query.slugs else None
    if others:
        return gather_page(store, rankings, query.start, query.size, slug=slug, may_be_stale=may_be_stale)
    part = ranking.part(query.start, query.start + query.size - 1, store.shards.directory.groups, slug)
    call = ranking.page(part, query.reader, with_visitors=query.with_visitors)
    reply, *texts = store.run_many([call, *description_calls(store, slug)], may_be_stale=may_be_stale)
    total, flat, state, title, articles, saved = reply
    entries = [(article_id_from(member), value) for member, value in pairs(flat)]
    ids = [article_id for article_id, _ in entries]
    found = articles_in(articles, ids, saved or [0] * len(ids))
    return Cut(entries, total, title, rescored_at(state), found, "".join(texts))


def description_calls(store: Store, slug: str | None) -> list[Call]:
    """Return the call that reads the description of a group along with its list; none without a group."""
    return (
        [] if slug is None else [Call("groups/read_description", (store.shards.directory.descriptions,), (slug,))]
    )


def gather_page(
    store: Store,
    rankings: Sequence[Ranking],
    start: int,
    size: int,
    *,
    slug: str | None = None,
    may_be_stale: bool = False,
) -> Cut:
    """Return the entries `start` to `start + size` of the rankings together, with no entry repeated or left out.

    All are scored with the same parameters for the same moment. One round trip, more where windows have to be
    widened. The page is empty if the rankings are damaged, so that no window proves it. `may_be_stale`: replicas
    may reply.
    """
    slack = 0 if len(rankings) == 1 else _LEAST_SLACK + 4 * isqrt((start + size) // len(rankings))
    for _ in range(_MOST_WIDENINGS):
        first = max(0, start // len(rankings) - slack)
        last = min(start + size, (start + size) // len(rankings) + slack) - 1
        for _ in range(MOST_READINGS):
            reading = _read(store, rankings, first, last, slug, may_be_stale=may_be_stale)
            if all(state == reading.states[0] for state in reading.states):
                break
        entries = cut(reading.windows, start, size)
        if entries is not None or (slug is not None and reading.title is None):
            break
        slack *= 4
    ids = [(article_id_from(member), value) for value, member in entries or ()]
    total = sum(window.total for window in reading.windows)
    return Cut(ids, total, reading.title, rescored_at(reading.states[0]), description=reading.description)


def cut(windows: Sequence[Window], start: int, size: int) -> list[Entry] | None:
    """Return the entries `start` to `start + size` from the windows; None if the windows do not prove them."""
    if start >= sum(window.total for window in windows):
        return []
    entries = sorted((entry for window in windows for entry in window.entries), reverse=True)
    at = start - sum(window.skipped for window in windows)
    page = entries[at : at + size] if at >= 0 else []
    if not page:
        return None
    for window in windows:
        if window.skipped and not (window.entries and window.entries[0] >= page[0]):
            return None
        reaches = len(page) == size and window.entries and window.entries[-1] <= page[-1]
        goes_on = window.skipped + len(window.entries) < window.total
        if goes_on and not reaches:
            return None
    return page


def _read(
    store: Store, rankings: Sequence[Ranking], first: int, last: int, slug: str | None, *, may_be_stale: bool
) -> _Reading:
    """Read windows from `first` to `last`, both included, of all rankings, and a group's title. One round trip."""
    # The first call also reads the title: the group directory is in the first shard.
    calls = [rankings[0].part(first, last, store.shards.directory.groups, slug)]
    calls += [ranking.part(first, last) for ranking in rankings[1:]]
    replies = store.run_many([*calls, *description_calls(store, slug)], may_be_stale=may_be_stale)
    replies, texts = replies[: len(calls)], replies[len(calls) :]
    windows = [_window(total, pairs(flat), first) for total, flat, *_ in replies]
    title = replies[0][3] if slug is not None else None
    return _Reading(title, windows, [state for _, _, state, *_ in replies], "".join(texts))


def pairs(flat: Sequence[str]) -> list[tuple[str, float]]:
    """Return ids and values from a script's reply, in which they alternate."""
    return list(zip(flat[::2], map(float, flat[1::2]), strict=True))


def _window(total: int, entries: Sequence[tuple[str, float]], first: int) -> Window:
    ordered = [sort_key(value, member) for member, value in entries]
    return Window(ordered, skipped=min(first, total), total=total)


MOST_LOOKED_AT = 50_000
"""Limit on entries examined for a page in all rankings; a fifth of it where articles are looked at, to see whether
they are hidden. Beyond it, a page ends."""

MOST_READ = 1_000  # articles that one member has read, in one shard: see `VISITS_KEPT` in `lua/lib/members.lua`

SPARE = 4
"""Entries that are read beyond those of a page if titles or links can hide some. If they do not suffice, a further
round trip reads four times as many, and so on up to `MOST_LOOKED_AT`: six at most."""


@dataclass(frozen=True, slots=True)
class UnseenQuery:
    """A query for a page: `size` entries after the first `start` of those that are neither shown nor hidden."""

    start: int
    size: int
    shown: Collection[ArticleId] = ()
    hidden: Hiding = NOTHING
    after: Position | None = None  # only entries that follow this position; None for all
    slugs: Sequence[str] = ()  # groups whose titles are wanted, and the description of an only one
    reader: UserId | None = None
    with_visitors: bool = True

    @property
    def wanted(self) -> int:
        """Entries that make the page, and show whether another one follows."""
        return self.start + self.size + 1


class Unseen(NamedTuple):
    """What one ranking has for a page: at least as many entries that are not hidden as are wanted, or all."""

    entries: list[tuple[str, float]]
    total: int
    state: Sequence[Any]
    hidden: Mapping[str, float]  # hidden entries above the last one that was read, with their values
    titles: Sequence[str | None]
    articles: Mapping[ArticleId, Article]  # those of the first entries, if there is only one ranking


class UnseenCut(NamedTuple):
    """The entries of a page, whether more follow, how many are left out, and the titles of its groups."""

    cut: Cut
    goes_on: bool
    hidden: int
    titles: Sequence[str | None]


def read_unseen(store: Store, rankings: Sequence[Ranking], query: UnseenQuery) -> UnseenCut:
    """Return a page. Round trips: those of `read_each`.

    `Cut.total` is the number of entries that are not hidden, whether shown or not; an upper limit where titles or
    links hide some, until the end is reached. An article in the rankings of several groups is returned once, with
    the value read last, because a vote may come between two reads.
    """
    described = description_calls(store, query.slugs[0] if len(query.slugs) == 1 else None)
    each, further = read_each(store, rankings, query, [*described, *_counting(rankings, query)])
    description, counts = "".join(further[: len(described)]), further[len(described) :]
    values = {member: value for one in each for member, value in one.entries}
    ordered: list[Entry] = sorted((sort_key(value, member) for member, value in values.items()), reverse=True)
    page, following = ordered[query.start : query.wanted - 1], ordered[query.wanted - 1 : query.wanted]
    hidden = {member: value for one in each for member, value in one.hidden.items()}
    top = page[0][0] if page and (query.start or query.shown) else inf
    bottom = following[0][0] if following else -inf
    (first, *_), total = each, _total(each, counts)
    if not (following or query.shown or query.after is not None):
        total = min(total, query.start + len(page)) if page else min(total, query.start)
    entries = [(article_id_from(member), value) for value, member in page]
    cut = Cut(entries, total, None, rescored_at(first.state), first.articles, description)
    left_out = [article_id_from(member) for member, value in hidden.items() if bottom < value <= top]
    return UnseenCut(cut, bool(following), _count_own(store, left_out, query.hidden), first.titles)


def _count_own(store: Store, ids: Sequence[ArticleId], hidden: Hiding) -> int:
    """Return how many of these hidden articles the reader could see. No round trip without closed groups."""
    hides = hidden.without(Kind.GROUP) or not closed_groups().issuperset(hidden.groups)
    return len(readable(store, ids)) if hides else 0


def _counting(rankings: Sequence[Ranking], query: UnseenQuery) -> list[Call]:
    """Return the calls that count a list, and what is hidden of it, where the lengths of the rankings do not."""
    of_shards, calls = {one.keys.prefix: one for one in rankings}, []
    groups, hidden = query.slugs if rankings[0].group else (), query.hidden
    ids, _groups, posters, *_ = hidden.lists
    is_hidden = any((ids, hidden.groups, posters, hidden.read_by))
    if is_hidden or len(groups) > 1:
        for one in of_shards.values():
            _span, since, *_ = one.making
            facts = (since, int(one.period is not None), ",".join(groups))
            calls.append(
                Call(
                    "lists/count",
                    (one.base or one.key, one.keys.order(Order.TIME)),
                    (one.keys.prefix, *facts, ",".join(hidden.groups), posters, ids, hidden.read_by or ""),
                )
            )
    return calls


def _total(each: Sequence[Unseen], counts: Sequence[tuple[int, int]]) -> int:
    """Return the length of the list, from the lengths of its rankings and what `_counting` found."""
    listed = sum(one.total for one in each)
    if counts and all(count >= 0 for count, _ in counts):
        listed = sum(count for count, _ in counts)
    return max(0, listed - sum(hidden for _, hidden in counts))


def read_each(
    store: Store, rankings: Sequence[Ranking], query: UnseenQuery, further: Sequence[Call] = ()
) -> tuple[list[Unseen], Sequence[Any]]:
    """Return what each ranking has for the page, and the replies to further calls.

    One round trip; more if titles or links hide many: see `SPARE`.
    """
    for _ in range(MOST_READINGS):
        each, replies = _read_each(store, rankings, query, further)
        if all(one.state == each[0].state for one in each):
            break
    return each, replies


def _read_each(
    store: Store, rankings: Sequence[Ranking], query: UnseenQuery, further: Sequence[Call]
) -> tuple[list[Unseen], Sequence[Any]]:
    spare = SPARE if query.hidden.hides_texts else 0
    asked, whole = query.wanted + spare, 0
    if len(rankings) == 1 and not query.start:
        whole = query.size + spare // 2
    each, waiting, of_further = dict[int, Unseen](), list(range(len(rankings))), list[Any]()
    while waiting:
        calls = [_call(store, rankings[n], query, len(rankings), asked, whole) for n in waiting]
        replies = store.run_many([*calls, *further])
        of_further += replies[len(calls) :]
        found = list(zip(waiting, replies, strict=False))
        for n, reply in found:
            each[n] = _unseen(reply, query, whole, each.get(n))
        waiting = [n for n, reply in found if len(each[n].entries) < query.wanted and len(reply[1]) == 2 * asked]
        asked, whole, further = 4 * asked, 0, []
    return [each[n] for n in range(len(rankings))], of_further


def _unseen(reply: Sequence[Any], query: UnseenQuery, whole: int, before: Unseen | None) -> Unseen:
    """Return what a reply has, without what titles and links hide. `before`: what an earlier one had."""
    total, flat, state, passed, texts, titles, articles, saved = reply
    entries, ids = pairs(flat), [article_id_from(member) for member in flat[: 2 * whole : 2]]
    hidden = dict(pairs(passed.replace(",", " ").split(" "))) if passed else {}
    if texts:
        is_hidden = list(map(query.hidden.hides_text, texts[::2], texts[1::2]))
        hidden.update(compress(entries, is_hidden))
        entries = [entry for entry, one in zip(entries, is_hidden, strict=True) if not one]
    known = before.articles if before else articles_in(articles, ids, saved or [0] * len(ids)) if ids else {}
    return Unseen(entries, total, state, hidden, titles, known)


def _call(store: Store, ranking: Ranking, query: UnseenQuery, rankings: int, asked: int, whole: int) -> Call:
    keys, hidden, directory = ranking.keys, query.hidden, store.shards.directory
    shown = [i for i in query.shown if store.shards.of(i).prefix == keys.prefix]
    looks = hidden.hides_texts or bool(hidden.groups or hidden.members)
    share = MOST_LOOKED_AT // (rankings * (5 if looks else 1))
    most = max(share, 10 * query.size) + len(shown) + len(hidden.articles) + (MOST_READ if hidden.read_by else 0)
    position: tuple[Value, ...] = ("", "") if query.after is None else query.after
    saved, user = ranking.key, ""
    if query.reader is not None and whole:
        saved, user = names.saved(query.reader), str(query.reader)
    slugs = query.slugs if keys.prefix == directory.prefix else ()
    wanted: tuple[Value, ...] = (keys.prefix, min(asked, most), most, *ranking.making, *position)
    lists: tuple[Value, ...] = (",".join(map(str, shown)), *hidden.lists, int(hidden.hides_texts), ",".join(slugs))
    read: tuple[Value, ...] = (whole, user, int(query.with_visitors), hidden.read_by or "", *FIELDS)
    rest = (directory.groups,) if slugs else ()
    return Call(
        "lists/read_unseen",
        (ranking.key, keys.ranking, *ranking.made_from, saved, *rest),
        (*wanted, *lists, *read),
    )
