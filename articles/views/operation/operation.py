"""The operator's page, and `/metrics` for Prometheus."""

import hmac
import re
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from articles import backup
from articles.doctor.checks import list_urgent
from articles.doctor.examination import Examination
from articles.domain.errors import ArticleNotFound, StoreError
from articles.formatting import units
from articles.operation import metrics
from articles.repository import Repository
from articles.views.operation import health
from articles.views.operation.measurements import last_day
from articles.web.identity import needs
from articles.wiring import repository

_ARTICLE_ID = re.compile("[1-9][0-9]{0,15}")
_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Via")


@never_cache
@require_safe
@needs("articles.see_operation")
def operation(request: HttpRequest) -> HttpResponse:
    """Show the current figures of the store; with `?article=`, the keys of one article too."""
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
        "hot_refreshed_at": examination.hot_rescored_at,
        "steps": examination.steps,
        "census": inspection.count_keys(),
        "footprint": inspection.measure_footprint(),
        "measures": units,
        "last_day": last_day(repo.measurements.list_recent(), repo.store.now()),
        **_article_keys(repo, request.GET.get("article", "").strip()),
    }
    return render(request, "operation/operation.html", context)


def _sync_label(policy: str | None) -> str | None:
    """Return when writes reach the disk, in words; None if the server does not say."""
    labels = {
        "always": _("before it is acknowledged"),
        "everysec": _("once a second"),
        "no": _("when the system decides"),
    }
    return None if policy is None else labels.get(policy, policy)


def _article_keys(repo: Repository, text: str) -> dict[str, Any]:
    """Return the template's values for the keys of an article: the keys, or why there are none."""
    answer: dict[str, Any] = {"asked": text, "article_keys": None, "asked_error": ""}
    if not text:
        return answer
    if not _ARTICLE_ID.fullmatch(text):
        return answer | {"asked_error": _("Enter an article number, such as 42.")}
    try:
        return answer | {"article_keys": repo.inspection.list_article_keys(int(text))}
    except ArticleNotFound:
        return answer | {"asked_error": _("There is no article %(number)s.") % {"number": text}}


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
    figures: dict[str, float] = {"disk_free_bytes": health.free_bytes()}
    if settings.BACKUP_DIR and (age := backup.age_of_newest(Path(settings.BACKUP_DIR))) is not None:
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
