"""A separate process that archives and views, with its own database file, and dies at a given step.

It reads orders, one JSON object per line, and answers each with one line. It runs each order in forks, because the
death must be real (SIGKILL), and has no threads or connections itself.

    {"do": …, "url", "shards", "now", "id", "visitors", "die_at"} -> {"statuses": [0 or -9 …], "answers": […]}

`die_at` counts the steps: each packet to the store and each database statement is one step before it is sent and
one after its answer. Several `visitors` view at the same moment, each in its own process.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any

import django

from articles.repository.store import scripts

Order = dict[str, Any]

_OF_ORDERS = (
    "articles.models",
    "articles.web.readership.archive",
    "articles.web.readership.record",
    "tests.rules",
)
"""Modules that every fork needs, imported once before."""


class Countdown:
    """A counter that kills this process at the given step; 0 means never."""

    def __init__(self, die_at: int) -> None:
        self._left = die_at

    def step(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def before(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **kwargs: Any) -> Any:
            self.step()
            return call(*args, **kwargs)

        return counted

    def after(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **kwargs: Any) -> Any:
            answer = call(*args, **kwargs)
            self.step()
            return answer

        return counted

    def execute(self, execute: Callable[..., Any], *args: Any) -> Any:
        return self.after(self.before(execute))(*args)


def follow(order: Order) -> Any:
    """Carry out the order in a fork."""
    from django.db import connection
    from redis.connection import AbstractConnection as Wire

    countdown = Countdown(order["die_at"])
    Wire.send_packed_command = countdown.before(Wire.send_packed_command)  # type: ignore[method-assign]
    Wire.read_response = countdown.after(Wire.read_response)  # type: ignore[method-assign]
    connection.ensure_connection()
    with connection.execute_wrapper(countdown.execute):
        return do(order)


def do(order: Order) -> Any:
    from articles.domain.readership import Visit
    from articles.models import ArchivedViews
    from articles.web.readership import archive
    from articles.web.readership.record import record_view
    from tests.rules import connect

    repository = connect(order["url"], shards=order["shards"], clock=lambda: order["now"])
    match order["do"]:
        case "archive":
            return archive.put_away(repository, at_most=1000, budget=60)
        case "view":
            count = record_view(repository, order["id"], Visit(order["visitors"][0]))
            return [count.reason, count.pv, count.uv]
        case "sweep":
            return archive.sweep(repository, at_most=1000)
        case "rows":
            return sorted(ArchivedViews.objects.values_list("article_id", "pv", "uv"))
        case "clear":
            return ArchivedViews.objects.all().delete()[0]
    raise ValueError(order["do"])


def begin(order: Order, start: tuple[int, int]) -> tuple[int, int]:
    """Fork a child that waits until `start` is closed; return its id and where its answer will be."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    status = 1
    with suppress(BaseException):
        os.close(start[1])
        os.read(start[0], 1)
        os.write(writing, json.dumps(follow(order)).encode())
        status = 0
    os._exit(status)


def ended(child: int, reading: int) -> tuple[int, Any]:
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read()
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), json.loads(told) if told else None


def answer(order: Order) -> dict[str, list[Any]]:
    start = os.pipe()
    visitors = order["visitors"] or [None]
    children = [begin(order | {"visitors": [visitor]}, start) for visitor in visitors]
    os.close(start[1])
    found = [ended(*child) for child in children]
    os.close(start[0])
    return {"statuses": [status for status, _ in found], "answers": [told for _, told in found]}


def main() -> None:
    django.setup()
    from django.core.management import call_command
    from django.db import connection

    for module in _OF_ORDERS:
        import_module(module)
    for name in scripts.names():
        scripts.digest(name)
    call_command("migrate", "articles", interactive=False, verbosity=0)
    connection.close()
    say("ready")
    for line in sys.stdin:
        say(json.dumps(answer(json.loads(line))))


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
