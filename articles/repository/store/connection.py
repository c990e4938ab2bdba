"""The connection that all parts of the repository share: client, shards, rules, clock, and what rides along."""

import time
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

import redis
from redis.client import Pipeline

from articles.domain.articles import ArticleId
from articles.domain.errors import StoreError, StoreUnavailable
from articles.domain.refusals import BY_STATUS
from articles.domain.rules import Rules
from articles.repository.store import scripts
from articles.repository.store.clients.cluster import ClusterClient
from articles.repository.store.clients.cluster_nodes import Layout
from articles.repository.store.clients.guarded_connection import GuardedClient, store_errors
from articles.repository.store.confirmation import Confirmation
from articles.repository.store.keys import Keys, Shards, split_prefix
from articles.text.kept_html import KeptHtml

Value: TypeAlias = str | int | float

Observer: TypeAlias = Callable[[str, str, float | None], None]
"""Called for every use of the store with the operation (a script's name, "commands", "pipeline", "many" or
"together"), the outcome (the status a script returned, "ok", or FAILED), and the seconds it took; None for a
script
in a pipeline."""

Retract: TypeAlias = Callable[[Collection[ArticleId] | None], None]
"""Called after each change that takes back what pages have shown: removals, edits, deletions of accounts. Receives
the articles whose own pages it concerns, None for the pages of any; it concerns lists in any case."""

FAILED = "error"  # outcome of a use to which the store did not reply


class Call(NamedTuple):
    """One script with its keys and arguments."""

    script: str
    keys: Sequence[str]
    args: Sequence[Value]


def queue(call: Call, pipe: Pipeline) -> None:
    """Add a script to a pipeline, by its full text, which needs no second round trip if the store lacks it."""
    pipe.eval(scripts.source(call.script), len(call.keys), *call.keys, *call.args)


def _queue_all(pipe: Any, commands: Sequence[Sequence[Value | bytes]]) -> None:
    for words in commands:
        pipe.execute_command(*words)


def unobserved(_operation: str, _outcome: str, _seconds: float | None) -> None:
    """Ignore a use of the store."""


def unretracted(_articles: Collection[ArticleId] | None) -> None:
    """Ignore a retraction: without copies of pages there is nothing to retract."""


def _outcome(script: str, reply: Any) -> str:
    """Return the status in a script's reply, for the metrics; "ok" for a script that only reads."""
    if scripts.only_reads(script) or not (isinstance(reply, list) and reply and isinstance(reply[0], str)):
        return "ok"
    return reply[0] if reply[0].isidentifier() else "ok"


NO_ONE: Mapping[int, float] = {}  # no ids with times


def joined(ids: Iterable[int]) -> str:
    """Return ids as an argument of a script."""
    return ",".join(map(str, ids))


def joined_times(times: Mapping[int, float]) -> str:
    """Return ids, each with a time in Unix seconds, as an argument of a script."""
    return ",".join(f"{one}:{exact_time(at)}" for one, at in times.items())


def exact_time(seconds: float) -> str:
    """Return Unix seconds to the millisecond, in the store's format."""
    return f"{seconds:.3f}"


