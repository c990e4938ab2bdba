"""granian in a worker's own event loop, on a socket that listens already.

granian hands each request to the event loop, from the thread that has read it. What the gateway can answer at once
is answered in that thread instead: a turn of the event loop, with its change of threads, costs as much as the
answer. granian has no option for this, so its scheduler is replaced.
"""

import asyncio
import logging
import os
import socket
from asyncio.tasks import _enter_task, _leave_task
from collections.abc import Callable
from functools import partial
from typing import Any

import granian._futures
import granian._granian
from granian._granian import CallbackScheduler
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server.embed import AsyncWorker, Server as Granian

from voting_site.serving.listener import BACKLOG
from voting_site.serving.workers.gateway import Gateway

BUFFER_BYTES = 65_536  # bytes of a request's headers, and of a body that has not been read

_OUR_LOGGING: dict[str, Any] = {"loggers": {"_granian": {}}, "handlers": {}, "formatters": {}}

_futures: Any = granian._futures
_granian: Any = granian._granian  # some of its stubs differ from it
_wrap_target: Any = AsyncWorker.wrap_target

_log = logging.getLogger(__name__)


class _Scheduler(CallbackScheduler):
    """Called for each request in a thread of granian's."""

    __slots__ = []

    def __new__(cls, loop: asyncio.AbstractEventLoop, gateway: Gateway) -> "_Scheduler":
        in_loop = _futures._future_watcher_wrapper(gateway.__rsgi__)
        made: _Scheduler = super().__new__(  # type: ignore[call-arg] # missing in its stub
            cls, loop, in_loop, None, partial(_enter_task, loop), partial(_leave_task, loop)
        )
        return made

    def __init__(self, loop: asyncio.AbstractEventLoop, gateway: Gateway) -> None:
        super().__init__()
        in_loop = _futures._cbsched_aioschedule(
            loop, self._ctx, _futures._future_watcher_wrapper(gateway.__rsgi__)
        )
        self._schedule_fn = at_once_or(gateway.answer_at_once, in_loop)


async def _serve(
    number: int, end: Any, gateway: Gateway, sockets: Any, loop: asyncio.AbstractEventLoop, *options: Any
) -> None:
    """Do as granian's `_spawn_rsgi_worker` does, with another scheduler."""
    threads, http, ssl = options[:5], options[6:11], options[12]  # without the task, the log and the scope
    ended = loop.create_future()
    end.add_cb(lambda: loop.call_soon_threadsafe(ended.set_result, None))
    gateway.__rsgi_init__(loop)
    worker = _granian.RSGIWorker(number, sockets, None, *threads, *http, *ssl, (None, None))
    worker.serve_async(_Scheduler(loop, gateway), loop, end)
    await ended


class Server(Granian):
    """A server for this process's gateway. `patience`: seconds for a client to send a request's headers."""

    def __init__(self, gateway: Gateway, listener: socket.socket, *, patience: float, connections: int) -> None:
        super().__init__(
            gateway,
            interface=Interfaces.RSGI,
            http=HTTPModes.http1,
            websockets=False,
            backlog=BACKLOG,
            backpressure=connections,
            http1_settings=HTTP1Settings(header_read_timeout=int(patience * 1000), max_buffer_size=BUFFER_BYTES),
            log_level=LogLevels.error,
            log_dictconfig=_OUR_LOGGING,
        )
        self._listener = listener

    def _init_shared_socket(self) -> None:
        self._shd = _granian.SocketHolder(os.dup(self._listener.fileno()), False, BACKLOG)

    _spawn_rsgi_worker = staticmethod(_wrap_target(_serve))


def at_once_or(answer: Callable[[Any, Any], bool], schedule: Callable[[Any], None]) -> Callable[[Any], None]:
    """Return a scheduler that lets `answer` answer a request at once, and schedules the others."""

    def answer_or_schedule(watcher: Any) -> None:
        try:
            is_answered = answer(watcher.scope, watcher.proto)
        except Exception as error:
            _log.exception("a recent page was not sent")
            watcher.err(error)
            return
        if is_answered:
            watcher.done()
        else:
            schedule(watcher)

    return answer_or_schedule
