"""The connection that all parts of the repository share: client, shards, rules and clock."""

import time
from collections.abc import Callable, Collection, Container, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

import redis
from redis.client import Pipeline

from articles.domain.articles import ArticleId
from articles.domain.errors import StoreError, StoreUnavailable
from articles.domain.refusals import BY_STATUS
from articles.domain.rules import Rules
from articles.repository.store import scripts
from articles.repository.store.client import store_errors
from articles.repository.store.keys import Shards

Value: TypeAlias = str | int | float

Observer: TypeAlias = Callable[[str, str, float | None], None]
"""Called for every use of the store with the operation (a script's name, "commands", "pipeline", "many" or
"together"), the outcome (the status a script returned, "ok", or FAILED), and the seconds it took; None for a
script
in a pipeline."""

Retract: TypeAlias = Callable[[Collection[ArticleId] | None], None]
"""Called after each change that takes back what pages have shown: removals, edits, deletions of accounts. Receives
the articles whose own pages it concerns, None for the pages of any; it concerns lists in any case."""

FAILED = "error"
"""Outcome of a use to which the store did not reply."""


class Call(NamedTuple):
    """One script with its keys and arguments."""

    script: str
    keys: Sequence[str]
    args: Sequence[Value]


def queue(call: Call, pipe: Pipeline) -> None:
    """Add a script to a pipeline, by its full text, which needs no second round trip if the store lacks it."""
    pipe.eval(scripts.source(call.script), len(call.keys), *call.keys, *call.args)


def unobserved(_operation: str, _outcome: str, _seconds: float | None) -> None:
    """Ignore a use of the store."""


def unretracted(_articles: Collection[ArticleId] | None) -> None:
    """Ignore a retraction: without copies of pages there is nothing to retract."""


def _status(reply: Any) -> str:
    """Return the status in a script's reply; "ok" for a script that only reads."""
    if isinstance(reply, list) and reply and isinstance(reply[0], str) and reply[0].isidentifier():
        return reply[0]
    return "ok"


def exact_time(seconds: float) -> str:
    """Return Unix seconds to the millisecond, in the store's format."""
    return f"{seconds:.3f}"


class Store:
    """A store with this site's layout. Raises StoreUnavailable whenever the store does not reply."""

    def __init__(
        self,
        client: redis.Redis,
        *,
        rules: Rules,
        shards: int = 1,
        clock: Callable[[], float] = time.time,
        observe: Observer = unobserved,
        retract: Retract = unretracted,
    ) -> None:
        self.client = client
        self.shards = Shards(shards)
        self.rules = rules
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
        began, outcome = time.perf_counter(), FAILED
        try:
            with store_errors():
                reply = self._evaluate(script, keys, args)
            outcome = _status(reply)
        finally:
            self._observe(script, outcome, time.perf_counter() - began)
        return reply

    def _evaluate(self, script: str, keys: Sequence[str], args: Sequence[Value]) -> Any:
        try:
            return self.client.evalsha(scripts.digest(script), len(keys), *keys, *args)
        except redis.exceptions.NoScriptError:
            return self.client.eval(scripts.source(script), len(keys), *keys, *args)

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

        `subject` is what the error is about. `handled` are statuses that the caller handles itself.
        """
        reply: list[Any] = self.run(script, keys, args)
        refusal = BY_STATUS.get(reply[0])
        if refusal and refusal.status not in handled:
            raise refusal.error(subject)
        return reply

    def change(self, script: str, subject: object, keys: Sequence[str], args: Sequence[Value]) -> list[Any]:
        """Run a script like `ask`; return what follows the status "ok"."""
        return self.ask(script, subject, keys, args)[1:]

    def run_many(self, calls: Sequence[Call]) -> list[Any]:
        """Run many scripts and return their replies in order. One round trip, two if the store lacks a script.

        Only for idempotent scripts that are independent of each other: those that the store lacks run after the
        rest.
        """
        with self._observed("many"):
            replies = self._replies(calls)
        self._tell(calls, replies)
        return replies

    def _tell(self, calls: Sequence[Call], replies: Sequence[Any]) -> None:
        for call, reply in zip(calls, replies, strict=True):
            self._observe(call.script, _status(reply), None)

    def _replies(self, calls: Sequence[Call]) -> list[Any]:
        replies = self._attempt(calls)
        unknown = [n for n, reply in enumerate(replies) if isinstance(reply, redis.exceptions.NoScriptError)]
        if unknown:
            for n, reply in zip(unknown, self._teach([calls[n] for n in unknown]), strict=True):
                replies[n] = reply
        for reply in replies:
            if isinstance(reply, Exception):
                raise reply
        return replies

    def run_together(self, calls: Sequence[Call]) -> list[Any]:
        """Run scripts in one transaction, so that readers see all effects or none; return the replies.

        One round trip.
        """
        with self._observed("together"), self.client.pipeline(transaction=True) as pipe:
            for call in calls:
                queue(call, pipe)
            replies: list[Any] = pipe.execute()
        self._tell(calls, replies)
        return replies

    def _attempt(self, calls: Sequence[Call]) -> list[Any]:
        with self.client.pipeline(transaction=False) as pipe:
            for call in calls:
                pipe.evalsha(scripts.digest(call.script), len(call.keys), *call.keys, *call.args)
            replies: list[Any] = pipe.execute(raise_on_error=False)
        return replies

    def _teach(self, calls: Sequence[Call]) -> list[Any]:
        """Run the scripts from their full texts, so that it does not matter whether the store keeps them."""
        with self.client.pipeline(transaction=False) as pipe:
            for call in calls:
                queue(call, pipe)
            replies: list[Any] = pipe.execute(raise_on_error=False)
        return replies

    def load_scripts(self) -> None:
        """Load every script that the store does not have. Two round trips. Raises StoreUnavailable."""
        with store_errors(), self.client.pipeline(transaction=False) as pipe:
            known = self.client.script_exists(*map(scripts.digest, scripts.names()))
            for name, is_known in zip(scripts.names(), known, strict=True):
                if not is_known:
                    pipe.script_load(scripts.source(name))
            pipe.execute()
