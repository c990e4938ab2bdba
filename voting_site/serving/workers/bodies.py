"""Read request bodies before a thread is used: a slow body must not hold one."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager

from granian.rsgi import ProtocolClosed, ProtocolError  # type: ignore[attr-defined] # missing in its stubs

BYTES_PER_SECOND = 50_000
"""Time limits grow by a second for this many bytes, so that a large form over a slow line arrives."""

SHORT_BODY = 4096
"""Bytes of each body for which there is always memory: votes and logins are shorter, connections are limited."""

BYTES_AT_ONCE = 64 * 1024 * 1024  # what one process keeps in memory of longer bodies at the same time


class BrokenBody(Exception):
    """The body is malformed, or its connection was closed."""


class SlowBody(Exception):
    """The client sends its body too slowly."""


class TooManyBodies(Exception):
    """The process has no memory left for another body."""


class Bodies:
    """Bodies of the requests that one process is answering. All methods run in its event loop."""

    def __init__(self, patience: float, at_most: int) -> None:
        """`patience` is the time limit of an empty body in seconds, `at_most` the bytes read of each."""
        self._patience = patience
        self._at_most = at_most
        self._held = 0

    @asynccontextmanager
    async def read(self, chunks: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
        """Yield the body, or its first `at_most` bytes.

        The part beyond a short body counts as held until the end of the block. Raises SlowBody, BrokenBody and
        TooManyBodies.
        """
        body = bytearray()
        try:
            await self._collect(chunks, body)
            yield bytes(body[: self._at_most])
        finally:
            self._held -= _counted(len(body))

    async def _collect(self, chunks: AsyncIterable[bytes], body: bytearray) -> None:
        clock = asyncio.get_running_loop().time
        end = clock() + self._patience
        try:
            async with asyncio.timeout_at(end) as limit:
                async for chunk in chunks:
                    more = _counted(len(body) + len(chunk)) - _counted(len(body))
                    if more and self._held + more > BYTES_AT_ONCE:
                        raise TooManyBodies
                    self._held += more
                    body += chunk
                    if len(body) >= self._at_most:
                        break
                    limit.reschedule(end + len(body) / BYTES_PER_SECOND)
        except TimeoutError as error:
            raise SlowBody from error
        except (ProtocolClosed, ProtocolError) as error:
            raise BrokenBody from error


def _counted(length: int) -> int:
    """Return how many bytes of a body count against BYTES_AT_ONCE."""
    return max(0, length - SHORT_BODY)
