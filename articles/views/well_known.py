"""What programs look for at addresses that are the same on every site (RFC 8615)."""

from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth import get_user_model
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from articles.configuration.choices import chosen, closed_groups, site_address
from articles.configuration.recent import Recent
from articles.domain.lists import Order, without_groups
from articles.domain.other_apis import OtherApi, api_that_is_on
from articles.web.preferences import tag
from articles.web.wiring import repository

_VALID_DAYS = 180  # days for which a program may rely on the contact: RFC 9116 recommends less than a year


@require_safe
def security_txt(request: HttpRequest) -> HttpResponse:
    """Return whom to tell of a vulnerability (RFC 9116). Raises Http404 if the operator names no one."""
    if not chosen.SECURITY_CONTACT:
        raise Http404("no contact")
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    lines = [
        f"Contact: {chosen.SECURITY_CONTACT}",
        f"Expires: {today + timedelta(days=_VALID_DAYS):%Y-%m-%dT%H:%M:%SZ}",
        f"Preferred-Languages: {', '.join(map(tag, chosen.SITE_LANGUAGES))}",
        f"Canonical: {site_address(request)}{reverse('articles:security_txt')}",
    ]
    return HttpResponse("\n".join([*lines, ""]), content_type="text/plain; charset=utf-8")


@require_safe
def change_password(_request: HttpRequest) -> HttpResponse:
    """Lead password managers to the page. Raises Http404 on a site without passwords."""
    if not settings.PASSWORDS:
        raise Http404("no passwords")
    return redirect("accounts:password_change")


_SCHEMA = "http://nodeinfo.diaspora.software/ns/schema/"
_NEWEST = "2.1"
_SOFTWARE = "article-voting"


class _Members(NamedTuple):
    """How many there are, and how many logged in during the last 30 and 180 days."""

    total: int = 0
    month: int = 0
    half_year: int = 0


def _count_members() -> _Members:
    members = get_user_model().objects.filter(left_at=None, is_active=True)
    since = [timezone.now() - timedelta(days=days) for days in (30, 180)]
    return _Members(members.count(), *(members.filter(last_login__gte=one).count() for one in since))


_members: Recent[_Members] = Recent(_count_members, _Members(), share=0.01)


@require_safe
def nodeinfo_links(request: HttpRequest) -> HttpResponse:
    """Name the address of what the site tells of itself. Raises Http404 if it tells nothing."""
    _check_told()
    return JsonResponse(
        {"links": [{"rel": _SCHEMA + _NEWEST, "href": f"{site_address(request)}{reverse('articles:nodeinfo')}"}]}
    )


@require_safe
def nodeinfo(_request: HttpRequest, version: str = _NEWEST, *, of: OtherApi | None = None) -> HttpResponse:
    """Return software and rounded counts. Raises Http404 if the site tells nothing.

    Apps choose by the software the API that they speak. The schema wants at least one protocol of federation: the
    site has none, and claims none. `of`: at an address that only programs for this API ask.
    """
    _check_told()
    if of and not of.is_on():
        raise Http404("not told here")
    other = api_that_is_on()
    name, release = other.software if other else (_SOFTWARE, settings.VERSION)
    content = {
        "version": version,
        "software": {"name": name, "version": release},
        "protocols": [],
        "services": {"inbound": [], "outbound": []},
        "openRegistrations": chosen.SIGN_UP == "open",
        "usage": {"users": {}, "localPosts": 0} if chosen.is_for_members else _usage(),
        "metadata": {"nodeName": chosen.SITE_NAME},
    }
    return JsonResponse(content, content_type=f'application/json; profile="{_SCHEMA}{version}#"')


def _check_told() -> None:
    """Raise Http404 unless apps have to find the site, or directories may: they never know one for members."""
    if not api_that_is_on() and (chosen.is_for_members or not chosen.NODEINFO):
        raise Http404("not told")


def _usage() -> dict[str, Any]:
    members = _members.get()
    users = {"total": members.total, "activeMonth": members.month, "activeHalfyear": members.half_year}
    with without_groups(closed_groups()):  # the same for members, as caches share it
        articles = repository().lists.get_page(Order.TIME, size=1).total
    return {"users": {name: _rounded(number) for name, number in users.items()}, "localPosts": _rounded(articles)}


def _rounded(number: int) -> int:
    """Return the number to two digits, and at least to tens: one more or less must not show."""
    return round(number, min(-1, 2 - len(str(number))))
