"""Posted links: validation, normalisation, their hosts, and comparison with links posted before.

Links into a reader's own network are refused: see `outgoing.addresses`.
"""

import re
from functools import lru_cache
from hashlib import blake2b
from urllib.parse import quote

from ada_url import URL, HostType

from articles.text.characters import is_unseen
from articles.text.known_sites import page_of, path_of, site_of, tracks
from articles.text.lines import InvalidInput
from outgoing.addresses import is_private

LINK_LIMIT = 2048  # characters, as typed and as stored

_SCHEMES = ("http://", "https://")
_SURROUNDING_SPACE = " \t\r\n\v\f\u00a0\u3000"  # left by copying from a page or by a Chinese input method

# Links that the parser returns unchanged: a name in lower case, without punycode and port, and signs that need no
# encoding; no segment of the path begins with a dot. Parsing takes fifteen times as long.
_SIGNS = "[A-Za-z0-9._~!$&()*+,;=:@-]*+"
_ORDINARY = re.compile(
    r"https?://(?=[^/]{1,253}/)(?![^/]*[a-z0-9-]{64})((?:[a-z0-9]+(?:-[a-z0-9]+)*\.)+[a-z]{2,})"
    rf"(?:/(?!\.|%2[Ee]){_SIGNS}(?:%[0-9A-Fa-f]{{2}}{_SIGNS})*+)++"
    r"(?:\?[A-Za-z0-9._~!$&()*+,;=:@/?%-]++)?(?:#[A-Za-z0-9._~!$&()*+,;=:@/?%-]++)?"
)

_LABEL = re.compile(r"[a-z0-9_-]{1,63}", re.ASCII)
_HOST_LIMIT = 253  # RFC 1035, without the last dot
_PERCENT = re.compile("%([0-9A-Fa-f]{2})?")
_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")  # RFC 3986, section 2.3
_PLAIN_IN_PATH = re.compile(r"[A-Za-z0-9._~!$&'()*+,;=:@-]")  # section 3.3: nothing else may stand there unencoded


def clean_link(raw: str) -> str:
    """Return the link as stored: an absolute http(s) URL of at most 2,048 ASCII characters, IDN host in punycode.

    Idempotent. Hosts without a dot are refused; IP addresses and localhost are valid, as in imports. Members can
    post public links only: see `articles.text.links`. Raises InvalidInput with "link-long", "link-empty",
    "link-characters", "link-scheme", "link-host" or "link-userinfo".
    """
    if len(raw) > LINK_LIMIT:
        raise InvalidInput("link-long", limit=LINK_LIMIT, length=len(raw))
    return raw if is_ordinary(raw) else _parsed(raw)


def is_ordinary(raw: str) -> bool:
    """Return whether it is a clean link that needs no parsing."""
    return _ORDINARY.fullmatch(raw) is not None


def _parsed(raw: str) -> str:
    """Return the link as stored, by the parser. Raises InvalidInput."""
    link = raw.strip(_SURROUNDING_SPACE)
    if not link:
        raise InvalidInput("link-empty")
    if any(char.isspace() or is_unseen(char) for char in link):
        raise InvalidInput("link-characters")
    _check_start(link)
    url = _parse(link)
    if not _is_public_form(url):
        raise InvalidInput("link-host")
    if len(url.href) > LINK_LIMIT:
        raise InvalidInput("link-long", limit=LINK_LIMIT, length=len(url.href))
    return url.href


def host_of(link: str) -> str:
    """Return the host of a clean link for display: IDN in punycode, without port and leading "www."."""
    ordinary = _ORDINARY.fullmatch(link)
    return _without_www(ordinary[1] if ordinary else _host(_parse(link)))


def clean_host(raw: str) -> str:
    """Return a typed host, or the one of a typed link, as `host_of` does. Raises InvalidInput as `clean_link`."""
    return host_of(clean_link(raw if "://" in raw else f"https://{raw.strip()}/"))


HOMES = frozenset(
    (
        "github.com", "gitlab.com", "codeberg.org", "bitbucket.org", "git.sr.ht", "gitee.com",
        "medium.com", "dev.to", "substack.com", "x.com", "mastodon.social", "bsky.app", "youtube.com",
        "zhihu.com", "juejin.cn", "jianshu.com", "cnblogs.com", "blog.csdn.net", "sites.google.com",
    )
)  # fmt: skip
"""Hosts of many authors, each below an address of their own."""

_FIRST_PART = re.compile(r"https?://[^/]*/(@?[\w.~-]{1,39})/?")


def hosts_of(link: str) -> tuple[str, ...]:
    """Return a link's host and the domains that it is in: `blog.example.org`, `example.org`; () without a host.

    Of a host in `HOMES`, an author's part precedes them: `github.com/django`.
    """
    try:
        host = host_of(link)
    except ValueError:
        return ()
    if host in HOMES and (part := _FIRST_PART.match(link)):
        return (f"{host}/{part[1].lower()}", *_domains_of(host))
    return _domains_of(host)


