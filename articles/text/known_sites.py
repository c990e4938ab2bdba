"""Known sites where several addresses lead to the same page, and what their share buttons add.

A rule is here only if the site itself treats the addresses as one. No package has a list of tracking parameters
that fits: they load it from elsewhere, have another licence, or take names such as `pid`, which may select a page.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

# Added by mailings, advertisements and share buttons to track readers; the page is the same without them.
# Only names without another use: `ref`, `source`, `id`, `v` and `si` may select the page.
TRACKING_PREFIXES = ("utm_", "mtm_")  # Urchin (now Google Analytics), Matomo
TRACKING_PARAMETERS = frozenset(
    (
        "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "gad_source", "gad_campaignid", "srsltid",  # Google
        "fbclid", "mibextid", "igshid", "igsh",  # Facebook, Instagram
        "msclkid", "yclid", "ysclid", "_openstat",  # Microsoft, Yandex
        "twclid", "ref_src", "ref_url", "ttclid", "li_fat_id",  # Twitter, TikTok, LinkedIn
        "mc_cid", "mc_eid", "mkt_tok", "vero_id", "vero_conv", "oly_anon_id", "oly_enc_id",  # mailings
        "_hsenc", "_hsmi", "__hssc", "__hstc", "__hsfp", "hsctatracking",  # HubSpot
        "spm", "_ga", "_gl", "pk_campaign", "pk_kwd",  # Alibaba, Google Analytics across domains, Piwik
        "spm_id_from", "vd_source", "triedredirect", "wprov",  # Bilibili, Substack, Wikipedia
        "at_medium", "at_campaign", "at_link_id",  # AT Internet
        "at_link_origin", "at_link_type", "at_ptr_name",
    )
)  # fmt: skip

_TRACKING_OF: Mapping[str, frozenset[str]] = {
    "bilibili.com": frozenset(
        (
            "bbid", "buvid", "from_source", "from_spmid", "share_from", "share_medium", "share_plat",
            "share_session_id", "share_source", "share_tag", "share_times", "unique_k", "up_id",
        )
    ),
    "facebook.com": frozenset(("__tn__", "_rdr", "eav", "fref", "hc_location", "paipv", "rdid", "refsrc")),
    "github.com": frozenset(("tab=readme-ov-file",)),
    "instagram.com": frozenset(("hl",)),
    "linkedin.com": frozenset(("lipi", "originalsubdomain", "rcm", "trackingid", "trk", "trkinfo")),
    "medium.com": frozenset(("sk", "source")),
    "nytimes.com": frozenset(("emc", "partner", "referringsource", "smid", "smtyp", "unlocked_article_code")),
    "spotify.com": frozenset(("nd", "si")),
    "tiktok.com": frozenset(("_r", "_t", "is_copy_url", "is_from_webapp", "sender_device", "web_id")),
    "x.com": frozenset(("s", "t")),
}  # fmt: skip
"""What else tracks on a site and its subdomains, in lower case: names, or a name with one of its values."""

_HOSTS: Mapping[str, str] = {
    alias: host
    for host, aliases in {
        "arxiv.org": ("export.arxiv.org",),
        "bilibili.com": ("m.bilibili.com",),
        "facebook.com": ("m.facebook.com", "mbasic.facebook.com", "touch.facebook.com", "web.facebook.com"),
        "imdb.com": ("m.imdb.com",),
        "reddit.com": ("old.reddit.com", "new.reddit.com", "np.reddit.com", "m.reddit.com", "i.reddit.com"),
        "wikihow.com": ("m.wikihow.com",),
        "x.com": ("twitter.com", "mobile.twitter.com", "m.twitter.com", "mobile.x.com"),
        "youtube.com": ("m.youtube.com", "youtube-nocookie.com"),
    }.items()
    for alias in aliases
}
_WIKI = re.compile(
    r"(?P<wiki>(?:[a-z0-9-]+\.)*?)(?:(?:m|mobile)\.)*"
    r"(?P<project>(?:wiki(?:books|data|media|news|pedia|quote|source|versity|voyage)|mediawiki|wiktionary)\.org)"
)


class _Rule(NamedTuple):
    """The addresses of a page, which is named by groups of their path and by the parameters that select it.

    All of these have to be there; others change nothing.
    """

    path: re.Pattern[str]
    page: str
    parameters: tuple[str, ...] = ()


def _rule(path: str, page: str, *parameters: str) -> _Rule:
    return _Rule(re.compile(path, re.ASCII), page, parameters)


_VIDEO = "(?P<id>(?!videoseries$|live_stream$)[A-Za-z0-9_-]+)"
_POST = "(?:/(?:r|u|user)/[^/]+)?/(?:comments|gallery)/(?P<id>[a-z0-9]+)"
_RFC = "rfc0*(?P<number>[1-9][0-9]{0,4})"
_RFC_PAGE = "rfc-editor.org/rfc/rfc{number}"
_PAGES: Mapping[str, tuple[_Rule, ...]] = {
    "arxiv.org": (  # identifiers since 2007 and before: https://info.arxiv.org/help/arxiv_identifier.html
        _rule(
            r"/(?:abs|pdf|html)/(?P<id>[0-9]{4}\.[0-9]{4,5}|[a-z-]+(?:\.[A-Z]{2})?/[0-9]{7})(?:v[0-9]+)?(?:\.pdf)?",
            "arxiv.org/abs/{id}",
        ),
    ),
    "datatracker.ietf.org": (_rule(rf"/doc/(?:(?:html|pdf|txt)/)?{_RFC}", _RFC_PAGE),),
    "httpwg.org": (_rule(rf"/specs/{_RFC}\.html", _RFC_PAGE),),
    "ietf.org": (_rule(rf"/rfc/{_RFC}\.(?:txt|html|pdf)", _RFC_PAGE),),
    "mp.weixin.qq.com": (
        _rule("/s/(?P<id>[A-Za-z0-9_-]+)", "mp.weixin.qq.com/s/{id}"),
        _rule("/s", "mp.weixin.qq.com/s?{query}", "__biz", "mid", "idx", "sn"),
    ),
    "redd.it": (_rule("/(?P<id>[a-z0-9]+)", "reddit.com/comments/{id}"),),
    "reddit.com": (
        _rule(f"{_POST}(?:/[^/]*)?", "reddit.com/comments/{id}"),
        _rule(f"{_POST}/[^/]+/(?P<comment>[a-z0-9]+)", "reddit.com/comments/{id}/_/{comment}"),
    ),
    "rfc-editor.org": (
        _rule(
            rf"/(?:info|rfc|rfc/inline-errata|rfc/pdfrfc|in-notes)/{_RFC}(?:\.(?:html|pdf|txt|xml|txt\.pdf))?",
            _RFC_PAGE,
        ),
    ),
    "tools.ietf.org": (_rule(rf"/(?:html|pdf|rfc|txt)/{_RFC}(?:\.(?:txt|pdf))?", _RFC_PAGE),),
    "x.com": (
        _rule(r"/(?:i/web|\w+)/status(?:es)?/(?P<id>[0-9]+)(?:/(?:photo|video)/[0-9]+)?", "x.com/i/status/{id}"),
    ),
    "youtu.be": (_rule(f"/{_VIDEO}", "youtube.com/watch?v={id}"),),
    "youtube.com": (
        _rule(f"/(?:shorts|live|embed|v|e)/{_VIDEO}", "youtube.com/watch?v={id}"),
        _rule("/watch", "youtube.com/watch?{query}", "v"),
    ),
}

_OWNER_AND_REPOSITORY = re.compile("(?:/[^/]*){1,2}")
_REPOSITORY = re.compile(r"(?P<page>/[^/]+/[^/]+?)(?:\.git)+")
_INDEXES = ("/index.html", "/index.htm")


def site_of(host: str) -> str:
    """Return the host under which a site's other hosts show the same pages: not the mobile one, for example."""
    if host in _HOSTS:
        return _HOSTS[host]
    wiki = _wiki(host)
    return f"{wiki['wiki']}{wiki['project']}" if wiki else host


