"""Who looks at an article: digests that tell visitors apart and do not say who they are.

A visitor is a member; or who brings the cookie; or else an address with a browser, for one day. The cookie holds
that same digest, so that a visitor is one and the same before and after it was set, and with it thrown away.
"""

from functools import lru_cache
from hashlib import blake2b

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from articles.domain.readership import REPEAT, ViewCount, Visit
from articles.readership.detection import suspicion_of, user_agent
from articles.web.client_address import Address, Proxies, client_address, household, neighbourhood
from articles.web.identity import reader_id
from articles.wiring import repository

COOKIE = "visitor"
_SIGNED_FOR = "articles.visitors"
_DAY = 86400


def visit_of(request: HttpRequest, client_id: str = "") -> Visit:
    """The visit that a request makes. Raises StoreError if the day's salt is not at hand.

    `client_id` is what the client calls its user. It tells users of one visitor apart and never stands alone, so
    that nobody can be taken for somebody else; how many a network may bring in is limited like everything else.
    """
    salt = _salt_of_today()
    address = _address(request)
    visitor = _visitor(request, address, salt)
    if client_id:
        visitor = digest("client", visitor, client_id)
    network = digest("network", salt, neighbourhood(address)) if address else ""
    return Visit(visitor, network, suspicion_of(request.headers))


def remember(request: HttpRequest, response: HttpResponse, visit: Visit, count: ViewCount) -> None:
    """Give the visitor a cookie, unless it is a member, has one, or its view is suspect."""
    wanted = settings.VISITOR_COOKIE_DAYS > 0 and count.reason in (None, REPEAT)
    if not wanted or reader_id(request) is not None or _from_cookie(request) is not None:
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


def digest(*parts: str) -> str:
    """16 hex digits of what only this site can compute. Other parts, or parts cut elsewhere, give another one."""
    found = blake2b(key=_key(settings.SECRET_KEY), digest_size=8)
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        found.update(len(raw).to_bytes(4, "big") + raw)
    return found.hexdigest()


def _visitor(request: HttpRequest, address: Address | None, salt: str) -> str:
    member = reader_id(request)
    if member is not None:
        return digest("member", str(member))
    place = household(address) if address else ""
    return _from_cookie(request) or digest("address", salt, place, user_agent(request.headers))


def _from_cookie(request: HttpRequest) -> str | None:
    """The digest in the cookie; None without one, or if it is forged or too old."""
    if settings.VISITOR_COOKIE_DAYS == 0:
        return None
    max_age = settings.VISITOR_COOKIE_DAYS * _DAY
    return request.get_signed_cookie(COOKIE, default=None, salt=_SIGNED_FOR, max_age=max_age)


def _address(request: HttpRequest) -> Address | None:
    forwarded = request.headers.get("X-Forwarded-For", "")
    return client_address(request.META.get("REMOTE_ADDR", ""), forwarded, _proxies(*settings.TRUSTED_PROXIES))


def _salt_of_today() -> str:
    return _salt(int(repository().store.now() // _DAY))


@lru_cache(maxsize=1)
def _salt(epoch_day: int) -> str:
    """The salt of a day; only the last one asked for is kept, so that an old one is gone for good."""
    return repository().pageviews.get_salt(epoch_day)


@lru_cache(maxsize=1)
def _proxies(*names: str) -> Proxies:
    return Proxies.named(names)


@lru_cache(maxsize=1)
def _key(secret: str) -> bytes:
    return blake2b(secret.encode(), person=b"articles.visitor", digest_size=32).digest()
