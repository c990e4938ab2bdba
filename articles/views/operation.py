"""The operator's page with the charts of the last 24 hours, `/metrics` for Prometheus, and health checks."""

import hmac
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from ipaddress import ip_address
from typing import Any, NamedTuple

from django.conf import settings
from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.web.form_pages import private_act, private_page, show_next
from articles import known_store
from articles.backup import folders
from articles.charts.plots import TimeLine, time_lines
from articles.charts.shapes import Chart, evenly
from articles.configuration.choices import chosen
from articles.doctor.checks import list_urgent
from articles.doctor.examination import Examination
from articles.doctor.machine import LEAST_FREE_BYTES
from articles.doctor.proxy import arrival_of
from articles.domain.errors import StoreError
from articles.domain.measurements import KEPT, LONGEST, Measurement
from articles.domain.store_address import ANY_SITE
from articles.formatting import units
from articles.formatting.values import grouped, prose
from articles.operation import metrics
from articles.views.ranking import chart_labels
from articles.web.identity import needs
from articles.web.wiring import repository
from tasks import discard_failed, list_failed, read_state, repeat_failed

_MOST_ROWS = 25  # maximum number of rows of the table: about one for each hour
_LEAST = 2  # minimum number of measurements for a line
_UNKNOWN = "–"

_ZERO_DECIMAL = re.compile(r"[.,]0(?![0-9])")  # a decimal that round numbers on an axis omit


def _milliseconds(time: float) -> str:
    return _("%(n)s ms") % {"n": chart_labels.number(time)}


def _in_milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1000


_Figure = tuple[str | Promise, Callable[[Measurement], float | None]]  # a name, and the figure of a measurement


class _Content(NamedTuple):
    """What a chart shows. `label` writes a value; `is_whole`: whether all values are integers."""

    title: str | Promise
    label: Callable[[float], str]
    is_whole: bool
    figures: tuple[_Figure, ...]

    def cell(self, value: float | None) -> str:
        return _UNKNOWN if value is None else self.label(value)


def _counts(title: str | Promise, figure: Callable[[Measurement], float | None]) -> _Content:
    return _Content(title, grouped, True, ((title, figure),))


_CHARTS = (
    _counts(gettext_lazy("Votes cast"), lambda one: one.votes),
    _counts(gettext_lazy("Views"), lambda one: one.views),
    _counts(gettext_lazy("Errors"), lambda one: one.errors),
    _Content(
        gettext_lazy("Response time"),
        _milliseconds,
        False,
        (
            (gettext_lazy("Median"), lambda one: _in_milliseconds(one.median_seconds)),
            (gettext_lazy("99th percentile"), lambda one: _in_milliseconds(one.p99_seconds)),
        ),
    ),
)


class DayChart(NamedTuple):
    """A chart of the last 24 hours. `summary`: its latest and its highest values in words."""

    title: str
    summary: str
    chart: Chart


class LastDay(NamedTuple):
    """The charts of the last 24 hours, and the same figures as a table; no charts of too few measurements."""

    charts: tuple[DayChart, ...] = ()
    names: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    measurements: int = 0


def last_day(measurements: Sequence[Measurement], now: float) -> LastDay:
    """Return what the page shows of these measurements, oldest first."""
    if len(measurements) < _LEAST:
        return LastDay(measurements=len(measurements))
    rows = (measurements[index] for index in evenly(len(measurements), _MOST_ROWS))
    return LastDay(
        tuple(_chart(content, measurements, now) for content in _CHARTS),
        tuple(str(name) for content in _CHARTS for name, _of in content.figures),
        tuple(
            (
                chart_labels.when(one.at),
                *(content.cell(of(one)) for content in _CHARTS for _name, of in content.figures),
            )
            for one in rows
        ),
        len(measurements),
    )


def _chart(content: _Content, measurements: Sequence[Measurement], now: float) -> DayChart:
    lines = [TimeLine(str(name), [(one.at, of(one)) for one in measurements]) for name, of in content.figures]
    chart = time_lines(
        lines,
        (now - KEPT, max(now, measurements[-1].at)),
        apart=LONGEST,
        whole=content.is_whole,
        zone=chart_labels.zone(),
        time_label=chart_labels.clock_or_day,
        value_label=lambda value: _ZERO_DECIMAL.sub("", content.label(value)),
    )
    return DayChart(str(content.title), _summary(content, lines), chart)


def _summary(content: _Content, lines: Sequence[TimeLine]) -> str:
    """Return the latest and the highest value of each line in words."""
    if len(lines) == 1:
        return _("Latest: %(latest)s. Highest: %(highest)s.") % _extremes(content, lines[0])
    text = _("%(name)s: latest %(latest)s, highest %(highest)s.")
    return prose(" ".join(text % {"name": line.name, **_extremes(content, line)} for line in lines))


def _extremes(content: _Content, line: TimeLine) -> dict[str, str]:
    known = [value for _at, value in line.values if value is not None]
    return {"latest": content.cell(line.values[-1][1]), "highest": content.cell(max(known, default=None))}


@never_cache
@require_safe
def alive(request: HttpRequest) -> HttpResponse:
    """Return 200 whenever the web server responds; to the doctor, also how its request arrived."""
    if arrival := arrival_of(request):
        return JsonResponse(asdict(arrival))
    return HttpResponse("alive\n", content_type="text/plain")