def _wiki(host: str) -> re.Match[str] | None:
    return _WIKI.fullmatch(host) if host.endswith(".org") else None


def page_of(host: str, path: str, parameters: Sequence[str]) -> str | None:
    """Return the canonical page of a link to a known site, without scheme; None for any other link.

    A YouTube video is the same page in its player, as a short and under its short address, whatever the other
    parameters, such as the start time. An arXiv paper is the same page as abstract and as full text, in all
    versions: a link without a version leads to the newest one, and readers discuss the paper. So is an RFC,
    wherever the IETF shows it.
    """
    for rule in _PAGES.get(host, ()):
        if match := rule.path.fullmatch(path):
            sent = {parameter.partition("=")[0]: parameter for parameter in reversed(parameters)}
            query = [sent[name] for name in rule.parameters if sent.get(name, "").partition("=")[2]]
            if len(query) == len(rule.parameters):
                return rule.page.format(**match.groupdict(), query="&".join(query).replace("%3D", "="))
    return None


def path_of(host: str, path: str) -> str:
    """Return the path as the site understands it: without the name of an index, for example."""
    if host == "github.com":  # the names of owners and repositories are the same in any letter case
        path = _OWNER_AND_REPOSITORY.sub(lambda names: names[0].lower(), path, count=1)
        cloned = _REPOSITORY.fullmatch(path)
        return cloned["page"] if cloned else path
    if _wiki(host):
        return path.replace("%20", "_")
    while path.endswith(_INDEXES):
        path = path.rpartition("/")[0].rstrip("/")
    return path


def tracks(host: str, parameter: str) -> bool:
    """Return whether a parameter, `name=value`, only tracks readers."""
    lower = parameter.lower()
    name = lower.partition("=")[0]
    if name in TRACKING_PARAMETERS or name.startswith(TRACKING_PREFIXES):
        return True
    own = _TRACKING_OF.get(".".join(host.split(".")[-2:]), frozenset())
    return name in own or lower in own
