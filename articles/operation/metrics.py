"""The site's metrics for Prometheus.

Label values come from fixed sets only (names of views, scripts, statuses), never from a client's input, so that
the number of series is bounded. docs/metrics.md describes them.
"""

import os
import time
from collections import Counter as Sums
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.module_loading import import_string
from prometheus_client import (
    CONTENT_TYPE_PLAIN_0_0_4,
    CollectorRegistry,
    Counter,
    Histogram,
    Metric,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector

from articles.domain.measurements import WebCounts
from articles.domain.readership import REPEAT, Suspicion
from articles.domain.refusals import CAUSES
from articles.operation import metric_files, outages

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4

disable_created_metrics()  # type: ignore[no-untyped-call]
_own = CollectorRegistry()

_REQUEST_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
_STORE_BUCKETS = (0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1.5)
REQUESTS_NAME, REQUEST_SECONDS_NAME = "site_requests_total", "site_request_seconds"
VOTES_NAME, VIEWS_NAME = "site_votes_total", "site_views_total"

REQUESTS = Counter(REQUESTS_NAME, "Requests answered.", ["view", "method", "status"], registry=_own)
REQUEST_SECONDS = Histogram(
    REQUEST_SECONDS_NAME, "Time until the response was ready.", ["view"], buckets=_REQUEST_BUCKETS, registry=_own
)
STORE_SECONDS = Histogram(
    "site_store_seconds",
    "Time of one call to the store: a script, or commands sent together.",
    ["operation"],
    buckets=_STORE_BUCKETS,
    registry=_own,
)
STORE_ERRORS = Counter(
    "site_store_errors_total", "Calls that the store did not answer.", ["operation"], registry=_own
)
VOTES = Counter(VOTES_NAME, "Votes cast, opposed or taken back.", ["outcome"], registry=_own)
POSTS = Counter("site_posts_total", "Articles posted.", registry=_own)
VIEWS = Counter(VIEWS_NAME, "Views of articles: counted (ok), or why not.", ["outcome"], registry=_own)
REFUSALS = Counter("site_refusals_total", "Refused requests and changes, by cause.", ["cause"], registry=_own)

LIMITED = Counter("site_limited_total", "Requests refused by a rate limit.", ["limit"], registry=_own)
RECENT_PAGES = Counter(
    "site_recent_pages_total", "Requests answered with a recent page, without the application.", registry=_own
)
VOTING_RINGS = Counter("site_voting_rings_total", "Articles flagged for a voting ring.", registry=_own)

_GAUGES = {
    "articles": ("site_articles", "Listed articles."),
    "keys": ("site_store_keys", "Keys in the store."),
    "memory_bytes": ("site_store_memory_bytes", "Memory used by the store."),
    "memory_limit_bytes": ("site_store_memory_limit_bytes", "Memory that the store may use."),
    "hot_age_seconds": ("site_hot_list_age_seconds", "Time since the hot list was scored."),
    "housekeeping_age_seconds": ("site_housekeeping_age_seconds", "Time since a step of housekeeping began."),
    "disk_free_bytes": ("site_disk_free_bytes", "Free space on the disk of the site's data."),
    "web_memory_bytes": ("site_web_memory_bytes", "Memory of the web server's processes."),
    "tasks": ("site_tasks", "Background tasks that wait."),
    "task_late_seconds": ("site_task_late_seconds", "Time since the first of the tasks that are due was due."),
    "failed_tasks": ("site_failed_tasks", "Background tasks that failed, and are not tried again."),
    "backup_age_seconds": ("site_backup_age_seconds", "Time since the newest backup was begun."),
}

_COUNTED_VIEWS = frozenset[str](("ok", REPEAT, *Suspicion))  # outcomes of a view that is not refused

_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
_SAFE = frozenset(("GET", "HEAD", "OPTIONS"))
_CAUSE_BY_STATUS = {
    **dict.fromkeys((400, 413, 415), "invalid"),
    401: "login",
    403: "forbidden",
    405: "method",
    429: "limit",
}
_FORM_PAGES = frozenset(
    f"accounts:{name}"
    for name in ("login", "signup", "password_change", "password_reset", "password_reset_confirm", "settings")
)
"""Pages that answer an invalid form with status 200."""


# Cached, so that each series is looked up once and counting is a single addition.
_request_seconds = cache(REQUEST_SECONDS.labels)
_requests = cache(REQUESTS.labels)
_store_seconds = cache(STORE_SECONDS.labels)
_store_errors = cache(STORE_ERRORS.labels)
_votes, _views, _refusals = cache(VOTES.labels), cache(VIEWS.labels), cache(REFUSALS.labels)


def observe(operation: str, outcome: str, seconds: float | None) -> None:
    """Count one call to the store. An `articles.repository.store.connection.Observer`."""
    if seconds is not None:
        _store_seconds(operation).observe(seconds)
    if outcome == "error":
        _store_errors(operation).inc()
        return
    if outages.STORE.began is not None:
        outages.STORE.answered()
    if operation == "readership/record_view":
        if outcome in _COUNTED_VIEWS or outcome in CAUSES:
            _views(outcome).inc()
    else:
        if operation == "votes/cast" and (outcome == "ok" or outcome in CAUSES):
            _votes(outcome).inc()
        elif operation == "articles/post" and outcome == "ok":
            POSTS.inc()
        if outcome in CAUSES:
            _refusals(outcome).inc()


def count_recent(view: str, status: int) -> None:
    _requests(view, "GET", str(status)).inc()
    RECENT_PAGES.inc()


class MetricsMiddleware:
    """Count every request, by view, method and status."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        began = time.perf_counter()
        response = self._get_response(request)
        view, method = _view(request), request.method or ""
        _request_seconds(view).observe(time.perf_counter() - began)
        _requests(view, method if method in _METHODS else "other", str(response.status_code)).inc()
        if cause := _cause(request, response, view):
            _refusals(cause).inc()
        return response


def _view(request: HttpRequest) -> str:
    """Return the name of the view, never the path."""
    if request.resolver_match:
        return request.resolver_match.view_name
    return "static" if request.path_info.startswith(settings.STATIC_URL) else "unknown"


def _cause(request: HttpRequest, response: HttpResponse, view: str) -> str | None:
    """Return why a request was refused; None if it was not, or if the store's refusal is counted already."""
    changing = request.method not in _SAFE
    if response.status_code == 200 and changing and view in _FORM_PAGES:
        return "invalid"
    if response.status_code == 403 and changing and "Authorization" not in request.headers:
        # Django marks the request after it has verified the token.
        return "forbidden" if getattr(request, "csrf_processing_done", False) else "csrf"
    return _CAUSE_BY_STATUS.get(response.status_code)


class _Figures:
    """Collector of gauges read for one response, and of the site's version."""

    def __init__(self, figures: Mapping[str, float] | None, of_machine: Mapping[str, float]) -> None:
        self._is_up = figures is not None
        self._figures = {**(figures or {}), **of_machine}

    def collect(self) -> Iterator[Metric]:
        build = GaugeMetricFamily("site_build_info", "The site's version; always 1.", labels=["version"])
        build.add_metric([settings.VERSION], 1)
        yield build
        yield GaugeMetricFamily("site_store_up", "Whether the store answers.", value=self._is_up)
        for key, (name, text) in _GAUGES.items():
            if key in self._figures:
                yield GaugeMetricFamily(name, text, value=self._figures[key])


def web_memory() -> list[int]:
    """Return the bytes that each process of this machine's web server takes; empty if none runs, or off Linux."""
    folder = import_string(settings.METRICS_FINDER)()
    return metric_files.memory_in(folder) if folder else []


def exposition(
    figures: Mapping[str, float] | None, of_machine: Mapping[str, float] = MappingProxyType({})
) -> bytes:
    """Return all metrics in Prometheus's text format: the counts of all processes, and figures.

    `figures` are those of the store, None if it is unavailable; `of_machine` are those that do not need it.
    """
    registry = CollectorRegistry()
    folder = os.environ.get(metric_files.VARIABLE)
    registry.register(MultiProcessCollector(None, folder) if folder else _own)  # type: ignore[no-untyped-call]
    registry.register(_Figures(figures, of_machine))
    return generate_latest(registry)


def read_web_counts(folder: Path | None) -> WebCounts | None:
    """Return the sums over all workers; None without a folder, or if its web server has just ended."""
    if folder is None or (began := metric_files.began_at(folder)) is None:
        return None
    counts, within = Sums[str](), Sums[str]()
    try:
        for metric in MultiProcessCollector(None, str(folder)).collect():  # type: ignore[no-untyped-call]
            for sample in metric.samples:
                if sample.name == f"{REQUEST_SECONDS_NAME}_bucket":
                    within[sample.labels["le"]] += int(sample.value)
                elif name := _charted(sample.name, sample.labels):
                    counts[name] += int(sample.value)
    except (OSError, ValueError):
        return None
    return WebCounts(began, counts[VOTES_NAME], counts[VIEWS_NAME], counts[REQUESTS_NAME], dict(within))


def _charted(name: str, labels: Mapping[str, str]) -> str:
    """Return the name of a metric if the charts show this series: votes, counted views, and errors of requests."""
    if name in (VOTES_NAME, VIEWS_NAME) and labels["outcome"] == "ok":
        return name
    return name if name == REQUESTS_NAME and labels["status"].startswith("5") else ""
