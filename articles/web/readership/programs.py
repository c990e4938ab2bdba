"""Programs that view articles: crawlers, others, and HTTP libraries are known by their user agents."""

import re
from collections.abc import Mapping
from functools import lru_cache

from crawleruseragents import CHUNK_SIZE, CRAWLER_USER_AGENTS_DATA

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