class Store:
    """A store with this site's layout. Raises StoreUnavailable whenever the store does not reply."""

    def __init__(
        self,
        client: GuardedClient,
        *,
        rules: Rules,
        kept_html: KeptHtml,
        shards: int = 1,
        clock: Callable[[], float] = time.time,
        observe: Observer = unobserved,
        retract: Retract = unretracted,
        stale: GuardedClient | None = None,
        confirmation: Confirmation | None = None,
    ) -> None:
        """`kept_html` reads HTML; `stale` reads replicas, by default `client`; `confirmation`: for changes."""
        self.client = client
        self._stale = None if stale is client else stale
        self.confirmation = confirmation
        self.shards = Shards(shards)
        self.rules = rules
        self.kept_html = kept_html
        self._clock = clock
        self._observe = observe
        self.retract = retract

    def now(self) -> float:
        """Return Unix seconds to the millisecond, so that decisions and stored times use the same number."""
        return round(self._clock(), 3)

    @contextmanager
    def commands(self) -> Iterator[Any]:
        """Yield the client for single commands: one round trip each.

        Not typed: redis-py's annotations do not know that all replies are decoded to str.
        """
        with self._observed("commands"):
            yield self.client

    @contextmanager
    def pipeline(self) -> Iterator[Pipeline]:
        """Yield a pipeline: one round trip at `execute()`."""
        with self._observed("pipeline"), self.client.pipeline(transaction=False) as pipe:
            yield pipe

    def in_shards(self, queue: Callable[[Pipeline, Keys], object]) -> list[Any]:
        """Return the replies to the commands that are queued for each shard. One round trip."""
        with self.pipeline() as pipe:
            for keys in self.shards.all:
                queue(pipe, keys)
            replies: list[Any] = pipe.execute()
        return replies

    @property
    def is_cluster(self) -> bool:
        """Whether the store is a cluster: its shards are on several servers."""
        return isinstance(self.client, ClusterClient)

    def servers(self) -> Sequence[Any]:
        """Return a client of every server that holds keys: the store's only one, or a cluster's primaries.

        Use them inside of `commands`, which translates their errors. At most one round trip.
        """
        if not isinstance(self.client, ClusterClient):
            return [self.client]
        with store_errors():
            self.client.nodes.discover()
            return self.client.nodes.primaries()

    def inspect(
        self, *commands: Sequence[Value | bytes], queue_more: Callable[[Any], object] = lambda _pipe: None
    ) -> tuple[list[list[Any]], list[Any]]:
        """Send commands about a server to every server, and further ones, queued in a pipeline, where they belong.

        Returns each server's replies, and those to the further ones; errors as values. One round trip; on a
        cluster, one more for each server.
        """
        with self.pipeline() as pipe:
            queue_more(pipe)
            further = len(pipe)
            if not self.is_cluster:
                _queue_all(pipe, commands)
            replies = pipe.execute(raise_on_error=False)
        if not self.is_cluster:
            return [replies[further:]], replies[:further]
        of_servers = []
        for server in self.servers():
            with self.commands(), server.pipeline(transaction=False) as pipe:
                _queue_all(pipe, commands)
                of_servers.append(pipe.execute(raise_on_error=False))
        return of_servers, replies

    def layout(self) -> Layout:
        """Return which server of a cluster holds which keys; empty for one server. Two round trips, if any."""
        if not isinstance(self.client, ClusterClient):
            return Layout()
        with store_errors():
            self.client.nodes.discover()
            return self.client.nodes.layout()

    @contextmanager
    def retracting(self, articles: Collection[ArticleId] | None) -> Iterator[None]:
        """Retract these articles' pages, None for all, after the change inside of the block, unless it is refused.

        A change whose reply is lost may have been made.
        """
        try:
            yield
        except StoreError:
            self.retract(articles)
            raise
        self.retract(articles)

    @contextmanager
    def _observed(self, operation: str) -> Iterator[None]:
        """Report the duration and the outcome to the observer, and translate the store's errors."""
        began, outcome = time.perf_counter(), "ok"
        try:
            with store_errors():
                yield
        except StoreUnavailable:
            outcome = FAILED
            raise
        finally:
            self._observe(operation, outcome, time.perf_counter() - began)

    def run(self, script: str, keys: Sequence[str], args: Sequence[Value]) -> Any:
        """Run a script and return its reply. One round trip, two if the store does not have the script yet."""
        return self._run(script, keys, args)[0]

    def _run(
        self, script: str, keys: Sequence[str], args: Sequence[Value], confirmation: Confirmation | None = None
    ) -> Sequence[Any]:
        """Run a script; return its reply, then the replies to the confirmation in the same round trip."""
        began, outcome = time.perf_counter(), FAILED
        try:
            with store_errors():
                replies = self._evaluate(script, keys, args, confirmation)
            outcome = _outcome(script, replies[0])
        finally:
            self._observe(script, outcome, time.perf_counter() - began)
        return replies

    def _evaluate(
        self, script: str, keys: Sequence[str], args: Sequence[Value], confirmation: Confirmation | None
    ) -> Sequence[Any]:
        send = partial(confirmation.send, self.client, keys[0]) if confirmation else self._send
        try:
            return send("EVALSHA", scripts.digest(script), len(keys), *keys, *args)
        except redis.exceptions.NoScriptError:
            return send("EVAL", scripts.source(script), len(keys), *keys, *args)

    def _send(self, *words: Value | bytes) -> Sequence[Any]:
        return (self.client.execute_command(*words),)  # type: ignore[no-untyped-call]

    def confirm(self, key: str) -> None:
        """Wait until earlier changes of a key's server are confirmed, if any are. Raises StoreUnconfirmed."""
        if self.confirmation:
            with self._observed("commands"):
                self.confirmation.check(self.confirmation.send(self.client, key))

    def ask(
        self,
        script: str,
        subject: object,
        keys: Sequence[str],
        args: Sequence[Value],
        *,
        handled: Container[str] = (),
    ) -> list[Any]:
        """Run a script that returns a status and more, and raise the error of a status that refuses.

        `subject` is what the error is about. `handled` are statuses that the caller handles itself. Raises
        StoreUnconfirmed if replicas or the disk should confirm the change, and did not in time. Such a change can
        be lost, and can be repeated.
        """
        confirmation = self.confirmation if scripts.changes_articles(script) else None
        reply, *waited = self._run(script, keys, args, confirmation)
        refusal = BY_STATUS.get(reply[0])
        if refusal and refusal.status not in handled:
            raise refusal.error(subject)
        if confirmation and not refusal:  # refusals change nothing
            confirmation.check(waited)
        result: list[Any] = reply
        return result

    def change(self, script: str, subject: object, keys: Sequence[str], args: Sequence[Value]) -> list[Any]:
        """Run a script like `ask`; return what follows the status "ok"."""
        return self.ask(script, subject, keys, args)[1:]

    def run_many(self, calls: Iterable[Call], *, may_be_stale: bool = False) -> list[Any]:
        """Run many scripts and return their replies in order. One round trip, two if the store lacks a script.

        Only for idempotent scripts that are independent of each other: those that the store lacks run after the
        rest. If they may be stale, replicas reply where the site reads from them; if these fail, the primary.
        Takes waiting rides along.
        """
        calls = tuple(calls)
        rides = [] if may_be_stale else rides_with(self, calls)
        sent = (*calls, *(call for ride in rides for call in ride.calls))
        with self._observed("many"):
            replies = self._replies_of_replicas(calls) if may_be_stale else None
            if replies is None:
                replies = self._replies(sent, self.client, needed=len(calls))
        following = iter(replies[len(calls) :])
        for ride in rides:
            ride.replies = list(islice(following, len(ride.calls)))
        self._tell(sent, replies)
        return replies[: len(calls)]

    def _replies_of_replicas(self, calls: Sequence[Call]) -> list[Any] | None:
        """Return the replies of replicas; None if the site does not read from them, or they fail."""
        if self._stale is None:
            return None
        with suppress(StoreError), store_errors():
            return self._replies(calls, self._stale, needed=len(calls))
        return None

    def _tell(self, calls: Sequence[Call], replies: Sequence[Any]) -> None:
        outcomes = [_outcome(call.script, reply) for call, reply in zip(calls, replies, strict=True)]
        for call, outcome in zip(calls, outcomes, strict=True):
            self._observe(call.script, outcome, None)

    def _replies(self, calls: Sequence[Call], client: GuardedClient, *, needed: int) -> list[Any]:
        """Return the replies. Raises the error of one of the first `needed`; other errors are values."""
        words = [("EVALSHA", scripts.digest(one.script), len(one.keys), *one.keys, *one.args) for one in calls]
        replies = client.send_together(words)
        unknown = [n for n, reply in enumerate(replies) if isinstance(reply, redis.exceptions.NoScriptError)]
        if unknown:
            for n, reply in zip(unknown, self._teach([calls[n] for n in unknown], client), strict=True):
                replies[n] = reply
        for reply in replies[:needed]:
            if isinstance(reply, Exception):
                raise reply
        return replies

    def run_together(self, calls: Sequence[Call]) -> list[Any]:
        """Run scripts in one transaction, so that readers see all effects or none; return the replies.

        On a cluster, in one transaction for each shard, the first shard's last: whatever it records as done has
        been done in all others. Only for idempotent scripts. One round trip; two on a cluster.
        """
        with self._observed("together"):
            prefix = self.shards.directory.prefix
            first = [n for n, call in enumerate(calls) if self.is_cluster and call.keys[0].startswith(prefix)]
            others = [n for n in range(len(calls)) if n not in first]
            replies: dict[int, Any] = {}
            for numbers in filter(None, (others, first)):
                with self.client.pipeline(transaction=True) as pipe:
                    for n in numbers:
                        queue(calls[n], pipe)
                    replies |= dict(zip(numbers, pipe.execute(), strict=True))
        ordered = [replies[n] for n in range(len(calls))]
        self._tell(calls, ordered)
        return ordered

    def _teach(self, calls: Sequence[Call], client: GuardedClient) -> list[Any]:
        """Run the scripts from their full texts, so that it does not matter whether the store keeps them."""
        with client.pipeline(transaction=False) as pipe:
            for call in calls:
                queue(call, pipe)
            replies: list[Any] = pipe.execute(raise_on_error=False)
        return replies

    def load_scripts(self) -> None:
        """Load every script that a server does not have. Two round trips to each. Raises StoreUnavailable."""
        for server in self.servers():
            with store_errors(), server.pipeline(transaction=False) as pipe:
                known = server.script_exists(*scripts.script_digests())
                for name, is_known in zip(scripts.names(), known, strict=True):
                    if not is_known:
                        pipe.script_load(scripts.source(name))
                pipe.execute()


class OfStore:
    """What reads or changes a part of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store


Count = TypeVar("Count")


@dataclass(slots=True, eq=False)
class Ride(Generic[Count]):
    """Idempotent scripts that wait for an exchange, and what their replies count."""

    store: Store
    calls: Sequence[Call]
    read: Callable[[Sequence[Any]], Count | None]
    replies: list[Any] = field(default_factory=list)
    """Empty until an exchange took them along; then errors are among them, too."""

    @property
    def count(self) -> Count | None:
        """What was counted; None until an exchange has taken the scripts along, or if a script failed."""
        return self.read(self.replies) if self.replies else None


_waiting: ContextVar[tuple[Ride[Any], ...]] = ContextVar("waiting", default=())


@contextmanager
def riding(
    store: Store, calls: Sequence[Call], read: Callable[[Sequence[Any]], Count | None]
) -> Iterator[Ride[Count]]:
    """Let these scripts ride with the first exchange within the block that can take them. No round trip.

    `read` returns what the replies count; None if a script failed.
    """
    ride = Ride(store, calls, read)
    token = _waiting.set((*_waiting.get(), ride))
    try:
        yield ride
    finally:
        _waiting.reset(token)


def rides_with(store: Store, calls: Sequence[Call]) -> list[Ride[Any]]:
    """Return the rides that go out with these scripts.

    On a cluster, only an exchange with all of a ride's shards takes it along: no page of one shard waits for the
    others.
    """
    waiting = [ride for ride in _waiting.get() if not ride.replies and ride.store is store]
    if waiting and store.is_cluster:
        shards = _shards_of(calls)
        return [ride for ride in waiting if _shards_of(ride.calls) <= shards]
    return waiting


def _shards_of(calls: Sequence[Call]) -> set[str]:
    return {split_prefix(call.keys[0])[0] for call in calls}
