"""How long a page may wait for the store: less if it has waited for a thread."""

import time
from contextlib import nullcontext

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from articles import middleware
from articles.operation import ARRIVED_AT


@pytest.mark.parametrize(("waited", "left"), [(None, 0.9), (0.0, 0.9), (0.5, 0.4), (0.75, 0.2), (60.0, 0.2)])
def test_the_wait_for_a_thread_counts_as_waiting_for_the_store(monkeypatch, settings, waited, left):
    settings.STORE_TIMEOUT_MS = 500
    now, limits = time.monotonic(), []
    monkeypatch.setattr(middleware.time, "monotonic", lambda: now)
    monkeypatch.setattr(middleware, "answer_within", lambda seconds: limits.append(seconds) or nullcontext())
    variables = {} if waited is None else {ARRIVED_AT: now - waited}

    middleware.PagesMiddleware(lambda _request: HttpResponse())(RequestFactory().get("/", **variables))

    assert limits == [pytest.approx(left)]
