"""The pages and files of ballot records, and of the chain of days; addresses are in the namespace of articles."""

import gzip
import json
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path, register_converter, reverse
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.utils.html import format_html
from django.utils.translation import gettext as _, ngettext, override
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.models import READ, BallotKey, BallotRecord
from articles.api.protocol.operations import BearerToken
from articles.api.protocol.problems import Problem, login_required
from articles.configuration.choices import chosen, site_address
from articles.domain.articles import ArticleId
from articles.domain.ballots import FORMAT, Ballot, Record, canonical, commitment_of, opening_of
from articles.formatting.values import grouped
from articles.kept_pages import in_turn
from articles.views.lists.feeds import feed_of
from articles.web.caching import unless_known, unlisted
from articles.web.feeds import Feed, Item, answer
from articles.web.identity import reader_id
from articles.web.paging import numbered_pager, page_number
from articles.web.wiring import repository
from extras.integrity import verify_ballots
from extras.integrity.models import ChainDay, MonthReport, chain_file
from extras.integrity.months import SECTIONS, Figure, months_table

DAYS_PER_PAGE = 30
_IN_FEED = 30


def _visible(request: HttpRequest, article_id: ArticleId) -> Any:
    """Return an article as the reader may see it, removed ones too. Raises ArticleNotFound."""
    return repository().articles.get(article_id, reader_id(request))


@require_safe
def record(request: HttpRequest, article_id: ArticleId) -> HttpResponse:
    """Show the record of an article and, to a member, their own ballot."""
    article = _visible(request, article_id)
    rows = list(BallotRecord.objects.filter(article_id=article_id).order_by("-version"))
    latest = Record.unpacked(bytes(rows[0].ballots)) if rows and rows[0].ballots else None
    day = ChainDay.objects.filter(day=rows[0].day).defer("text").first() if rows else None
    own = _own(request, latest) if latest else None
    context = {
        "article": article,
        "is_open": article.is_open(repository().store.now()),
        "rows": rows,
        "record": latest,
        "day": day,
        "own": own[0] if own else None,
        "is_member": reader_id(request) is not None,
        "site": site_address(request),
    }
    return unlisted(render(request, "integrity/record.html", context))


def _own(request: HttpRequest, latest: Record) -> tuple[Ballot, dict[str, Any]] | None:
    """Return the member's ballot and what proves that it is in the record; None without one. One query."""
    member = reader_id(request)
    row = None if member is None else BallotKey.objects.filter(member=member).first()
    if member is None or row is None:
        return None
    opening = opening_of(bytes(row.key), latest.article)
    place = latest.find(commitment_of(latest.article, member, opening))
    if place is None:
        return None
    ballot = latest.ballots[place]
    return ballot, {
        "ballot": ballot.line,
        "format": FORMAT,
        "head": latest.head,
        "index": place,
        "kind": "proof",
        "member": member,
        "opening": opening.hex(),
        "path": latest.path(place),
    }


