"""A server whose answers get lost."""

from typing import Any

import redis


class Breaking:
    """Mixed into a client: loses the store for good after a number of commands, until it is mended."""

    left: int | None = None

    def _pass(self) -> None:
        if self.left == 0:
            raise redis.ConnectionError("broken off")

    def _used(self) -> None:
        if self.left:
            self.left -= 1
            self._pass()

    def execute_command(self, *args: Any, **options: Any) -> Any:
        self._pass()
        reply = super().execute_command(*args, **options)  # type: ignore[misc]
        self._used()
        return reply

    def pipeline(self, *args: Any, **options: Any) -> Any:
        self._pass()
        pipe, used = super().pipeline(*args, **options), self._used  # type: ignore[misc]
        send = pipe.execute

        def execute(*args: Any, **options: Any) -> Any:
            replies = send(*args, **options)
            used()
            return replies

        pipe.execute = execute
        return pipe


class BreakingServer(Breaking, redis.Redis):
    pass
