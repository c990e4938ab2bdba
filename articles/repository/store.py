"""What every part of the repository works with: the client, the shards, the rules, the clock."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

import redis
from redis.client import Pipeline

from articles import errors
from articles.domain import Rules
from articles.repository import scripts
from articles.repository.client import store_errors
from articles.repository.keys import Shards

Value: TypeAlias = str | int | float

_REFUSALS: dict[str, type[errors.ArticlesError]] = {
    "missing": errors.ArticleNotFound,
    "removed": errors.ArticleRemoved,
    "closed": errors.VotingClosed,
    "not_removed": errors.NotRemoved,
    "not_poster": errors.NotThePoster,
    "late": errors.EditingClosed,
    "no_group": errors.GroupNotFound,
}


class Call(NamedTuple):
    """One script with its keys and arguments."""

    script: str
    keys: Sequence[str]
    args: Sequence[Value]


def exact_time(seconds: float) -> str:
    """Unix seconds to the millisecond, as the store keeps them."""
    return f"{seconds:.3f}"


class Store:
    """A store with this site's layout. Every failure to answer is raised as StoreUnavailable."""

    def __init__(
        self,
        client: redis.Redis,
        *,
        shards: int = 1,
        rules: Rules | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.client = client
        self.shards = Shards(shards)
        self.rules = rules or Rules()
        self._clock = clock

    def now(self) -> float:
        """Unix seconds, to the millisecond: what is decided and what is stored are the same number."""
        return round(self._clock(), 3)

    @contextmanager
    def commands(self) -> Iterator[Any]:
        """The client, for single commands: one round trip each.

        Not typed: redis-py's annotations do not know that all answers are decoded to str.
        """
        with store_errors():
            yield self.client

    @contextmanager
    def pipeline(self) -> Iterator[Pipeline]:
        """Commands that travel together: one round trip at `execute()`."""
        with store_errors(), self.client.pipeline(transaction=False) as pipe:
            yield pipe

    def run(self, script: str, keys: Sequence[str], args: Sequence[Value]) -> Any:
        """A script's reply; one round trip, two when the store does not know the script yet."""
        with store_errors():
            try:
                return self.client.evalsha(scripts.digest(script), len(keys), *keys, *args)
            except redis.exceptions.NoScriptError:
                return self.client.eval(scripts.source(script), len(keys), *keys, *args)

    def change(self, script: str, subject: object, keys: Sequence[str], args: Sequence[Value]) -> list[Any]:
        """Run a script that answers with a status; returns what follows "ok".

        Raises the error its status stands for, with `subject` as what it is about.
        """
        reply: list[Any] = self.run(script, keys, args)
        status, *rest = reply
        if refusal := _REFUSALS.get(status):
            raise refusal(subject)
        return rest

    def run_many(self, calls: Sequence[Call]) -> list[Any]:
        """The replies of many scripts, in order: one round trip, two more when the store lacks a script.

        Only for idempotent scripts.
        """
        replies = self._attempt(calls)
        unknown = [n for n, reply in enumerate(replies) if isinstance(reply, redis.exceptions.NoScriptError)]
        if unknown:
            self._load({calls[n].script for n in unknown})
            for n, reply in zip(unknown, self._attempt([calls[n] for n in unknown]), strict=True):
                replies[n] = reply
        for reply in replies:
            if isinstance(reply, Exception):
                with store_errors():
                    raise reply
        return replies

    def _attempt(self, calls: Sequence[Call]) -> list[Any]:
        with self.pipeline() as pipe:
            for call in calls:
                pipe.evalsha(scripts.digest(call.script), len(call.keys), *call.keys, *call.args)
            replies: list[Any] = pipe.execute(raise_on_error=False)
        return replies

    def _load(self, names: Iterable[str]) -> None:
        with self.pipeline() as pipe:
            for name in names:
                pipe.script_load(scripts.source(name))
            pipe.execute()
