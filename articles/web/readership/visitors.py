"""Who views an article: digests tell visitors apart without revealing who they are, and programs are recognised.

Crawlers, other programs and prefetching browsers make requests that no reader made.
"""

import re
from collections import deque
from collections.abc import Mapping
from functools import lru_cache

from crawleruseragents import CHUNK_SIZE, CRAWLER_USER_AGENTS_DATA
from django.conf import settings
from django.http import HttpRequest, HttpResponse

from articles.domain.readership import REPEAT, Suspicion, Visit
from articles.web.client_address import Address, address_of, digest, household, neighbourhood
from articles.web.identity import reader_id
from articles.web.wiring import repository

COOKIE: str = settings.VISITOR_COOKIE_NAME
_SIGNED_FOR = "articles.visitors"
_DAY = 86400
_COOKIE_SECONDS = 30 * _DAY


def visit_of(request: HttpRequest, client_id: str = "") -> Visit:
    """Return the visit that a request makes. Raises StoreError if the day's salt is not available.

    `client_id` is an API client's name for its user. It only distinguishes users of the same visitor, so no client
    can pass for another visitor. The limit per network applies to these users too.
    """
    salt = _salt(_today())
    address = address_of(request)
    visitor = _visitor(request, address, salt)
    if client_id:
        visitor = digest("client", visitor, client_id)
    network = _network(salt, address) if address else ""
    return Visit(visitor, network, suspicion_of(_headers_of(request)))


@lru_cache(maxsize=2048)
def _network(salt: str, address: Address) -> str:
    return digest("network", salt, neighbourhood(address))


def remember(request: HttpRequest, response: HttpResponse, visit: Visit, reason: str | None) -> None:
    """Set the visitor cookie, except for members, visitors who have it, and suspect views.

    `reason`: why the view does not count; None if it counts, or if that is unknown.
    """
    is_eligible = reason in (None, REPEAT)
    is_known = request.COOKIES.get(COOKIE, "").startswith(f"{visit.visitor}:")  # which `visit_of` has verified
    if not is_eligible or is_known or reader_id(request) is not None:
        return
    response.set_signed_cookie(
        COOKIE,
        visit.visitor,
        salt=_SIGNED_FOR,
        max_age=_COOKIE_SECONDS,
        secure=settings.SESSION_COOKIE_SECURE or request.is_secure(),
        httponly=True,
        samesite="Lax",
    )


def _visitor(request: HttpRequest, address: Address | None, salt: str) -> str:
    member = reader_id(request)
    if member is not None:
        return digest("member", str(member))
    cookie = request.get_signed_cookie(COOKIE, default=None, salt=_SIGNED_FOR, max_age=_COOKIE_SECONDS)
    if cookie:  # neither forged nor too old
        return cookie
    return digest("address", salt, household(address) if address else "", user_agent(_headers_of(request)))


