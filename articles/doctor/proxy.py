"""What the site sees of a request through its public address.

The doctor signs its request with the site's secret key. `/healthz` answers such a request, and no other, with what
the site sees: scheme, host and addresses.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from urllib.parse import urlsplit

from django.conf import settings
from django.core.signing import BadSignature, TimestampSigner
from django.http import HttpRequest

from articles.doctor.examination import Examination, Finding, error, fine, reason_of, warning
from articles.web.client_address import UNIX, Proxies, address_of, read_address

HEADER = "X-Site-Doctor"
_PATH = "/healthz"
_VALID_SECONDS = 60
_TIMEOUT_SECONDS = 5.0
_LONGEST_ANSWER = 4096
_WORD = "doctor"


@dataclass(frozen=True, slots=True)
class Arrival:
    """A request as the site sees it. `peer`: who connected to it; `forwarded`: X-Forwarded-For, as it came."""

    scheme: str
    host: str
    address: str
    peer: str
    forwarded: str


def _signer() -> TimestampSigner:
    return TimestampSigner(salt=__name__)


def arrival_of(request: HttpRequest) -> Arrival | None:
    """Return how the doctor's request arrived; None for any other request."""
    try:
        _signer().unsign(request.headers.get(HEADER, ""), max_age=_VALID_SECONDS)
    except BadSignature:
        return None
    address = address_of(request)
    return Arrival(
        scheme=request.scheme or "",
        host=request.get_host(),
        address=str(address or ""),
        peer=request.META.get("REMOTE_ADDR", ""),
        forwarded=request.headers.get("X-Forwarded-For", ""),
    )


def check_request(_examination: Examination) -> Iterator[Finding]:
    """Send a request through SITE_URL, and compare what the site sees with what it should."""
    if not settings.SITE_URL:
        return
    try:
        status, text = _answer()
        arrival = Arrival(**json.loads(text))
    except (OSError, HTTPException) as failure:
        yield warning(
            f"{settings.SITE_URL} cannot be reached from this machine.",
            "Check its name, its certificate and the proxy. If readers can reach it, use `--skip proxy`.",
            reason_of(failure),
        )
    except (ValueError, TypeError):
        yield warning(
            f"{settings.SITE_URL} answered {status}, but not as this site does.",
            "Check that the proxy leads to this site, and passes on the headers of requests.",
        )
    else:
        yield from judge(arrival)


def _answer() -> tuple[int, str]:
    address = urlsplit(settings.SITE_URL)
    kind = HTTPSConnection if address.scheme == "https" else HTTPConnection
    link = kind(address.hostname or "", address.port, timeout=_TIMEOUT_SECONDS)
    try:
        link.request("GET", _PATH, headers={HEADER: _signer().sign(_WORD)})
        answer: HTTPResponse = link.getresponse()
        return answer.status, answer.read(_LONGEST_ANSWER).decode("utf-8", "replace")
    finally:
        link.close()


def _is_trusted(peer: str) -> bool:
    return Proxies.named(settings.TRUSTED_PROXIES).trusts_peer(peer, read_address(peer))


def judge(arrival: Arrival) -> list[Finding]:
    """Return the problems with how the site sees a request sent to SITE_URL, or one finding that it is fine."""
    seen = f"The site sees {arrival.scheme}, {arrival.host} and the reader's address {arrival.address}."
    return list(_problems(arrival)) or [fine(seen)]


def _problems(arrival: Arrival) -> Iterator[Finding]:
    public = urlsplit(settings.SITE_URL)
    if arrival.scheme != public.scheme:
        yield error(
            f"The site sees {arrival.scheme} where readers use {public.scheme}.",
            "Let the proxy set `X-Forwarded-Proto`, set `BEHIND_PROXY=1`, and name it in `TRUSTED_PROXIES`.",
        )
    if arrival.host != public.netloc:
        yield error(
            f"The site sees the host {arrival.host} where readers use {public.netloc}.",
            "Let the proxy pass on the header `Host` unchanged.",
        )
    if arrival.forwarded and not _is_trusted(arrival.peer):
        yield warning(
            f"The site takes every reader for the proxy at {arrival.peer or 'its Unix socket'}.",
            f"Add {arrival.peer or UNIX} to `TRUSTED_PROXIES`.",
        )
    elif _is_trusted(arrival.peer) and not arrival.forwarded:
        yield warning(
            f"The proxy at {arrival.peer or 'its Unix socket'} does not say who its readers are.",
            "Let it set `X-Forwarded-For` to the reader's address.",
        )
