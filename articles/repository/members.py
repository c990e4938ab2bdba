"""A member's posted, voted, opposed and saved articles. All but the first are shown only to the member."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import inf

from articles.domain.articles import Article, ArticleId, Choice
from articles.domain.errors import ArticleNotFound
from articles.domain.lists import MOST_PAGED, MemberPage, Position, closed_groups
from articles.domain.members import UserId
from articles.repository.lists.pages import PageWindow, newest_first, page_window, position_of, read_window
from articles.repository.lists.reading import read_articles, readable
from articles.repository.store import keys as names
from articles.repository.store.batches import ENTRIES_PER_READ
from articles.repository.store.connection import Call, OfStore, Value, exact_time
from articles.repository.store.values import article_id_from, moment_from

Noted = tuple[ArticleId, float]  # an article, and when it was posted, voted on or saved, in Unix seconds
ARTICLES_RATED = 100  # number of a member's newest articles whose points decide whether the member is trusted
_MOST_VOTES_READ = 2_000  # votes on these articles of which it is read who cast them


class Members(OfStore):
    """The members' lists of a store, newest first."""

    def get_posted(
        self, poster: UserId, number: int = 1, reader: UserId | None = None, *, after: Position | None = None
    ) -> MemberPage:
        """Return page `number`, counted from 1, of a member's listed articles, with the reader's own choices.

        The poster also gets the removed ones. `after`: if given, the page follows this position, whatever the
        number. Two round trips. Raises PageNotFound for pages that do not exist, PageTooDeep beyond `MOST_PAGED`
        articles.
        """
        lists = [keys.posted(poster) for keys in self._store.shards.all]
        return self._page(lists, number, reader, after, is_own=poster == reader)

    def get_voted(self, user: UserId, number: int = 1, *, after: Position | None = None) -> MemberPage:
        """Return page `number` of the listed articles the member voted for.

        Includes the newest 1,000 votes per shard on articles that are closed. Round trips and errors as
        `get_posted`.
        """
        return self._page(self._lists(user, Choice.VOTE), number, user, after)

    def get_opposed(self, user: UserId, number: int = 1, *, after: Position | None = None) -> MemberPage:
        """Return page `number` of listed articles the member opposed. Round trips and errors as `get_posted`."""
        return self._page(self._lists(user, Choice.OPPOSE), number, user, after)

    def get_saved(self, user: UserId, number: int = 1, *, after: Position | None = None) -> MemberPage:
        """Return page `number` of the listed articles the member saved. Round trips and errors as `get_posted`."""
        return self._page([names.saved(user)], number, user, after)

    def save(self, user: UserId, article_id: ArticleId, *, wanted: bool) -> None:
        """Save an article for later, or with `wanted=False` remove it from the saved ones. Idempotent.

        Two round trips; one to remove it. Raises ArticleNotFound, ArticleRemoved, ArticleMerged, and SavedFull
        if the member has saved `Rules.max_saved` articles.
        """
        store = self._store
        if not wanted:
            with store.commands() as client:
                client.zrem(names.saved(user), str(article_id))
            return
        article = next(iter(read_articles(store, [article_id], None)), None)
        if article is None:
            raise ArticleNotFound(article_id)
        article.check_listed()
        limits: list[Value] = [article_id, exact_time(store.now()), store.rules.max_saved]
        store.change("members/save", article_id, [names.saved(user)], limits)

    def get_points(self, poster: UserId, *, ranked: bool = False) -> int:
        """Return the points of a member's newest `ARTICLES_RATED` articles that are listed, without first votes.

        Each article's first vote is the poster's own. `ranked`: only of choices that are not left out of ranking.
        Two round trips; one without articles, three if `ranked` and some of their votes are left out.
        """
        listed = self._rated(poster)
        if not ranked:
            return MemberPage(tuple(listed), 1, has_next=False).points
        return sum(one.ranked_points for one in listed) - self._count_own_ranked(poster, listed)

    def count_votes_by(self, poster: UserId) -> Mapping[UserId, int]:
        """Return on how many articles of `get_points` each other member has a vote that ranks.

        As far as voter sets are kept: until some days after voting ends. Of very many votes, a
        new sample each time. Four round trips.
        """
        voted_on = [article.id for article in self._rated(poster) if article.votes > 1]
        if not voted_on:
            return {}
        shards, most = self._store.shards, max(1, _MOST_VOTES_READ // len(voted_on))
        with self._store.pipeline() as pipe:
            for article_id in voted_on:
                pipe.srandmember(shards.of(article_id).voted(article_id), most)
            found = Counter(user for voters in pipe.execute() for user in voters if user.isdecimal())
        del found[str(poster)]
        if not found:
            return {}
        with self._store.commands() as client:
            left_out = client.smismember(shards.directory.left_out, list(found))
        return {int(user): found[user] for user, is_out in zip(found, left_out, strict=True) if not is_out}

    def _rated(self, poster: UserId) -> list[Article]:
        """Return a member's newest `ARTICLES_RATED` articles, those that are listed."""
        replies = self._store.in_shards(
            lambda pipe, keys: pipe.zrevrange(keys.posted(poster), 0, ARTICLES_RATED - 1, withscores=True)
        )
        newest = islice(_noted(replies), ARTICLES_RATED)
        articles = read_articles(self._store, [article_id for article_id, _ in newest], None)
        return [one for one in articles if one.removed is None]

    def _count_own_ranked(self, poster: UserId, articles: Sequence[Article]) -> int:
        """Return in how many of these points of articles that rank the poster's own vote is one.

        It is one wherever a vote ranks, unless it is known to be left out: after the voter sets are dropped, only
        the numbers remain, and a point that no other member gave must not count.
        """
        ranking = [one for one in articles if one.votes > one.left_out.votes]
        unsure = [one.id for one in ranking if one.left_out.votes]
        if not unsure:
            return len(ranking)
        with self._store.pipeline() as pipe:
            for one in unsure:
                pipe.sismember(self._store.shards.of(one).left_out_on(one), str(poster))
            return len(ranking) - sum(map(bool, pipe.execute()))

    def iterate_choices(self, user: UserId, choice: Choice) -> Iterator[Noted]:
        """Yield articles voted for, or opposed, newest first. A round trip for each batch of each shard."""
        yield from self._all(self._lists(user, choice))

    def iterate_saved(self, user: UserId) -> Iterator[Noted]:
        """Yield every article the member saved, newest first. One round trip for each batch."""
        yield from self._all([names.saved(user)])

    def list_visits(self, user: UserId) -> list[Noted]:
        """Return the articles that the member opened, with the last time, newest first. One round trip."""
        replies = self._store.in_shards(lambda pipe, keys: pipe.hgetall(keys.visits(user)))
        visits = [visit for shard in replies for visit in shard.items()]
        ended = [
            (article_id_from(number), moment_from(noted.rpartition(" ")[2]) or 0.0) for number, noted in visits
        ]
        return sorted(ended, key=lambda visit: visit[1], reverse=True)

    def forget_visits(self, user: UserId) -> None:
        """Forget which articles the member opened. One round trip."""
        self._store.in_shards(lambda pipe, keys: pipe.unlink(keys.visits(user)))

    def iterate_posted(self, user: UserId) -> Iterator[Noted]:
        """Yield the articles the member posted, also removed ones, newest first. A round trip per batch."""
        yield from self._all([keys.posted(user) for keys in self._store.shards.all])

    def count_posted(self, user: UserId, since: float = -inf, until: float = inf) -> tuple[int, int]:
        """Return numbers of articles and comments, also removed, of a time in Unix seconds. One round trip."""
        first, last = exact_time(since), f"({exact_time(until)}"
        counts = self._store.in_shards(
            lambda pipe, keys: (
                pipe.zcount(keys.posted(user), first, last),
                pipe.zcount(keys.commented(user), first, last),
            )
        )
        return sum(counts[::2]), sum(counts[1::2])

    def count_shown(self, user: UserId) -> tuple[int, int]:
        """Return how many articles and comments of the member the reader gets to see. One round trip."""
        closed = ",".join(sorted(closed_groups()))
        calls = [
            Call("members/count_shown", (keys.posted(user), keys.commented(user)), (keys.prefix, closed))
            for keys in self._store.shards.all
        ]
        replies = self._store.run_many(calls)
        return sum(articles for articles, _ in replies), sum(comments for _, comments in replies)

    def _lists(self, user: UserId, choice: Choice) -> list[str]:
        shards = self._store.shards.all
        return [k.votes_of(user) if choice is Choice.VOTE else k.opposes_of(user) for k in shards]

    def _page(
        self,
        lists: Sequence[str],
        number: int,
        reader: UserId | None,
        after: Position | None,
        *,
        is_own: bool = False,
    ) -> MemberPage:
        page = page_window(number, self._store.rules.per_page, MOST_PAGED, after)
        entries = self._visible_entries(lists, page, after)
        shown, has_next = entries[: page.size], page.has_next(len(entries))
        articles = read_articles(self._store, [article_id_from(member) for member, _ in shown], reader)
        listed = tuple(article for article in articles if article.removed is None)
        removed = tuple(article for article in articles if article.removed is not None) if is_own else ()
        if not has_next:
            page.check_entries(listed + removed)
        return MemberPage(listed, number, has_next, position_of(shown), removed)

    def _visible_entries(
        self, lists: Sequence[str], page: PageWindow, after: Position | None
    ) -> list[tuple[str, float]]:
        """Return what `read_window` does, of the list without articles that the reader does not get to see.

        With closed groups, the list is read from its beginning, or from the position on.
        """
        if not closed_groups():
            return read_window(self._store, lists, page, after)
        wanted, found = (0 if after else page.start) + page.size + 1, list[tuple[str, float]]()
        step = PageWindow(1, max(page.size, ENTRIES_PER_READ), MOST_PAGED)
        while len(found) < wanted:
            read = read_window(self._store, lists, step, after)
            part, after = read[: step.size], position_of(read[: step.size])
            known = readable(self._store, [article_id_from(member) for member, _ in part])
            found += [entry for entry in part if article_id_from(entry[0]) in known]
            if len(read) <= step.size:
                break
        return found[wanted - page.size - 1 : wanted]

    def _all(self, lists: Sequence[str]) -> Iterator[Noted]:
        yield from _noted([self._entries(name) for name in lists])

    def _entries(self, name: str) -> Iterator[tuple[str, float]]:
        start = 0
        while True:
            with self._store.commands() as client:
                batch = client.zrevrange(name, start, start + ENTRIES_PER_READ - 1, withscores=True)
            yield from batch
            start += len(batch)
            if len(batch) < ENTRIES_PER_READ:
                return


def _noted(lists: Iterable[Iterable[tuple[str, float]]]) -> Iterator[Noted]:
    """Merge lists that are each ordered newest first."""
    return ((article_id_from(member), at) for member, at in newest_first(lists))
