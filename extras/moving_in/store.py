"""What moving in needs of the store beside the import: taking out what came, and a log that comes."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from articles.domain.articles import ArticleId
from articles.domain.comments import COMMENTS_PER_ARTICLE
from articles.domain.members import UserId
from articles.repository.lists.reading import read_articles
from articles.repository.store import keys as names
from articles.repository.store.batches import ARTICLES_PER_READ
from articles.repository.store.connection import Call, OfStore, Value, exact_time
from articles.repository.store.scan import portions, ranked_members
from articles.text.links import post_digest

_AT_ONCE = 1_000  # comments and voters that one script handles
_MEMBERS = 200  # whose lists are read together
_OWN = 100  # entries of this site's own that can be above those of a log that comes

Facts = tuple[str, float, str, str, str, str, str, str]
"""An entry: action, time, actor, article or "0", comment or "", title, reason, and details as JSON."""


class Undoings(OfStore):
    """Articles, members and groups that an import made, and what others did with them."""

    def look(self, times: Mapping[ArticleId, float]) -> dict[ArticleId, list[str]]:
        """Return what others did since these times with articles, as acts, after what the first look saw.

        Without those of which nothing is left. A round trip for each `_AT_ONCE` of the longest discussion.
        """
        found, waiting = dict[ArticleId, list[str]](), dict.fromkeys(times, 0)
        while waiting:
            calls = [
                self._call("undoing/look", one, times[one], number, _AT_ONCE) for one, number in waiting.items()
            ]
            following = dict[ArticleId, int]()
            for one, (status, *facts) in zip(waiting, self._store.run_many(calls), strict=True):
                number, *acts = map(str, facts)
                if status == "ok":
                    found.setdefault(one, [" ".join((number, *acts))]).extend(acts)
                    following |= {one: int(number)} if int(number) else {}
                elif int(number):
                    found[one] = [""]
            waiting = following
        return found

    def take_out(self, times: Mapping[ArticleId, float], seen: Mapping[ArticleId, str]) -> set[ArticleId]:
        """Take articles out with their discussions; return those with which others did more than was `seen`.

        The claims of their links go first. Some round trips, and one for each `_AT_ONCE` comments of the longest
        discussion.
        """
        changed, waiting, oldest = set[ArticleId](), [*seen], self._store.now() - self._store.rules.repost_window
        for article in read_articles(self._store, waiting, None, with_texts=True):
            if article.posted_at > oldest:
                key = names.link(post_digest(article.title, article.link, article.text))
                self._store.run("lease/release", [key], [article.id])
        with self._store.retracting(seen):
            while waiting:
                calls = [self._call("undoing/take_out", one, times[one], _AT_ONCE, seen[one]) for one in waiting]
                replies = dict(zip(waiting, self._store.run_many(calls), strict=True))
                changed |= {one for one, (status, *_) in replies.items() if status == "changed"}
                waiting = [one for one, (status, *left) in replies.items() if status == "ok" and int(left[0])]
        return changed

    def _call(self, script: str, article_id: ArticleId, since: float, *values: Value) -> Call:
        keys = self._store.shards.of(article_id)
        return Call(script, (keys.article(article_id),), (article_id, keys.prefix, exact_time(since), *values))

    def iterate_lists(
        self, members: Iterable[UserId], *, since: float = 0, written: bool = False
    ) -> Iterator[tuple[UserId, str, list[ArticleId]]]:
        """Yield the keys of what members chose and saved since then, with the articles; or chose and wrote."""
        for some in portions(members, _MEMBERS):
            listed = [(user, names.saved(user), 1) for user in some if not written]
            for shard in self._store.shards.all:
                listed += [(user, key(user), 1) for user in some for key in (shard.votes_of, shard.opposes_of)]
                listed += [(user, shard.posted(user), 1) for user in some if written]
                listed += [(user, shard.commented(user), COMMENTS_PER_ARTICLE) for user in some if written]
            with self._store.pipeline() as pipe:
                for _, key, _ in listed:
                    pipe.zrangebyscore(key, since, "+inf")
                replies = pipe.execute()
            for (user, key, width), ids in zip(listed, replies, strict=True):
                if ids:
                    yield user, key, [int(one) // width for one in ids]

    def clean_lists(self, members: Iterable[UserId], gone: set[ArticleId]) -> None:
        """Drop articles that went from what members chose and saved."""
        for _, key, ids in self.iterate_lists(members):
            if stale := gone.intersection(ids):
                with self._store.commands() as client:
                    client.zrem(key, *stale)

    def list_left_out(self) -> set[UserId]:
        """Return the members whose choices moderators left out of ranking, or counted again."""
        with self._store.commands() as client:
            return set(map(int, client.hkeys(self._store.shards.directory.left_out_acts)))

    def drop_lists(self, members: Collection[UserId]) -> None:
        """Drop all lists of members who wrote nothing."""
        with self._store.pipeline() as pipe:
            for user in members:
                pipe.unlink(names.saved(user))
                for shard in self._store.shards.all:
                    lists = shard.votes_of, shard.opposes_of, shard.inbox, shard.visits, shard.flags_by
                    pipe.unlink(*(key(user) for key in lists))
            pipe.execute()

    def list_empty(self, slugs: Collection[str], gone: set[ArticleId]) -> set[str]:
        """Return those groups that no article names but these, nor a removed one, nor a merged group leads to."""
        empty, ordered = set(slugs), sorted(slugs)
        for shard in self._store.shards.all:
            for some in portions(map(int, [*ranked_members(self._store, shard.removed)]), ARTICLES_PER_READ):
                for article in read_articles(self._store, [one for one in some if one not in gone], None):
                    empty.difference_update(article.groups)
            with self._store.pipeline() as pipe:
                for slug in ordered:
                    pipe.smembers(shard.group(slug))
                for slug, ids in zip(ordered, pipe.execute(), strict=True):
                    if not gone.issuperset(map(int, ids)):
                        empty.discard(slug)
        with self._store.commands() as client:
            return empty - {*client.hvals(self._store.shards.directory.merged)}

    def drop_groups(self, slugs: Collection[str]) -> None:
        """Drop groups without articles from the directory. Two round trips."""
        directory = self._store.shards.directory
        with self._store.retracting(None), self._store.commands() as client:
            client.hdel(directory.descriptions, *slugs)
            client.hdel(directory.groups, *slugs)


class MovedLog(OfStore):
    """The moderation log of a store, in parts by shard."""

    def get_newest(self) -> list[tuple[int, list[str]]]:
        """Return how many entries each part has, and the newest of them, as JSON. One round trip."""
        replies = self._store.in_shards(lambda pipe, keys: (pipe.llen(keys.log), pipe.lrange(keys.log, 0, _OWN)))
        return [*zip(replies[::2], replies[1::2], strict=True)]

    @property
    def count(self) -> int:
        """Number of parts."""
        return self._store.shards.count

    def drop(self, came: Sequence[int]) -> None:
        """Drop the entries that came, so many of each part, where moderators acted on no article since."""
        with self._store.retracting(None):
            for keys, number in zip(self._store.shards.all, came, strict=True):
                self._store.run("moved_log/drop", [keys.log], [number, _OWN])

    def part_of(self, article: ArticleId) -> int:
        """Return the number of the part that has entries about an article, or, for 0, about none."""
        shards = self._store.shards
        return shards.all.index(shards.of(article) if article else shards.directory)

    def append(self, part: int, came: int, entries: Iterable[Facts]) -> bool:
        """Add entries above those that came before; return whether that is possible. One round trip."""
        keys = self._store.shards.all[part]
        given = [value for action, at, *facts in entries for value in (action, exact_time(at), *facts)]
        reply = self._store.run("moved_log/append", [keys.log], [keys.prefix, came, _OWN, *given])
        return bool(reply == ["ok"])