@lru_cache(1 << 10)
def _domains_of(host: str) -> tuple[str, ...]:
    labels = host.split(".")
    return tuple(".".join(labels[at:]) for at in range(max(1, len(labels) - 1)) if labels[at])


def home_of(link: str) -> str:
    """Return a link's host, or of a host in `HOMES` the author's part of it. Raises ValueError without a host."""
    hosts = hosts_of(link)
    return hosts[0] if hosts else host_of(link)


def link_key(link: str) -> str:
    """Return a key that is equal for clean links to the same page. It is not itself a link.

    Ignores the scheme, a leading "www.", a default port, the trailing slash of the path, an index.html before it,
    tracking parameters, needless percent-encoding, and the fragment, unless it is the route of a single-page
    application (`#!…` or `#/…`). Keeps the order of parameters, which can matter. Unifies the addresses of a page
    on some known sites.
    """
    url = _parse(link)
    host = _host(url)
    while (shorter := _without_www(host)) != host:
        host = shorter
    port = f":{url.port}" if url.port else ""
    path = _percent_normal(url.pathname, _PLAIN_IN_PATH).rstrip("/")
    parameters = [_percent_normal(part) for part in url.search.removeprefix("?").split("&")]
    if not port:
        host = site_of(host)
        if page := page_of(host, path, parameters):
            return page
    path = path_of(host, path)
    query = "&".join(part for part in parameters if part and not tracks(host, part))
    route = _percent_normal(url.hash) if url.hash.startswith(("#!", "#/")) else ""
    return f"{host}{port}{path}{'?' if query else ''}{query}{route}"


def link_digest(link: str) -> str:
    """Return the link's key as 32 hexadecimal digits (128 bits), for the name of a Redis key."""
    return blake2b(link_key(link).encode(), digest_size=16).hexdigest()


def is_same_link(one: str, other: str) -> bool:
    """Return whether both lead to the same page; no damaged link does."""
    try:
        return bool(one and other) and link_digest(one) == link_digest(other)
    except InvalidInput:
        return False


def post_digest(title: str, link: str, text: str) -> str:
    """Return the digest by which an article counts as posted before: of its link, else of title and text."""
    if link:
        return link_digest(link)
    return blake2b(f"{title}\0{text}".encode(), digest_size=16, person=b"text").hexdigest()


def copies_address(pattern: str, link: str) -> str:
    """Return the address at which an archive lists its copies of a clean link, as its `pattern` in ARCHIVES says.

    In a parameter, the link is percent-encoded; archives take it as it is in a path. They ignore the fragment.
    """
    page, is_parameter = link.partition("#")[0], "?" in pattern.partition("{link}")[0]
    return pattern.replace("{link}", quote(page, safe="") if is_parameter else page)


def _check_start(link: str) -> None:
    """Refuse a link that does not start with scheme://host, before the parser repairs it. Raises InvalidInput."""
    scheme = next((scheme for scheme in _SCHEMES if link[: len(scheme)].lower() == scheme), None)
    if scheme is None:
        raise InvalidInput("link-scheme")
    authority = re.split(r"[/\\?#]", link[len(scheme) :], maxsplit=1)[0]
    if not authority:
        raise InvalidInput("link-host")
    if "@" in authority:
        raise InvalidInput("link-userinfo")


def _parse(link: str) -> URL:
    try:
        return URL(link)
    except ValueError as error:
        raise InvalidInput("link-host") from error  # scheme and // are checked: only host or port can be wrong


def _host(url: URL) -> str:
    return url.hostname.removesuffix(".")


def _without_www(host: str) -> str:
    shorter = host.removeprefix("www.")
    return shorter if "." in shorter else host


def _is_public_form(url: URL) -> bool:
    """Return whether the host is an IP address, localhost, or a domain name with a dot."""
    host = _host(url)
    if url.host_type != HostType.DEFAULT or host == "localhost":
        return True
    labels = host.split(".")
    return len(labels) > 1 and len(host) <= _HOST_LIMIT and all(map(_is_label, labels))


def _is_label(label: str) -> bool:
    """Return whether it is a valid domain label; punycode must round-trip (ada accepts any)."""
    if not _LABEL.fullmatch(label):
        return False
    if not label.startswith("xn--"):
        return True
    try:
        return URL(f"http://{label[4:].encode().decode('punycode')}.test/").hostname == f"{label}.test"
    except ValueError:
        return False


def _percent_normal(text: str, plain: re.Pattern[str] = _UNRESERVED) -> str:
    """Decode what is plain, write the other escapes in capitals, and encode a stray percent sign."""

    def normal(octet: re.Match[str]) -> str:
        if octet[1] is None:
            return "%25"
        char = chr(int(octet[1], 16))
        return char if plain.match(char) else octet[0].upper()

    return _PERCENT.sub(normal, text)


def clean_posted_link(raw: str, *, current: str = "", allow_private: bool) -> str:
    """Return the link as `clean_link` does, unless it is private. Raises InvalidInput, also with "link-private".

    `current` is the link of an edited article, which may stay: it can come from an import.
    """
    link = clean_link(raw)
    if link != current and not allow_private and is_private(link):
        raise InvalidInput("link-private")
    return link