@require_safe
@never_cache
def proof(request: HttpRequest, article_id: ArticleId) -> HttpResponse:
    """Return the proof of the member's recorded vote, as a file, also for a token. Others get 401, or log in."""
    try:
        member = BearerToken(READ, ())(request) or request.user
    except Problem as refusal:
        return refusal.answer
    if not member.is_authenticated:
        is_page = "text/html" in request.headers.get("Accept", "") and "Authorization" not in request.headers
        return redirect_to_login(request.get_full_path()) if is_page else login_required().answer
    _visible(request, article_id)
    row = _row_of(article_id)
    own = _own(request, Record.unpacked(bytes(row.ballots))) if row.ballots else None
    if own is None:
        raise Http404("no vote of this member is in a record")
    response = HttpResponse(canonical(own[1]), content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="ballot-{article_id}.json"'
    return response


def _row_of(article_id: ArticleId, version: str = "") -> BallotRecord:
    """Return a record, by default the latest version."""
    rows = BallotRecord.objects.filter(article_id=article_id)
    if version:
        rows = rows.filter(version=int(version)) if version.isascii() and version.isdigit() else rows.none()
    if found := rows.order_by("-version").first():
        return found
    raise Http404("no such record")


@require_safe
def ballots(request: HttpRequest, article_id: ArticleId) -> HttpResponse:
    """Return the record of an article as JSON, by default the latest version; of dropped ones, the head."""
    _visible(request, article_id)
    row = _row_of(article_id, request.GET.get("version", "")[:5])
    packed = row.packed_file()
    is_packed = "gzip" in request.headers.get("Accept-Encoding", "")
    response = HttpResponse(packed if is_packed else gzip.decompress(packed), content_type="application/json")
    if is_packed:
        response["Content-Encoding"] = "gzip"
    response["ETag"] = f'W/"{row.digest[:32]}{"" if row.ballots else "-"}"'
    patch_vary_headers(response, ("Accept-Encoding",))
    patch_cache_control(response, private=True, no_cache=True)
    return unless_known(request, response)


@require_safe
def verifier(request: HttpRequest) -> HttpResponse:  # noqa: ARG001
    """Return the program that checks ballot records."""
    return HttpResponse(Path(verify_ballots.__file__).read_bytes(), content_type="text/x-python; charset=utf-8")


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """Show the days of the chain, the latest first."""
    number = page_number(request)
    first = (number - 1) * DAYS_PER_PAGE
    chain = ChainDay.objects.order_by("-day").defer("text")
    days = list(chain[first : first + DAYS_PER_PAGE + 1])
    shown = [(day, _number_of(day.number)) for day in days[:DAYS_PER_PAGE]]
    head = days[0] if days and number == 1 else chain.first()
    pager = numbered_pager(number, has_next=len(days) > DAYS_PER_PAGE)
    months = list(MonthReport.objects.order_by("-month"))
    sections = _sections(months[0]) if months else []
    context = {"days": shown, "head": head, "pager": pager, "months": months, "sections": sections}
    return render(request, "integrity/index.html", context)


def _sections(report: MonthReport) -> list[tuple[object, list[tuple[object, Figure]]]]:
    """Return the titles of the parts of a report, each with what was counted, and its number."""
    figures = json.loads(report.text)["figures"]
    parts = (
        (title, [(label, figures[name]) for name, label in labels.items() if name in figures])
        for title, labels in SECTIONS.values()
    )
    return [part for part in parts if part[1]]


@require_safe
def month(request: HttpRequest, month: date) -> HttpResponse:
    """Show the report of a month."""
    report = get_object_or_404(MonthReport, month=month)
    return render(request, "integrity/month.html", {"report": report, "sections": _sections(report)})


@require_safe
def month_json(request: HttpRequest, month: date) -> HttpResponse:  # noqa: ARG001
    """Return the report of a month, as the chain has its hash."""
    return HttpResponse(get_object_or_404(MonthReport, month=month).text, content_type="application/json")


@require_safe
def months_csv(request: HttpRequest) -> HttpResponse:  # noqa: ARG001
    """Return all reports: a line for each month and figure."""
    response = HttpResponse(months_table(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="integrity.csv"'
    return response


@require_safe
def chain(request: HttpRequest) -> HttpResponse:  # noqa: ARG001
    """Return all days of the chain, the oldest first, without what was recorded on them."""
    return HttpResponse(chain_file(), content_type="application/json")


@require_safe
def of_day(request: HttpRequest, day: date) -> HttpResponse:  # noqa: ARG001
    """Return a day of the chain, as its hash is taken. It is the same for all readers."""
    return HttpResponse(get_object_or_404(ChainDay, day=day).text, content_type="application/json")


@require_safe
@in_turn
def feed(request: HttpRequest, kind: str) -> HttpResponse:
    """Return the feed of the chain: its readers keep copies of the hashes."""
    days = list(ChainDay.objects.order_by("-day").defer("text")[:_IN_FEED])
    with override(chosen.language):
        about = _("The hash of each day’s ballot records.")
        of_site = feed_of(request, _("Ballot records"), about, reverse("articles:integrity"), request.path)
        reports = list(MonthReport.objects.order_by("-month")[:_IN_FEED])
        facts = [(day.day.isoformat(), day.hash) for day in days] + [(one.digest,) for one in reports]
        items = [*_report_items(of_site, reports), *_items(of_site, days)]
        return answer(request, of_site, facts, items, kind, repository().store.now())


def _number_of(records: int) -> str:
    return ngettext("%(num)s record", "%(num)s records", records) % {"num": grouped(records)}


def _report_items(feed: Feed, reports: Iterable[MonthReport]) -> Iterable[Item]:
    for report in reports:
        page = reverse("articles:integrity_month", args=[report.month])
        title = _("Report of %(month)s") % {"month": f"{report.month:%Y-%m}"}
        yield _item(feed, title, page, f"integrity/{report.month:%Y-%m}", report.day, report.digest)


def _items(feed: Feed, days: Iterable[ChainDay]) -> Iterable[Item]:
    for day in days:
        page, name = reverse("articles:chain_day", args=[day.day]), day.day.isoformat()
        ended = day.day + timedelta(days=1)
        yield _item(feed, f"{name}: {day.hash}", page, f"integrity/{name}", ended, _number_of(day.number))


def _item(feed: Feed, title: str, page: str, name: str, day: date, text: str) -> Item:
    at, address = datetime.combine(day, time(), UTC), feed.site + page
    return {
        "title": title,
        "link": address,
        "comments": address,
        "description": format_html("<p>{}</p>", text),
        "content": "",
        "unique_id": feed.id_of(name, at.timestamp()),
        "unique_id_is_permalink": False,
        "pubdate": at,
        "updateddate": at,
    }


class DayConverter:
    """A day such as 2026-11-27."""

    regex = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
    to_python, to_url = staticmethod(date.fromisoformat), staticmethod(date.isoformat)


class MonthConverter:
    """A month such as 2026-11, as its first day."""

    regex = "[0-9]{4}-(?:0[1-9]|1[0-2])"

    def to_python(self, value: str) -> date:
        return date.fromisoformat(f"{value}-01")

    def to_url(self, value: date) -> str:
        return f"{value:%Y-%m}"


register_converter(DayConverter, "day")
register_converter(MonthConverter, "month")

urlpatterns = [
    path("articles/<article_id:article_id>/ballots/", record, name="ballot_record"),
    path("articles/<article_id:article_id>/ballots/proof.json", proof, name="ballot_proof"),
    path("articles/<article_id:article_id>/ballots.json", ballots, name="ballots"),
    path("integrity/", index, name="integrity"),
    path("integrity/verify_ballots.py", verifier, name="verifier"),
    path("integrity/chain.json", chain, name="chain"),
    path("integrity/<day:day>.json", of_day, name="chain_day"),
    path("integrity/<month:month>/", month, name="integrity_month"),
    path("integrity/<month:month>.json", month_json, name="month_json"),
    path("integrity/months.csv", months_csv, name="months_csv"),
    path("integrity/days.<feed_kind:kind>", feed, name="chain_feed"),
]
