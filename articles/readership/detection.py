"""Which user agents are programs that fetch pages, rather than the browsers of readers.

The list of the package crawler-user-agents knows the well-known ones by name. The rules beside it go by what
nearly all others have in common: a word for what they do, an address for complaints, or no browser's form.
docs/hot-list.md says how well both do.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from crawleruseragents import is_crawler

from articles.domain.readership import Suspicion

LONGEST = 512
"""Characters of a user agent that are looked at."""

_DEVICE = re.compile(r"^mozilla/5\.0 \(linux; (?:u; |arm_64; )?android(?:[^()]|\([^()]*\))*\)")
"""What an Android browser says of its device: phones are called Cubot, M bot and Spider."""

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
"""Words for what such programs do, or are made for."""

_CONTACT = re.compile(
    r"\+https?: | [(;<]\s*https?:// | \bwww\. | [\w.]@[a-z0-9-]+\.[a-z] | https?://\S+$", re.VERBOSE
)
"""An address of a page or of mail, as operators of robots leave it."""

_EMBEDDED = re.compile(r"https?://(?:www\.)?bsalsa\.com")
"""The address of a component that browsers for Windows were made with; they name it, too."""

_LIBRARY = re.compile(
    r"""
    http[-_ ]?(?:client|request|lib|rb|ie\b|unit|x\b|get|kit) | lib(?:curl|fetch) | winhttp | urllib | okhttp
    | ^(?:python|java|php|perl|ruby|go|node|curl|wget|axios|got|undici|guzzle|dart|lua|rust|powershell|postman)\b
    """,
    re.VERBOSE,
)
"""Libraries for HTTP, and languages whose own ones say no more."""

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
"""A single word; `Mozilla/5.0` without a platform, or one that is "compatible" with no browser; an attack."""


def is_bot(agent: str) -> bool:
    """Whether such a user agent is no reader's. A missing or blank one is none either."""
    text = agent.strip()[:LONGEST]
    if not text or is_crawler(text):
        return True
    words = _DEVICE.sub("", text.lower())
    if any(rule.search(words) for rule in (_TRADE, _LIBRARY, _NO_BROWSER)):
        return True
    return bool(_CONTACT.search(_EMBEDDED.sub("", words)))


def suspicion_of(headers: Mapping[str, str]) -> Suspicion | None:
    """What gives a request away as nobody's reading; None if nothing does."""
    if _is_bot(user_agent(headers)):
        return Suspicion.BOT
    if _is_shown_to_nobody(headers):
        return Suspicion.PREFETCH
    purposes = " ".join(headers.get(name, "") for name in _PURPOSES).lower()
    return Suspicion.PREFETCH if any(word in purposes for word in _AHEAD) else None


def _is_shown_to_nobody(headers: Mapping[str, str]) -> bool:
    """Whether another site's page loads ours as a picture, a frame, or by a script, which shows nobody an article.

    What an old browser, which does not say, does is taken for reading.
    """
    foreign = headers.get("Sec-Fetch-Site", "") in ("cross-site", "same-site")
    return foreign and headers.get("Sec-Fetch-Dest", "document") != "document"


def user_agent(headers: Mapping[str, str]) -> str:
    return headers.get("User-Agent", "").strip()[:LONGEST]


_AGENTS_REMEMBERED = 2048


@lru_cache(maxsize=_AGENTS_REMEMBERED)
def _is_bot(agent: str) -> bool:
    return is_bot(agent)


_PURPOSES = ("Sec-Purpose", "Purpose", "X-Purpose", "X-Moz")


_AHEAD = ("prefetch", "prerender", "preview")
