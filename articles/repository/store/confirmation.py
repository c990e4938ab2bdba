"""What a change waits for before the site confirms it: copies on replicas."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import redis

from articles.domain.errors import StoreUnconfirmed
from articles.repository.store.keys import Keys, split_prefix


@dataclass(frozen=True, slots=True)
class Confirmation:
    """`replicas`: how many must have the change. `timeout_seconds`: how long it waits; less than for a reply."""

    replicas: int = 0
    timeout_seconds: float = 0.4

    def send(self, client: redis.Redis, key: str, *words: Any) -> list[Any]:
        """Send a command, if any, and what waits for its effects. One round trip.

        Returns the replies, errors of what waits as values. The key is written because servers wait for the last
        write of a connection: a change that found everything done would not wait for the one that did it.
        """
        milliseconds = int(self.timeout_seconds * 1000)
        with client.pipeline(transaction=False) as pipe:
            if words:
                pipe.execute_command(*words)  # type: ignore[no-untyped-call]
            pipe.set(split_prefix(key)[0] + Keys.confirmed.name, 1)
            pipe.execute_command("WAIT", self.replicas, milliseconds)  # type: ignore[no-untyped-call]
            replies: list[Any] = pipe.execute(raise_on_error=False)
        if words and isinstance(replies[0], Exception):
            raise replies[0]
        return replies

    def check(self, replies: Sequence[Any]) -> None:
        """Raise StoreUnconfirmed unless the replies to the commands that follow say that it is confirmed."""
        for reply in replies:
            if isinstance(reply, Exception):  # a server that has become a replica
                raise StoreUnconfirmed(f"the change is made, but not confirmed: {reply}")
        *_, copies = replies
        if copies < self.replicas:
            raise StoreUnconfirmed(
                f"after {self.timeout_seconds:g} s the change is on {copies} of {self.replicas} replicas"
            )