@never_cache
@require_safe
def ready(_request: HttpRequest) -> HttpResponse:
    """Return 200 if everything that a change needs works, otherwise 503 with one line for each obstacle.

    A site for members only says that there is one.
    """
    obstacles = [*_of_the_store(), *_of_the_accounts(), *_of_the_disk()]
    if obstacles and chosen.is_for_members:
        obstacles = ["not ready"]
    text = "".join(f"{obstacle}\n" for obstacle in obstacles) or "ready\n"
    return HttpResponse(text, status=503 if obstacles else 200, content_type="text/plain")


def _of_the_store() -> list[str]:
    try:
        return [f"store: {obstacle}" for obstacle in repository().inspection.list_obstacles()]
    except StoreError as error:
        return [f"store: {type(error).__name__}"]


def _of_the_accounts() -> Iterator[str]:
    try:
        known = known_store.known_site()
        with suppress(StoreError):
            if known not in (ANY_SITE, repository().site_id):
                yield "accounts: they were emptied or replaced"
    except DatabaseError as error:
        yield f"accounts: {type(error).__name__}"


def _of_the_disk() -> Iterator[str]:
    free = free_bytes()
    if free < LEAST_FREE_BYTES:
        yield f"disk: {free // 1_000_000} MB left"


def free_bytes() -> int:
    """Return the free space on the disk of DATA_DIR."""
    return shutil.disk_usage(settings.DATA_DIR).free


_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Via")


@private_page(needs("articles.see_operation"))
def operation(request: HttpRequest) -> HttpResponse:
    """Show the current figures of the store."""
    repo = repository()
    examination, inspection = Examination(repo), repo.inspection
    context = {
        "findings": list_urgent(examination),
        "version": settings.VERSION,
        "now": examination.now,
        "latency": examination.latency,
        "overview": examination.overview,
        "sync_words": _sync_label(examination.sync_policy),
        "slow_log": inspection.list_slow_commands(),
        "shards": examination.shards,
        "listed": sum(shard.articles for shard in examination.shards),
        "keys": inspection.get_figures().get("keys"),
        "hot_refreshed_at": examination.hot_rescored_at,
        "steps": examination.steps,
        **_tasks(),
        "measures": units,
        "last_day": last_day(repo.measurements.list_recent(), repo.store.now()),
    }
    return render(request, "operation/operation.html", context)


def _tasks() -> dict[str, Any]:
    """Return the template's values for background tasks; None if the accounts database is unavailable."""
    try:
        return {"tasks": read_state(), "failed_tasks": list_failed(_MOST_ROWS)}
    except DatabaseError:
        return {"tasks": None}


@private_act(needs("articles.see_operation"), page="articles:operation", button=gettext_lazy("Send"))
def failed_tasks(request: HttpRequest) -> HttpResponse:
    """Let the tasks that failed be done again, or forget them."""
    if request.POST.get("act") == "discard":
        number = discard_failed()
        told = ngettext("%(num)s task has been discarded.", "%(num)s tasks have been discarded.", number)
    else:
        number = repeat_failed()
        told = ngettext("%(num)s task will be repeated.", "%(num)s tasks will be repeated.", number)
    return show_next(request, told % {"num": grouped(number)}, f"{reverse('articles:operation')}#tasks")


def _sync_label(policy: str | None) -> str | None:
    """Return when writes reach the disk, in words; None if the server does not say."""
    labels = {
        "always": _("before it is acknowledged"),
        "everysec": _("once a second"),
        "no": _("when the system decides"),
    }
    return None if policy is None else labels.get(policy, policy)


@never_cache
@require_safe
def scrape(request: HttpRequest) -> HttpResponse:
    """Return all metrics, even without the store. Raises Http404 for clients that may not read them."""
    if not _may_read(request):
        raise Http404("metrics")
    try:
        figures = repository().inspection.get_figures()
    except StoreError:
        figures = None
    return HttpResponse(metrics.exposition(figures, _of_machine()), content_type=metrics.CONTENT_TYPE)


def _of_machine() -> dict[str, float]:
    """Return the figures that do not come from the store."""
    figures: dict[str, float] = {"disk_free_bytes": free_bytes()}
    if memory := metrics.web_memory():
        figures["web_memory_bytes"] = sum(memory)
    with suppress(DatabaseError):
        tasks = read_state()
        figures |= {"tasks": tasks.waiting, "task_late_seconds": tasks.late, "failed_tasks": tasks.failed}
    if (folder := folders.chosen_folder()) and (age := folders.age_of_newest(folder)) is not None:
        figures["backup_age_seconds"] = age
    return figures


def _may_read(request: HttpRequest) -> bool:
    """Return whether the client sends METRICS_TOKEN; if none is set, whether it is on this machine."""
    token: str = settings.METRICS_TOKEN
    if not token:
        return _is_direct(request)
    scheme, _space, sent = request.headers.get("Authorization", "").partition(" ")
    return scheme.lower() == "bearer" and hmac.compare_digest(sent.strip().encode(), token.encode())


def _is_direct(request: HttpRequest) -> bool:
    """Return whether the client is on this machine; False with a proxy, behind which every client seems to be."""
    has_proxy = settings.SECURE_PROXY_SSL_HEADER or settings.TRUSTED_PROXIES or settings.SITE_URL
    if has_proxy or any(name in request.headers for name in _FORWARDED):
        return False
    try:
        address = ip_address(request.META.get("REMOTE_ADDR", ""))
    except ValueError:
        return False
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback
