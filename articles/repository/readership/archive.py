"""The store's part of archiving: removes view counters from the store, and restores them.

An article's hash says where its counters are: while they are archived, the field `archived` holds the page views
and visitors to show. The script that removes the counters sets it, the one that restores them clears it, so other
rows in the database have no effect. HyperLogLogs are moved unchanged, so that known visitors stay known.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from articles.domain.articles import ArticleId
from articles.repository.store.connection import Call, OfStore, Value, exact_time
from articles.repository.store.values import article_id_from


@dataclass(frozen=True, slots=True)
class Counters:
    """All counters of an article's views. `viewed_at`: the time of the last counted view, in Unix seconds."""

    article_id: ArticleId
    pv: int
    uv: int
    sketch: bytes  # the HyperLogLog of the visitors, as the store keeps it
    viewed_at: float
    suspects: Mapping[str, int]  # suspect views by reason


class ViewArchive(OfStore):
    """The archivable counters of a store."""

    def list_due(self, at_most: int) -> list[ArticleId]:
        """Return articles without a view for `Rules.archive_after`, the longest unread first. One round trip."""
        replies = self._store.in_shards(
            lambda pipe, keys: pipe.zrangebyscore(
                keys.viewed, "-inf", exact_time(self._limit()), start=0, num=at_most, withscores=True
            )
        )
        entries = [entry for shard in replies for entry in shard]
        oldest = sorted((viewed_at, article_id_from(article_id)) for article_id, viewed_at in entries)
        return [article_id for _, article_id in oldest[:at_most]]

    def _limit(self) -> float:
        return self._store.now() - self._store.rules.archive_after

    def get_counters(self, ids: Sequence[ArticleId]) -> list[Counters]:
        """Return the counters of those of these articles that have any, each read atomically. One round trip."""
        replies = self._store.run_many(self._call("readership/read_counters", number) for number in ids)
        return [_counters(number, reply) for number, reply in zip(ids, replies, strict=True) if reply]

    def store(self, kept: Sequence[Counters]) -> int:
        """Remove counters that are kept elsewhere from the store; return of how many articles. One round trip.

        Articles with a view since the counters were read are left alone.
        """
        return self._run_archive([(counters.article_id, counters.pv, counters.suspects) for counters in kept])

    def dismiss(self, ids: Iterable[ArticleId]) -> None:
        """Stop listing articles without counters as due, as a damaged store does. One round trip."""
        self._run_archive([(number, 0, {}) for number in ids])

    def _run_archive(self, known: Sequence[tuple[ArticleId, int, Mapping[str, int]]]) -> int:
        limit = exact_time(self._limit())
        replies = self._store.run_many(
            self._call("readership/archive", number, pv, limit, *_flat(suspects)) for number, pv, suspects in known
        )
        return sum(status == "ok" for status, *_ in replies)

    def restore(self, article_id: ArticleId, kept: Counters | None) -> bool:
        """Restore an article's counters, unless they are in the store. Page views and visitors continue as shown.

        Returns False if `kept` is missing or from an earlier archiving: then former visitors count again. One
        round trip. Raises ArticleNotFound.
        """
        values: list[Value] = [exact_time(self._store.now()), "", 0, 0]
        if kept:
            values = [exact_time(kept.viewed_at), kept.sketch.hex(), kept.pv, kept.uv, *_flat(kept.suspects)]
        call = self._call("readership/restore", article_id, *values)
        status, *_ = self._store.ask(call.script, article_id, call.keys, call.args)
        return bool(status != "estimated")

    def is_archived(self, article_id: ArticleId) -> bool:
        """Return whether the article's counters are archived. One round trip."""
        with self._store.commands() as client:
            return bool(client.hexists(self._store.shards.of(article_id).article(article_id), "archived"))

    def get_pageviews(self, ids: Iterable[ArticleId]) -> dict[ArticleId, int]:
        """Return the page views of those articles whose counters are in the store. One round trip."""
        ids = list(ids)
        with self._store.pipeline() as pipe:
            for number in ids:
                keys = self._store.shards.of(number)
                pipe.hmget(keys.article(number), "time", "archived")
                pipe.get(keys.views(number))
            replies = pipe.execute()
        rows = zip(ids, replies[::2], replies[1::2], strict=True)
        return {number: int(pv) for number, (time, archived), pv in rows if time and not archived and pv}

    def _call(self, script: str, article_id: ArticleId, *more: Value) -> Call:
        keys = self._store.shards.of(article_id)
        return Call(script, [keys.viewed], [article_id, keys.prefix, *more])


def _flat(numbers: Mapping[str, int]) -> list[Value]:
    return [part for pair in numbers.items() for part in pair]


def _counters(article_id: ArticleId, reply: Sequence[str | int]) -> Counters:
    pv, uv, sketch, viewed_at, *suspects = reply
    return Counters(
        article_id=article_id,
        pv=int(pv),
        uv=int(uv),
        sketch=bytes.fromhex(str(sketch)),
        viewed_at=float(viewed_at),
        suspects={str(reason): int(n) for reason, n in zip(suspects[::2], suspects[1::2], strict=True)},
    )
