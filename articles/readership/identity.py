"""Visitor identity: digests that tell visitors apart without revealing who they are.

A visitor is a member, or a browser with the visitor cookie, or else an address with a user agent, for one day. The
cookie holds the digest of that address, so the visitor stays the same when the cookie is set or deleted that day.
"""

from functools import lru_cache

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from articles.domain.readership import REPEAT, ViewCount, Visit
from articles.readership.detection import suspicion_of, user_agent
from articles.web.client_address import Address, household, neighbourhood
from articles.web.identity import address_of, digest, reader_id
from articles.wiring import repository

COOKIE: str = settings.VISITOR_COOKIE_NAME
_SIGNED_FOR = "articles.visitors"
_DAY = 86400


def visit_of(request: HttpRequest, client_id: str = "") -> Visit:
    """Return the visit that a request makes. Raises StoreError if the day's salt is not available.

    `client_id` is an API client's name for its user. It only distinguishes users of the same visitor, so no client
    can pass for another visitor. The limit per network applies to these users too.
    """
    salt = _salt(int(repository().store.now() // _DAY))
    address = address_of(request)
    visitor = _visitor(request, address, salt)
    if client_id:
        visitor = digest("client", visitor, client_id)
    network = digest("network", salt, neighbourhood(address)) if address else ""
    return Visit(visitor, network, suspicion_of(request.headers))


def remember(request: HttpRequest, response: HttpResponse, visit: Visit, count: ViewCount) -> None:
    """Set the visitor cookie, except for members, visitors who have it, and suspect views."""
    is_eligible = settings.VISITOR_COOKIE_DAYS > 0 and count.reason in (None, REPEAT)
    if not is_eligible or reader_id(request) is not None or _from_cookie(request) is not None:
        return
    response.set_signed_cookie(
        COOKIE,
        visit.visitor,
        salt=_SIGNED_FOR,
        max_age=settings.VISITOR_COOKIE_DAYS * _DAY,
        secure=settings.SESSION_COOKIE_SECURE or request.is_secure(),
        httponly=True,
        samesite="Lax",
    )


def _visitor(request: HttpRequest, address: Address | None, salt: str) -> str:
    member = reader_id(request)
    if member is not None:
        return digest("member", str(member))
    if known := _from_cookie(request):
        return known
    return digest("address", salt, household(address) if address else "", user_agent(request.headers))


def _from_cookie(request: HttpRequest) -> str | None:
    """Return the digest in the cookie; None without a cookie, or if it is forged or too old."""
    if settings.VISITOR_COOKIE_DAYS == 0:
        return None
    max_age = settings.VISITOR_COOKIE_DAYS * _DAY
    return request.get_signed_cookie(COOKIE, default=None, salt=_SIGNED_FOR, max_age=max_age)


@lru_cache(maxsize=1)
def _salt(epoch_day: int) -> str:
    """Return the salt of a day. Only the last one is cached, so that this process forgets the old ones."""
    return repository().pageviews.get_salt(epoch_day)
