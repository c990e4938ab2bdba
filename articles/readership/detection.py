"""Detection of requests that no reader made: by crawlers and other programs, and by prefetching browsers.

The package crawler-user-agents lists the well-known programs by name. The rules below match what nearly all others
have in common: a word for their task, a contact address, or a form that no browser has. docs/hot-list.md gives the
accuracy of both.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from crawleruseragents import is_crawler

from articles.domain.readership import Suspicion

LONGEST = 512
"""Characters of a user agent that are examined."""

_DEVICE = re.compile(r"^mozilla/5\.0 \(linux; (?:u; |arm_64; )?android(?:[^()]|\([^()]*\))*\)")
"""The device part of an Android browser's user agent: there are phones named Cubot, M bot and Spider."""

_TRADE = re.compile(
    r"""
    (?<!cu)bots?(?![a-z]) | robot
    | crawl | spider | scrap(?:e|ing|y) | fetch | slurp | archiv | index(?:er|ing) | harvest | extract | collector
    | monitor | check(?:er|\b) | validat | scan(?:ner|s)?\b | verif | probe | inspect | analy[sz]er | audit
    | detector | synthetic | measurement | research | lookup | diagnostic
    | preview | screenshot | thumbnail | snippet | unfurl | (?:email|image)proxy | external(?:hit|ua|ads)
    | feed(?!-) | \brss | syndication | aggregat
    | headless | phantomjs | puppeteer | playwright | selenium | webdriver
    | user[-_ ]?agent
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
    | ^(?:python|java|php|perl|ruby|go|node|curl|wget|axios|got|undici|guzzle|dart|lua|rust|powershell|postman)\b
    """,
    re.VERBOSE,
)
"""HTTP libraries, and languages whose standard library sends only their name."""

_NO_BROWSER = re.compile(
    r"""
    ^(?!dillo|e?links|lynx|netsurf|w3m|docomo|nokia|ucweb|iphone|ipad|apple-i|smarttv)[\w.:+-]+(?:/[\w.+-]*)?$
    | ^mozilla/[45]\.0(?:\s+[^\s;()]+)?$
    | ^mozilla/5\.0\s+\(compatible(?:\)|;(?!\s*(?:msie\ ?\d|konqueror|linux|u;|windows|mac|wv|opera)))
    | [$]\{ | \{\{ | <\?
    | google[- ](?:publisher|ads|adwords|assess|search\ console|page\ speed|youtube)
    """,
    re.VERBOSE,
)
"""A single word; `Mozilla/5.0` without a platform, or "compatible" with no browser; an injection attempt."""


def is_bot(agent: str) -> bool:
    """Return whether a user agent is a program's and not a reader's. A missing or blank one is a program's."""
    text = agent.strip()[:LONGEST]
    if not text or is_crawler(text):
        return True
    words = _DEVICE.sub("", text.lower())
    if any(rule.search(words) for rule in (_TRADE, _LIBRARY, _NO_BROWSER)):
        return True
    return bool(_CONTACT.search(_EMBEDDED.sub("", words)))


def suspicion_of(headers: Mapping[str, str]) -> Suspicion | None:
    """Return why a request is not from a reader; None if nothing says so."""
    if _is_bot(user_agent(headers)):
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


_AGENTS_REMEMBERED = 2048


@lru_cache(maxsize=_AGENTS_REMEMBERED)
def _is_bot(agent: str) -> bool:
    return is_bot(agent)


_PURPOSES = ("Sec-Purpose", "Purpose", "X-Purpose", "X-Moz")


_AHEAD = ("prefetch", "prerender", "preview")
