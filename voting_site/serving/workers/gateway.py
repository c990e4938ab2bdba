"""Answer the web server's requests (RSGI) with the WSGI application, in a few threads.

A thread is used only while the application works: the event loop and the web server read request bodies before,
and send responses after. So slow clients hold memory and a connection, and no thread. Forms with passwords have
threads of their own. Pages that readers without an account share need no thread at all if they are recent.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.urls import Resolver404, resolve
from django.utils.translation import gettext_noop

from articles.operation import ARRIVED_AT
from voting_site.serving.workers import environ
from voting_site.serving.workers.bodies import Bodies, BrokenBody, SlowBody, TooManyBodies
from voting_site.serving.workers.environ import CHUNK_BYTES, Application, LastAnswer, Response, refuse
from voting_site.serving.workers.recent_pages import RecentPages

_Change = Callable[[dict[str, Any]], dict[str, Any]]

_log = logging.getLogger(__name__)

MOST_WAITING = 20
"""Forms of one worker that wait for their turn or are being answered; further ones are refused at once."""

_LOGIN = "/login/"


def checks_password(scope: Any) -> bool:
    """Return whether the request is a form with a password, or may wait for another server."""
    from articles.web.limits import is_slow  # noqa: PLC0415 - its apps are loaded after this

    is_form = scope.method == "POST"
    if not (is_form or scope.path.startswith(_LOGIN)):
        return False
    try:
        return is_slow(resolve(scope.path).view_name, is_form=is_form)
    except Resolver404:
        return False


class PasswordForms:
    """Forms with passwords, and what waits for other servers, in threads of their own: no page waits for it."""

    def __init__(self, threads: int, is_one: Callable[[Any], bool] = checks_password) -> None:
        self.pool = ThreadPoolExecutor(threads, "password")
        self.is_one = is_one
        self.waiting = 0

    @property
    def are_too_many(self) -> bool:
        return self.waiting >= MOST_WAITING


@dataclass(eq=False, kw_only=True)
class Gateway:
    """The server's callback: one call for each request, all in one event loop."""

    application: Application = field(kw_only=False)
    threads: int
    patience: float
    body_bytes: int  # the longest body that the application takes
    served: Callable[[], object]  # called after each response that is not a recent page
    password_forms: PasswordForms | None = None
    recent_pages: RecentPages | None = None
    current: int = 0  # requests that are being answered
    is_leaving: bool = False
    """Whether each answer closes its connection: an idle one could be closed while a request is on its way."""

    def __post_init__(self) -> None:
        self._pool = ThreadPoolExecutor(self.threads, "request")
        self._bodies = Bodies(self.patience, self.body_bytes + 1)  # so that the application sees a longer one

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin to serve in this event loop. Called by the web server."""
        if self.recent_pages:
            self.recent_pages.run_in(loop)

    def answer_at_once(self, scope: Any, protocol: Any) -> bool:
        """Answer a request without the event loop if a recent page can be sent; return whether. For any thread."""
        if self.is_leaving:
            protocol = LastAnswer(protocol)
        return self.recent_pages is not None and self.recent_pages.answer(scope, protocol)

    async def __rsgi__(self, scope: Any, protocol: Any) -> None:
        self.current += 1
        if self.is_leaving:
            protocol = LastAnswer(protocol)
        try:
            pages = self.recent_pages
            reading = pages.reading_of(scope) if pages else None
            if reading is None and (refusal := environ.refusal_of(scope)):
                refuse(scope, protocol, *refusal)
            elif pages and reading:
                arrived_at = time.monotonic()
                if page := await pages.find(reading):
                    if (headers := pages.gather(reading, scope)) is not None:
                        return pages.send(page, reading, protocol, headers)
                    run = asyncio.get_running_loop().run_in_executor
                    return await run(self._pool, pages.count_and_send, page, reading, scope, protocol)
                with pages.rendering(reading, scope, protocol) as rendering:
                    await self._answer(scope, rendering, b"", partial(rendering.begin, arrived_at))
            else:
                await self._read_and_answer(scope, protocol)
            self.served()
        finally:
            self.current -= 1

    async def _read_and_answer(self, scope: Any, protocol: Any) -> None:
        """Read the body, if there is one, and answer."""
        if not self._has_body(scope):
            return await self._answer(scope, protocol, b"")
        try:
            async with self._bodies.read(protocol) as body:
                await self._answer(scope, protocol, body)
        except BrokenBody:
            refuse(scope, protocol, 400, gettext_noop("The request is malformed."))
        except SlowBody:
            refuse(scope, protocol, 408, gettext_noop("The request took too long to arrive."))
        except TooManyBodies:
            refuse(
                scope,
                protocol,
                503,
                gettext_noop("Too many uploads at once. Try again in a moment."),
                ("Retry-After", "5"),
            )

    def _has_body(self, scope: Any) -> bool:
        """Return whether a body has to be read. A body that the application refuses as too long does not."""
        if "transfer-encoding" in scope.headers:
            return True
        length = scope.headers.get("content-length") or ""
        return length.isascii() and length.isdecimal() and 0 < int(length) <= self.body_bytes

    async def _answer(self, scope: Any, protocol: Any, body: bytes, change: _Change = dict) -> None:
        """Answer with the application, which sees the variables that `change` returns."""
        run = asyncio.get_running_loop().run_in_executor
        begin = partial(self._begin, time.monotonic(), change)
        if (forms := self.password_forms) and forms.is_one(scope):
            response = await self._answer_password_form(forms, begin, scope, protocol, body)
        else:
            response = await run(self._pool, begin, scope, protocol, body)
        if response is None:
            return
        try:
            transport = protocol.response_stream(response.status, response.headers)
            while chunk := await run(self._pool, response.next_bytes, CHUNK_BYTES):
                async with asyncio.timeout(self.patience):
                    await transport.send_bytes(chunk)
        except TimeoutError:
            _log.info("a response was cut, because its reader is too slow")
        except Exception as error:
            _log.debug("a response was not sent to its end: %s", error)
        finally:
            await run(self._pool, response.close)

    async def _answer_password_form(
        self, forms: PasswordForms, begin: Callable[..., Response | None], scope: Any, protocol: Any, body: bytes
    ) -> Response | None:
        if forms.are_too_many:
            sentence = gettext_noop("Many people are logging in right now. Please try again in a moment.")
            refuse(scope, protocol, 503, sentence, ("Retry-After", "5"))
            return None
        forms.waiting += 1
        try:
            run = asyncio.get_running_loop().run_in_executor
            return await run(forms.pool, begin, scope, protocol, body)
        finally:
            forms.waiting -= 1

    def _begin(
        self, arrived_at: float, change: _Change, scope: Any, protocol: Any, body: bytes
    ) -> Response | None:
        """Run the application in a thread. Send a short response; return a long one, to be sent bit by bit.

        `arrived_at`: when the request began to wait for the thread, by the monotonic clock.
        """
        response = Response()
        try:
            variables = change(environ.of(scope, body) | {ARRIVED_AT: arrived_at})
            response.start(self.application, variables)
            content = response.next_bytes(2 * CHUNK_BYTES)
            if len(content) >= 2 * CHUNK_BYTES:
                response.put_back(content)
                return response
        except Exception:
            _log.exception("the application failed")
            response.close()
            refuse(scope, protocol, 500, gettext_noop("Something went wrong."))
            return None
        protocol.response_bytes(response.status, response.headers, content)
        response.close()
        return None