def _today() -> int:
    return int(repository().store.now() // _DAY)


@lru_cache(maxsize=1)
def _salt(epoch_day: int) -> str:
    """Return the salt of a day. Only the last one is cached, so that this process forgets the old ones."""
    salt = repository().pageviews.get_salt(epoch_day)
    _last_day.append(epoch_day)
    return salt


_last_day: deque[int] = deque(maxlen=1)


def is_known_at_once() -> bool:
    """Return whether `visit_of` needs no exchange with the store."""
    return _today() in _last_day


LONGEST = 512  # characters of a user agent that are examined

_DEVICE = re.compile(
    r"\(linux; ?(?:[\w-]+; ?)?(?:android|adr)\b(?:[^()]|\([^()]*\))*?(?:build/[^;()]*|(?=\)))", re.IGNORECASE
)
"""The device in an Android browser's user agent, up to its build: there are phones named Cubot and Spider."""

NARROWED: Mapping[str, str] = {
    r"AP3A\.240617\.008": "",  # the build of Android 15 on phones by OPPO, OnePlus and realme
    "MetaIAB Facebook": "",  # the browser in Facebook's app
    "Fluid": "",  # browsers for one site on a Mac
    "Sogou": "",  # Sogou's browsers; its crawlers say that they are spiders
    "Butterfly": "",  # phones by HTC, in other forms than Android's; the crawler leaves its address
    "Sonic": "",  # devices by ViewSonic; likewise
    "Fever": "Fever/",  # phones by Wiko
    "WhatsApp": "^WhatsApp",  # the browser in its app names it last, what fetches a preview first
    "Viber": "^Viber",  # likewise
    "Blackboard": "Blackboard Safeassign",  # the app that students read in is not that crawler
    r"008\/": r"\b008/",  # numbers of models and versions that end in 008
}
"""Patterns of the list that match readers' browsers, and what is left of them; "" for nothing."""

_LIST = [pattern for one in CRAWLER_USER_AGENTS_DATA if (pattern := NARROWED.get(one["pattern"], one["pattern"]))]
_LISTED = [re.compile("|".join(_LIST[at : at + CHUNK_SIZE])) for at in range(0, len(_LIST), CHUNK_SIZE)]
"""Several expressions, as in the package: one of all would take five times as long."""

_TRADE = re.compile(
    r"""
    (?<!cu)bots?(?![a-z]) | robot
    | crawl | spider | scrap(?:e|ing|y) | fetch | slurp | archiv | index(?:er|ing) | harvest | extract | collector
    | monitor | check(?:er|\b) | validat | scan(?:ner|s)?\b | verif | probe | inspect | analy[sz]er | audit
    | detector | synthetic | measurement | research | lookup | diagnostic
    | preview | screenshot | thumbnail | favicon | snippet | unfurl | (?:email|image)proxy | external(?:hit|ua|ads)
    | resolver | parser | automat
    | feed(?!-) | \brss | syndication | aggregat
    | headless | phantomjs | puppeteer | playwright | selenium | webdriver | wkhtmlto | webkit2png
    | user[-_ ]?agent(?!:\ mozilla)
    | \bagent-[a-z] | chatgpt\ agent | [a-z]-user\b | assistant | cli(?:\b|_) | amazon-(?:kendra|nova|q)
    """,
    re.VERBOSE,
)
"""Words for the tasks of such programs."""

_CONTACT = re.compile(
    r"\+https?: | [(;<]\s*https?:// | \bwww\. | [\w.]@[a-z0-9-]+\.[a-z] | https?://\S+$", re.VERBOSE
)
"""A contact address, web or mail, as operators of robots leave it."""

_EMBEDDED = re.compile(r"https?://(?:www\.)?bsalsa\.com")
"""The address of a component of Windows browsers, which name it in their user agent."""

_LIBRARY = re.compile(
    r"""
    http[-_ ]?(?:client|request|lib|rb|ie\b|unit|x\b|get|kit) | lib(?:curl|fetch) | winhttp | urllib | okhttp
    | node(?:\.js|/v[0-9]) | cpython
    | ^(?:python|java|php|perl|ruby|go|node|curl|wget|axios|got|undici|guzzle|dart|lua|rust|powershell|postman)\b
    """,
    re.VERBOSE,
)
"""HTTP libraries, and languages whose standard library sends only their name."""

_NO_BROWSER = re.compile(
    r"""
    ^(?!dillo|e?links|lynx|netsurf|w3m|docomo|nokia|ucweb|iphone|ipad|apple-i|smarttv)[\w.:+-]+(?:/[\w.+-]*)?$
    | ^mozilla/[45]\.0(?:\s+[^\s;()]+)?$
    | ^mozilla/5\.0\s+\(compatible(?:\)|;(?!\s*(?:msie\ ?\d|konqueror|linux|u;|windows|mac|wv|opera)
      |[\w\s.]*;\ (?:msie\ \d|windows\ nt)))
    | like\ gecko\)?;\ ?compatible | gecko\).*\(compatible;
    | [$]\{ | \{\{ | <\?
    | google[- ](?:publisher|ads|adwords|assess|search\ console|page\ speed|youtube)
    | \bgoogle-[a-z] | [a-z]-google\b
    """,
    re.VERBOSE,
)
"""A single word; `Mozilla/5.0` without a platform; "compatible", but not with a browser; an injection attempt."""


@lru_cache(maxsize=2048)
def is_bot(agent: str) -> bool:
    """Return whether a user agent is a program's and not a reader's. A missing or blank one is a program's."""
    text = _DEVICE.sub("(", agent.strip()[:LONGEST])
    if not text or any(patterns.search(text) for patterns in _LISTED):
        return True
    words = text.lower()
    if any(rule.search(words) for rule in (_TRADE, _LIBRARY, _NO_BROWSER)):
        return True
    return bool(_CONTACT.search(_EMBEDDED.sub("", words)))


def suspicion_of(headers: Mapping[str, str]) -> Suspicion | None:
    """Return why a request is not from a reader; None if nothing says so."""
    if is_bot(user_agent(headers)):
        return Suspicion.BOT
    if _is_embedded(headers):
        return Suspicion.PREFETCH
    purposes = " ".join(headers.get(name, "") for name in _PURPOSES).lower()
    return Suspicion.PREFETCH if any(word in purposes for word in _AHEAD) else None


def _is_embedded(headers: Mapping[str, str]) -> bool:
    """Return whether another site's page loads this one as an image, in a frame, or by a script.

    None of these shows a reader the article. Old browsers, which do not send the headers, count as readers.
    """
    foreign = headers.get("Sec-Fetch-Site", "") in ("cross-site", "same-site")
    return foreign and headers.get("Sec-Fetch-Dest", "document") != "document"


def user_agent(headers: Mapping[str, str]) -> str:
    """Return the User-Agent header, stripped and cut to LONGEST characters."""
    return headers.get("User-Agent", "").strip()[:LONGEST]


_PURPOSES = ("Sec-Purpose", "Purpose", "X-Purpose", "X-Moz")


_AHEAD = ("prefetch", "prerender", "preview")


_READ = ("User-Agent", "Sec-Fetch-Site", "Sec-Fetch-Dest", *_PURPOSES)
_VARIABLES = {f"HTTP_{name.upper().replace('-', '_')}": name for name in _READ}


def _headers_of(request: HttpRequest) -> dict[str, str]:
    """Return the headers that are read here: a mapping of all takes longer than the rest of `visit_of`."""
    return {name: request.META[variable] for variable, name in _VARIABLES.items() if variable in request.META}
