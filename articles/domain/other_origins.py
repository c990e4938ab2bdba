"""Which addresses programs in pages of other origins may use, and the headers with which browsers let them."""

from articles.domain import extras

API = "/api/"
_DOCUMENTATION = f"{API}docs"
_OF_FEEDS = ("/feeds/", "/following/", *extras.other_origins())
_FEEDS = (".atom", ".rss", ".json")
OF_PROGRAMS = {"/.well-known/nodeinfo", "/nodeinfo/2.1"}
"""Addresses for programs; extras and `other_apis.register` add more."""


HEADERS = (
    ("Access-Control-Allow-Origin", "*"),
    ("Access-Control-Expose-Headers", "Allow, ETag, Link, Location, Retry-After, WWW-Authenticate"),
)
"""Every origin may read the answer, with these headers beside those that browsers always show."""

METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE"
SENT = (
    "Authorization, Cache-Control, Content-Type, If-Modified-Since, If-None-Match, Pragma, User-Agent, "
    "X-Requested-With"
)
"""Headers that programs may send, or that their libraries add: not X-CSRFToken, which goes with a session."""


def is_open(path: str) -> bool:
    """Return whether the address is one of the API, of a feed, or another for programs."""
    if path.startswith(API):
        return path != _DOCUMENTATION
    return path in OF_PROGRAMS or (path.startswith(_OF_FEEDS) and path.endswith(_FEEDS))
