"""Markdown that members write, as safe HTML: CommonMark 0.31 with tables and struck-out text.

Bare links and the names of members (`@alice`) become links. HTML is shown as it was typed, and an image becomes a
link to it: pages load nothing from other sites. At the end, only listed tags and attributes pass.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from html import unescape
from typing import Any
from urllib.parse import quote

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, table
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markupsafe import Markup
from nh3 import Cleaner

from accounts.names import is_valid
from articles.text.lines import InvalidInput
from articles.text.links import LINK_LIMIT, clean_link
from articles.text.private_hosts import is_private

RULES_VERSION = 1
"""Raised whenever the HTML of some text changes: HTML that was kept under another version is made again."""

_LONG = 2_000
"""Characters from which a text counts as long: a process keeps the HTML of fewer of them."""

_MOST_SHORT, _MOST_LONG = 1_000, 100
"""Texts whose HTML a process keeps: those of several pages, a few MB, since most texts are much shorter."""

_MARKS, _MOST_MARKS = "[]*_`~<>|\\&", 3_000
"""Characters with a meaning, and how many a text may have: parsing more takes a tenth of a second and longer."""

_DEEPEST = 20
"""Lists, quotes and emphasis within each other; nothing deeper is drawn as such."""

_MOST_CELLS = 1_000
"""Cells of all tables of a text: an almost empty row of a wide table counts as a full one."""

_MOST_REFERRED = 50_000
"""Characters of all links by reference (`[text][1]`) of a text: each use repeats the whole link."""

_MEMBERS = "/users/"
_SCHEMES = ("http", "https", "mailto")

_MENTION = re.compile(r"@([A-Za-z0-9_-]++)(?!@)")
_BEFORE_MENTION = re.compile(r"[\w@./+-]")  # an address of a mail, of a page or of a Fediverse account

_HOST = r"(?:[\w-]+\.)+(?:[A-Za-z]{2,63}(?![A-Za-z0-9-])|[\w-]+)"  # without a space, Chinese text may follow "org"
_BARE_LINK = re.compile(
    rf"://{_HOST}(?::[0-9]+)?"
    r"(?:[/?#][^\s<>\"`\[\]\\^{}|\u2018-\u201f\u3000-\u303f\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f]"
    rf"{{0,{LINK_LIMIT}}})?"
)
_AFTER_LINK = ".,:;!?'*_~"

_MAIL = re.compile(r"mailto:[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,63}", re.IGNORECASE)

_TAGS = {"a", "blockquote", "br", "code", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s"}
_TABLE = {"table", "thead", "tbody", "tr", "th", "td"}
_SIDES = {"left", "center", "right"}

_SITE_LINK = re.compile(r"/(?:[^/\\][^\\]*)?")
"""A link to a page of the site: `//host` and `/\\host` lead to other sites."""

_IN_SITE_LINK = "/?#%!$&'()*+,;=:@~"
"""Characters of a link to a page of the site that stay as they are, beside letters, digits, `-`, `.` and `_`."""


def _gate(is_site_link: Callable[[str], object]) -> Cleaner:
    return Cleaner(
        tags={*_TAGS, *_TABLE, "strong", "ul"},
        attributes={"*": set(), "a": {"href"}, "ol": {"start"}},
        allowed_classes={"th": _SIDES, "td": _SIDES},
        set_tag_attribute_values={"pre": {"tabindex": "0"}},  # a keyboard scrolls long lines
        url_schemes=set(_SCHEMES),
        url_relative=lambda url: url if is_site_link(url) else None,
        link_rel="nofollow ugc noopener",
    )


_GATES = {False: _gate(lambda url: url.startswith(_MEMBERS)), True: _gate(_SITE_LINK.fullmatch)}
"""Gates by whether links to pages of the site stay links. Those to members, from mentions, always do."""

_NO_TAGS = Cleaner(tags=set())

_LINK = re.compile(r'<a href="([^"]*)"')
"""A link in HTML that passed the gate, which leaves no `<` in texts."""


def render(text: str, *, private_links: bool = False, site_links: bool = False) -> Markup:
    """Return the HTML of a text. The latest are kept, so that a text is parsed once.

    A text with more than 3,000 marks is shown as it was typed. Headings are h3 or lower. `private_links`: links to
    private and local addresses are links, too. `site_links`: so are those to pages of the site, such as `/rules/`.
    """
    keep = _render_long if len(text) > _LONG else _render_short
    return keep(text, private_links, site_links)


def plain(text: str) -> str:
    """Return a text without its marks, as one line: for descriptions."""
    return " ".join(unescape(_NO_TAGS.clean(render(text))).split())


def links_in(html: str) -> list[str]:
    """Return where the links of rendered HTML lead, as clean links; mentions and mail addresses included."""
    return [unescape(href) for href in _LINK.findall(html)]


@lru_cache(_MOST_SHORT)
def _render_short(text: str, private_links: bool, site_links: bool) -> Markup:
    return _rendered(text, private_links, site_links)


@lru_cache(_MOST_LONG)
def _render_long(text: str, private_links: bool, site_links: bool) -> Markup:
    return _rendered(text, private_links, site_links)


def _rendered(text: str, private_links: bool, site_links: bool) -> Markup:
    if sum(map(text.count, _MARKS)) > _MOST_MARKS:
        return Markup("<p>%s</p>\n") % Markup("<br>\n").join(text.splitlines())
    parser = _PARSERS[private_links, site_links]
    html = parser.render(text, {"references": _References(), "cells": _MOST_CELLS})
    return Markup(_GATES[site_links].clean(html))  # nosec B704 # noqa: S704 - the gate escapes


class _References(dict[str, dict[str, Any]]):
    """Links that the text defines, until the links looked up are too long in total."""

    _left = _MOST_REFERRED

    def get(self, label: str, default: Any = None) -> Any:
        link = super().get(label)
        if link is None or self._left <= 0:
            return default
        self._left -= len(link["href"])
        return link


class _Parser(MarkdownIt):
    """A parser whose links follow the site's rules for links."""

    def __init__(self, *, private_links: bool, site_links: bool) -> None:
        super().__init__("commonmark", {"html": False, "maxNesting": _DEEPEST})
        self.private_links, self.site_links = private_links, site_links
        self.enable(["strikethrough", "table"]).disable(["image", "html_block", "html_inline"])
        self.inline.ruler.push("bare_link", _bare_link)
        self.inline.ruler.push("mention", _mention)
        self.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
        self.core.ruler.after("inline", "fit", _fit)

    def normalizeLink(self, url: str) -> str:  # noqa: N802 - the name in MarkdownIt
        """Return the link as it is written into the page; "" for one that is not allowed."""
        if _MAIL.fullmatch(url):
            return url
        if self.site_links and len(url) <= LINK_LIMIT and _SITE_LINK.fullmatch(url):
            return quote(url, safe=_IN_SITE_LINK)
        try:
            link = clean_link(url)
        except InvalidInput:
            return ""
        return "" if is_private(link) and not self.private_links else link

    def validateLink(self, url: str) -> bool:  # noqa: N802
        return url != ""

    def normalizeLinkText(self, link: str) -> str:  # noqa: N802
        """Return a link's text as it was typed: decoding could show characters that reorder it."""
        return link


