"""What every part of the repository works with: the client, the shards, the rules, the clock."""

import time
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

import redis
from redis.client import Pipeline

from articles.domain.errors import StoreUnavailable
from articles.domain.refusals import BY_STATUS
from articles.domain.rules import Rules
from articles.repository.store import scripts
from articles.repository.store.client import store_errors
from articles.repository.store.keys import Shards

Value: TypeAlias = str | int | float

Observer: TypeAlias = Callable[[str, str, float | None], None]
"""Told of every use of the store: the operation (a script's name, "commands", "pipeline", "many" or "together"),
the outcome (the status a script answered with, "ok", or FAILED), and the seconds it took; None for a script that
travelled with others."""

FAILED = "error"
"""Outcome of what the store did not answer."""


class Call(NamedTuple):
    """One script with its keys and arguments."""

    script: str
    keys: Sequence[str]
    args: Sequence[Value]


def unobserved(_operation: str, _outcome: str, _seconds: float | None) -> None:
    pass


def _status(reply: Any) -> str:
    """What a script says became of it; "ok" for one that only reads."""
    if isinstance(reply, list) and reply and isinstance(reply[0], str) and reply[0].isidentifier():
        return reply[0]
    return "ok"


def exact_time(seconds: float) -> str:
    """Unix seconds to the millisecond, as the store keeps them."""
    return f"{seconds:.3f}"


class Store:
    """A store with this site's layout. Every failure to answer is raised as StoreUnavailable."""

    def __init__(
        self,
        client: redis.Redis,
        *,
        rules: Rules,
        shards: int = 1,
        clock: Callable[[], float] = time.time,
        observe: Observer = unobserved,
    ) -> None:
        self.client = client
        self.shards = Shards(shards)
        self.rules = rules
        self._clock = clock
        self._observe = observe

    def now(self) -> float:
        """Unix seconds, to the millisecond: what is decided and what is stored are the same number."""
        return round(self._clock(), 3)

    @contextmanager
    def commands(self) -> Iterator[Any]:
        """The client, for single commands: one round trip each.

        Not typed: redis-py's annotations do not know that all answers are decoded to str.
        """
        with self._observed("commands"):
            yield self.client

    @contextmanager
    def pipeline(self) -> Iterator[Pipeline]:
        """Commands that travel together: one round trip at `execute()`."""
        with self._observed("pipeline"), self.client.pipeline(transaction=False) as pipe:
            yield pipe

    @contextmanager
    def _observed(self, operation: str) -> Iterator[None]:
        """Tell the observer how long it took, and whether the store failed; its failures are facts."""
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
        """A script's reply; one round trip, two when the store does not know the script yet."""
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
        """The same; returns what follows "ok"."""
        return self.ask(script, subject, keys, args)[1:]

    def run_many(self, calls: Sequence[Call]) -> list[Any]:
        """The replies of many scripts, in order: one round trip, another when the store lacks a script.

        Only for idempotent scripts that do not rely on one another: what the store lacks runs after the rest.
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
        """The replies of scripts in several shards that take effect at one moment for every reader."""
        with self._observed("together"), self.client.pipeline(transaction=True) as pipe:
            for call in calls:
                pipe.eval(scripts.source(call.script), len(call.keys), *call.keys, *call.args)
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
        """The same with the whole texts: a store that forgets them again in between does not matter."""
        with self.client.pipeline(transaction=False) as pipe:
            for call in calls:
                pipe.eval(scripts.source(call.script), len(call.keys), *call.keys, *call.args)
            replies: list[Any] = pipe.execute(raise_on_error=False)
        return replies

    def load_scripts(self) -> None:
        """Let the store know every script, so that none fails for want of it."""
        with store_errors(), self.client.pipeline(transaction=False) as pipe:
            known = self.client.script_exists(*map(scripts.digest, scripts.names()))
            for name, is_known in zip(scripts.names(), known, strict=True):
                if not is_known:
                    pipe.script_load(scripts.source(name))
            pipe.execute()