def _bare_link(state: StateInline, silent: bool) -> bool:
    """Make a link of `https://…` in the text, at its colon."""
    before = state.src[max(0, state.pos - 6) : state.pos]
    scheme = re.search(r"(?<![A-Za-z0-9])https?\Z", before, re.IGNORECASE)
    match = _BARE_LINK.match(state.src, state.pos, state.posMax) if scheme else None
    if silent or state.linkLevel or not scheme or not match or not state.pending.endswith(scheme[0]):
        return False
    rest = match[0]
    while rest[-1] in _AFTER_LINK or (rest[-1] == ")" and rest.count(")") > rest.count("(")):
        rest = rest[:-1]
    address = scheme[0] + rest
    if not (href := state.md.normalizeLink(address)):
        return False
    state.pending = state.pending[: -len(scheme[0])]
    _push_link(state, href, address)
    state.pos += len(rest)
    return True


def _mention(state: StateInline, silent: bool) -> bool:
    """Make a link of a member's name after `@`."""
    match = _MENTION.match(state.src, state.pos, state.posMax)
    if not match or state.linkLevel or not is_valid(match[1]):
        return False
    if state.pos and _BEFORE_MENTION.match(state.src[state.pos - 1]):
        return False
    if not silent:
        _push_link(state, f"{_MEMBERS}{match[1]}/", match[0])
    state.pos = match.end()
    return True


def _push_link(state: StateInline, href: str, text: str) -> None:
    opening = state.push("link_open", "a", 1)
    opening.attrs, opening.markup = {"href": href}, "autolink"
    state.push("text", "", 0).content = text
    state.push("link_close", "a", -1)


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse a table with as many rows as the cells left for the text allow; the other rows are a paragraph."""
    if start + 1 >= end:
        return False
    columns = state.src.count("|", state.bMarks[start + 1], state.eMarks[start + 1]) + 1
    rows = state.env["cells"] // columns
    if rows < 2 or not table(state, start, min(end, start + 1 + rows), silent):
        return False
    if not silent:
        state.env["cells"] -= (state.line - start) * columns
    return True


def _fit(state: StateCore) -> None:
    """Fit what was parsed into a page: its headings, columns of tables, links and images."""
    headings = sorted({token.tag for token in state.tokens if token.type == "heading_open"})
    for token in state.tokens:
        if token.type in {"heading_open", "heading_close"}:  # h3 is the highest that the text has
            token.tag = f"h{min(6, headings.index(token.tag) + 3)}"
        elif "style" in token.attrs:
            token.attrs = {"class": str(token.attrs["style"]).removeprefix("text-align:")}
        elif token.children:
            token.children = list(_fitted(token.children))


def _fitted(tokens: list[Token]) -> Iterator[Token]:
    """Leave out what is nested too deeply, and links without address; give a text to links without one."""
    drawn: list[bool] = []
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        if token.nesting > 0:
            drawn.append(len(drawn) < _DEEPEST and token.attrs.get("href") != "")
        is_drawn = not token.nesting or (drawn.pop() if token.nesting < 0 else drawn[-1])
        is_image = after is not None and after.type == "link_open" and after.markup != "autolink"
        if is_image and token.type == "text":
            token.content = token.content.removesuffix("!")
        if is_drawn:
            yield token
        if token.type == "link_open" and after is not None and after.type == "link_close":
            yield Token("text", "", 0, content=str(token.attrs["href"]))


_PARSERS = {
    (private, site): _Parser(private_links=private, site_links=site)
    for private in (False, True)
    for site in (False, True)
}
