"""Markdown that members write, as safe HTML: CommonMark 0.31 with tables, struck-out text and CJK emphasis.

Bare links and the names of members (`@alice`) become links. HTML is shown as it was typed, and an image becomes a
link to it: pages load nothing from other sites. At the end, only listed tags and attributes pass.

No word is lost: an address that cannot be a link, a definition that nothing refers to, surplus cells of a row, and
the numbers of items are shown. Each paragraph, heading, item, cell, list and quotation has the direction of its
first letter.

Each step takes time in proportion to the text and to the HTML, and both are bounded before. A text whose HTML
would be too deep or too large, or would show nothing, is shown as it was typed.
"""

import re
from collections.abc import Callable, Collection, Sequence
from html import escape
from itertools import accumulate, pairwise
from unicodedata import bidirectional
from urllib.parse import quote

import comrak
from markupsafe import Markup
from nh3 import Cleaner

from articles.text.characters import BRAILLE_BLANK, is_unseen
from articles.text.lines import InvalidInput
from articles.text.links import LINK_LIMIT, clean_link, is_ordinary
from articles.text.mentions import MEMBERS, MENTION, NAME, link_of, spellings
from outgoing.addresses import is_private

RULES_VERSION = 5
"""Raised whenever the HTML of some text changes: HTML that was kept under another version is made again."""

FindMembers = Callable[[Collection[str]], Collection[str]]  # returns those of the names that members have
_MOST_BYTES = 200_000  # bytes of a text's HTML
_MOST_TAGS = 7_000  # tags and escaped characters of a text's HTML: the gate takes about a microsecond for each
_DEEPEST = 20  # quotes, lists, links and emphasis within each other
_MOST_STEPS = 300_000
"""Lines of a text, times its longest indent with list markers: the parser goes through open lists at each line."""

_MOST_CELLS = 3_500  # cells of all tables of a text: an almost empty row of a wide table counts as a full one
_LINK_SIGNS, _MOST_LINK_SIGNS = ("@", "://", "]("), 800
"""What links and mentions are made with, and how often a text may have it in total."""

_MOST_LINK_STEPS = 600
"""Different links of a text. One that has to be parsed counts as four, and with an IDN host as twenty."""

_MOST_NAMES = 300  # names of a text that are looked up: later ones are no mentions
_SCHEMES = ("http", "https", "mailto")

_HOST = r"(?:[\w-]+\.)+(?:[A-Za-z]{2,63}(?![A-Za-z0-9-])|[\w-]+)"  # without a space, Chinese text may follow "org"
_ENDS_LINK = (
    r"\s<>\"`\[\]\\^{}|"
    "\u00a1\u00ab\u00bb\u00bf\u2014\u2015\u2018-\u201f\u2025\u2026\u2039\u203a"  # quotes, long dashes, ellipses
    "\u3000-\u3004\u3008-\u303f\ufe10-\ufe6f"  # Chinese and Japanese marks, without 々 and 〇
    "\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"  # full and half width
    "\u0589\u05c3\u060c\u061b\u061f\u06d4\u0964\u0965"  # Armenian, Hebrew, Arabic, Indic
    "\u0f0d-\u0f12\u104a\u104b\u1361-\u1368\u17d4\u17d5"  # Tibetan, Burmese, Ethiopic, Khmer
    "\u200b\u2060\ufeff\ufdd0\U0002fffe"  # without width, and what `_shielded` puts in
)
"""Characters that end a bare link, for a class of `re`."""

_AFTER_LINK = ".,:;!?'*_~\u00b7\u2013\u2027\u30fb"
"""Characters that belong to a bare link in its middle, but not at its end."""

_BARE_LINK = (
    rf"(?<![A-Za-z0-9])(?P<link>(?i:https?)://{_HOST}(?::[0-9]+)?"
    rf"(?:[/?#](?:(?!\*\*|~~)[^{_ENDS_LINK}]){{0,{LINK_LIMIT}}})?)"
)
_FOREIGN_HOST = re.compile(r"https?://[^/?#]*(?:xn--|%|[^\x00-\x7f])", re.IGNORECASE)
_TYPED_LINK = re.compile(rf"(?<!\]\(){_BARE_LINK}")
_LINKED = re.compile(rf"{_BARE_LINK}|{MENTION}")

_MAIL = re.compile(r"mailto:[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,63}", re.IGNORECASE)

_SITE_LINK = re.compile(r"/(?:[^/\\][^\\]*)?")
"""A link to a page of the site: `//host` and `/\\host` lead to other sites."""

_IN_SITE_LINK = "/?#%!$&'()*+,;=:@~"
"""Characters of a link to a page of the site that stay as they are, beside letters, digits, `-`, `.` and `_`."""

# Characters that no text has stand for characters that shall mean nothing to the parser.
_BREAK = "\ufdd0"  # between two characters that mean something only together
_WIDE_BREAK = "\U0002fffe"  # the same, and a Chinese character to the parser's rules for emphasis
_SHIELDS = {"*": "\ufdd1", "_": "\ufdd2", "~": "\ufdd3", "|": "\ufdd4"}
_MARK = "\ufdd5"  # around the number of a definition, at the end of its address
_LINE_BREAK = re.compile("\r\n?|[\v\f]")
_NOT_IN_TEXTS = re.compile("[\ufdd0-\ufdd5\U0002fffe]")

# Hebrew and Arabic, which put letters before a word, and scripts without spaces from Thai to Khmer: there, as in
# Chinese, emphasis begins and ends beside punctuation within a word.
_JOINED = "\u0590-\u08ff\u0e00-\u109f\u1780-\u17ff\ufb1d-\ufdcf\ufe70-\ufefc"
_JOINED_LETTER = re.compile(f"[{_JOINED}]")
_BESIDE_JOINED = re.compile(f"(?<=[{_JOINED}])(?=[*~])|(?<=[*~])(?=[{_JOINED}])")

_SINGLE_TILDE = re.compile(r"(?<![\\~])~(?!~)")
_ESCAPED = re.compile(r"(?<=\\@)|(?<=\\:)(?=//)")
_SCHEME = r"[A-Za-z][A-Za-z0-9+.-]{1,31}:"
_HTML_LINE = re.compile(rf"^([ \t>*+\-0-9.)]*+)(?=<[A-Za-z/!?])(?!<{_SCHEME})", re.MULTILINE)
_OTHER_SCHEME = re.compile(rf"(?<=<)(?={_SCHEME})(?!(?:https?|mailto):)", re.IGNORECASE)

_LINK_IN_IMAGE = re.compile(r"(?<=!)(?=\[[^\[\]]*+\[)")
"""Where an image begins whose description has brackets: links in them would lose their addresses."""

_INDENT = re.compile(
    r"^(?=[ \t>*+\-0-9.)]{15})(?:[ \t>]*+(?:[-+*]|[0-9]{1,9}[.)])(?=[ \t]))*[ \t>]*", re.MULTILINE
)
"""The indent of a line, with the list markers in it. Even 20,000 lines may have 15 characters of it."""

_EMPTY_LINE = re.compile(r"\n[ \t>]*+(?=\n)")
_COLUMNS = re.compile(r"(?<=[^\n]\n)[ \t>]*+(?=[^\n|]*\|)(?=[^\n-]*-)[|:\- \t]++$", re.MULTILINE)

_DELIMITERS = re.compile(r"[ \t>]*+\|?(?:[ \t]*+:?-++:?[ \t]*+\|)*+(?:[ \t]*+:?-++:?)?[ \t]*+")
_CONTAINERS = re.compile(r"[ \t>]*+(?:(?:[-+*]|[0-9]{1,9}[.)])[ \t]++[ \t>]*+)*+")
"""The quotes and lists in which a line begins."""

_CELL_END = re.compile(r"\\.|(\|)")  # a separator of cells, as the group, or an escaped character
_DEFINITION = re.compile(
    r"^(?P<quotes>[ \t>]*+)[ \t>*+\-0-9.)]*+\[(?:[^\[\]\\]|\\[\s\S])++\](?P<colon>:)"
    r"[ \t]*+(?:\n[ \t>]*+)?(?:<[^<>\n]*+|[^\s<]\S*+)",
    re.MULTILINE,
)
"""What may define where `[label]` leads, to the end of its address. A label ends before the next line with one."""

_MARKED = re.compile(f"{_MARK}([0-9]+){_MARK}")

_ITEM_NUMBER = re.compile(r"^[ \t>*+-]*+([0-9]{1,9})[.)][ \t]", re.MULTILINE)
_ITEM_START = re.compile(rb"([0-9]{1,9})[.)]")
_PLACE = re.compile(r' data-sourcepos="(?P<line>[0-9]+):(?P<column>[0-9]+)-[^"]*"')
_PLACED_ITEM = re.compile(rf"<(?:(?P<end>/?)[ou]l(?: [^>]*)?|li{_PLACE.pattern})>")
_CODE_NAME = re.compile('<pre><code(?: class="language-([^"]*)"| data-meta="([^"]*)")+>')

_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")
_BLOCK = re.compile("<(/?)(?:blockquote|h[3-6]|li|ol|p|table|td|th|ul)[ >]")
_NAMELESS = re.compile("@|(?i:https?)://")  # the beginning of a link's text that is a mention or an address
_DIRECTIONS = {"L": "ltr", "R": "rtl", "AL": "rtl"}

_TAGS = {"a", "blockquote", "br", "code", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s"}
_TABLE = {"table", "thead", "tbody", "tr", "th", "td"}
_SIDES = {"left", "center", "right"}

_TAG = re.compile("(<[^>]*>)")
_TEXT = re.compile("(?:(?<=>)|^)[^<]+")
_SIGN = re.compile("[!-~]")
_UNFINISHED = re.compile(r"(?:<[^>]*|&[^;]*)\Z")  # a tag, or an entity, that is cut off
_LINK_TAG = re.compile("(<(?:/?a|/?code|img)(?: [^>]*)?>)")
_NUMBER = re.compile('(?:href|src)="([0-9]*)"')
_ALT = re.compile(' alt="([^"]*)"')
_TITLE = re.compile(' title="([^"]*)"')
_BLOCK_EDGE = re.compile("</?(?:blockquote|h[3-6r]|li|ol|pre|p|table|tbody|td|thead|th|tr|ul)(?: [^>]*)?>")
_SEPARATORS = dict.fromkeys(".!?:;,…؟؛،۔।", " ") | dict.fromkeys("。！？：；，、", "")
"""What separates a block from the next one in a line, by the mark at its end."""

_CLOSING = "\"')] »›”’“‘）】」』》"  # signs that may follow that mark; German closes with “
_NESTING = re.compile("<(/?)(?:a|blockquote|del|em|ol|strong|ul)[ >]")

_NAME = re.compile("@[^/+]+")
_MENTIONED = re.compile(f"<m>@({NAME})</m>")

_LINK = re.compile(r'<a href="([^"]*)"')  # a link in HTML that passed the gate, which leaves no `<` in texts


def _gate(is_site_link: Callable[[str], object]) -> Cleaner:
    return Cleaner(
        tags={*_TAGS, *_TABLE, "strong", "ul"},
        attributes={"*": set(), "a": {"href", "title"}, "li": {"value"}, "ol": {"start"}, "pre": {"title"}},
        tag_attribute_values={"a": {"dir": {"auto"}}},
        allowed_classes={"th": _SIDES, "td": _SIDES},
        set_tag_attribute_values={"pre": {"tabindex": "0"}},  # a keyboard scrolls long lines
        url_schemes=set(_SCHEMES),
        url_relative=lambda url: url if is_site_link(url) else None,
        link_rel="nofollow ugc noopener",
    )


_GATES = {False: _gate(lambda url: url.startswith(MEMBERS)), True: _gate(_SITE_LINK.fullmatch)}
"""Gates by whether links to pages of the site stay links. Those to members, from mentions, always do."""


def render(
    text: str, *, private_links: bool = False, site_links: bool = False, find_members: FindMembers | None = None
) -> Markup:
    """Return the HTML of a text, of at most 200,000 bytes. Headings are h3 or lower.

    `private_links`: links to private and local addresses are links, too. `site_links`: so are those to pages of
    the site, such as `/rules/`. `find_members`: is called at most once; without it, each valid name counts as a
    member's.
    """
    source = _LINE_BREAK.sub("\n", _NOT_IN_TEXTS.sub("", text))
    try:
        html = _drawn(source, _Links(private_links=private_links, site_links=site_links), find_members)
    except _Unfit:
        typed = escape(source.strip("\n"), quote=False).replace("\n", "<br>\n")
        html = f"<p>{typed}</p>\n" if source.strip() else ""
    return Markup(html)  # nosec B704 # noqa: S704 - cleaned by the gate, or escaped


def plain(html: str) -> str:
    """Return rendered HTML without its tags, as one line: for descriptions and excerpts.

    A dot is between two blocks, such as paragraphs, items and cells, unless the first ends as a sentence does.
    Blocks that show nothing are left out.
    """
    blocks = _BLOCK_EDGE.split(str(html).replace("<br>", "\n"))
    seen = (one for one in blocks if _shows(one.replace("&nbsp;", " ")))
    texts = [" ".join(_unescaped(_TAG.sub("", one)).split()) for one in seen]
    before = "".join(one + _SEPARATORS.get(one.rstrip(_CLOSING)[-1:], " · ") for one in texts[:-1])
    return before + "".join(texts[-1:])


def beginning(html: str, characters: int) -> str:
    """Return `plain` of HTML, or of a longer one a little more than the first `characters`."""
    whole, size = str(html), 4 * characters
    while size < len(whole):
        text = plain(_UNFINISHED.sub("", whole[:size]))
        if len(text) > characters:
            return text
        size *= 2
    return plain(whole)


def links_in(html: str) -> list[str]:
    """Return where the links of rendered HTML lead, as clean links; mentions and mail addresses included."""
    return [_unescaped(href) for href in _LINK.findall(html)]


def _unescaped(html: str) -> str:
    """Return a text of the parser's HTML or the gate's, which have no other entities."""
    for entity, char in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&nbsp;", "\u00a0"), ("&amp;", "&")):
        html = html.replace(entity, char)
    return html


class _Unfit(Exception):
    """The HTML of a text is too deep, too large, or shows nothing."""


class _Links:
    """The site's rules for links, and what they make of the links of a text."""

    def __init__(self, *, private_links: bool, site_links: bool) -> None:
        self.private_links, self.site_links = private_links, site_links
        self._seen: dict[str, str] = {}
        self._steps = 0

    def address(self, url: str) -> str:
        """Return the link as it is written into the page; "" for one that is not allowed. Raises _Unfit."""
        if url not in self._seen:
            self._steps += 1 if is_ordinary(url) else 20 if _FOREIGN_HOST.match(url) else 4
            _check(self._steps <= _MOST_LINK_STEPS)
            self._seen[url] = self._address(url)
        return self._seen[url]

    def _address(self, url: str) -> str:
        url = url.strip().replace(" ", "%20")
        if _MAIL.fullmatch(url):
            return url
        if self.site_links and len(url) <= LINK_LIMIT and _SITE_LINK.fullmatch(url):
            return quote(url, safe=_IN_SITE_LINK)
        try:
            link = clean_link(url)
        except InvalidInput:
            return ""
        return "" if is_private(link) and not self.private_links else link


def _check(fits: bool) -> None:
    if not fits:
        raise _Unfit


def _drawn(text: str, links: _Links, find_members: FindMembers | None) -> str:
    """Return the HTML of a text. Raises _Unfit."""
    _check(_count_steps(text) <= _MOST_STEPS and _count_cells(text) <= _MOST_CELLS)
    _check(sum(map(text.count, _LINK_SIGNS)) <= _MOST_LINK_SIGNS)
    html, urls = _parsed(_shielded(_with_narrow_rows(text)))
    _check(html.count("<") <= _MOST_TAGS)
    _check(max(accumulate(-1 if slash else 1 for slash in _NESTING.findall(html)), default=0) <= _DEEPEST)
    html = _unbroken(_with_members(_with_links(html, urls, links), find_members))
    _check("<hr" in html or _shows(html))
    html = html.replace("&quot;", '"')
    _check(html.count("<") + html.count("&") <= _MOST_TAGS and len(html) <= _MOST_BYTES)
    html = _directed(_GATES[links.site_links].clean(html))
    _check(len(html.encode()) <= _MOST_BYTES)
    return html


def _count_steps(text: str) -> int:
    """Return the lines of a text, times at least as many lists as can be open."""
    lines = text.count("\n") + 1
    longest = max(map(len, text.split("\n")))
    if lines * longest > _MOST_STEPS:
        longest = max(map(len, _INDENT.findall(text)), default=0)
    return lines * longest


def _count_cells(text: str) -> int:
    """Return at least as many cells as the tables of a text have: a table ends at an empty line or before."""
    cells = columns = start = end = 0
    for row in _COLUMNS.finditer(text):
        if row.start() >= end:
            cells += columns * text.count("\n", start, end)
            columns, start = 0, row.start()
            end = empty.start() + 1 if (empty := _EMPTY_LINE.search(text, start)) else len(text)
        columns = max(columns, row[0].count("|") + 1)
    return cells + columns * (text.count("\n", start, end) + 1)


def _shielded(text: str) -> str:
    """Shield from the parser what means nothing here: marks in bare links, single tildes, HTML, other schemes."""
    text = _TYPED_LINK.sub(_shielded_link, text) if "://" in text else text
    text = _BESIDE_JOINED.sub(_WIDE_BREAK, text) if _JOINED_LETTER.search(text) else text
    text = _SINGLE_TILDE.sub(_SHIELDS["~"], text)
    text = _ESCAPED.sub(_BREAK, text)
    text = _HTML_LINE.sub(lambda indent: indent[0] + _BREAK, text)
    text = _LINK_IN_IMAGE.sub(_BREAK, text)
    return _OTHER_SCHEME.sub(_BREAK, text)


def _shielded_link(match: re.Match[str]) -> str:
    end = _end_of(match["link"])
    link = match["link"][:end]
    for char, shield in _SHIELDS.items():
        link = link.replace(char, shield)
    return link + match["link"][end:]


def _unshielded(text: str) -> str:
    for char, shield in _SHIELDS.items():
        text = text.replace(shield, char)
    return text


def _unbroken(text: str) -> str:
    return text.replace(_BREAK, "").replace(_WIDE_BREAK, "")


def _end_of(link: str) -> int:
    """Return the length of a bare link without the marks after it, and the brackets that it did not open."""
    end, surplus = len(link), link.count(")") - link.count("(")
    while link[end - 1] in _AFTER_LINK or (link[end - 1] == ")" and surplus > 0):
        surplus -= link[end - 1] == ")"
        end -= 1
    return end


def _with_narrow_rows(text: str) -> str:
    """Return the text with the separators of surplus cells shielded: they would be left out with their cells."""
    if "|" not in text:
        return text
    lines, columns = text.split("\n"), 0
    for at, line in enumerate(lines):
        if not line.strip(" \t>"):
            columns = 0
        elif columns:
            cells = list(line)
            for end in _cell_ends(line)[columns - 1 :]:
                cells[end] = _SHIELDS["|"]
            lines[at] = "".join(cells)
        elif at and _DELIMITERS.fullmatch(line):
            columns = len(_cell_ends(line)) + 1
            columns *= columns == len(_cell_ends(lines[at - 1])) + 1
    return "\n".join(lines)


def _cell_ends(row: str) -> list[int]:
    """Return where the cells of a table's row end, apart from the last one."""
    ends = [match.start() for match in _CELL_END.finditer(row) if match[1]]
    if ends and _CONTAINERS.fullmatch(row, 0, ends[0]):
        del ends[0]
    if ends and not row[ends[-1] + 1 :].strip():
        del ends[-1]
    return ends


def _parsed(text: str) -> tuple[str, list[str]]:
    """Return the HTML of `_parsed_once`, with the definitions that no link uses shown as they were typed."""
    places = list(_DEFINITION.finditer(text))
    if not places:
        return _parsed_once(text)
    marked = _inserted(text, [(match.end(), f"{_MARK}{number}{_MARK}") for number, match in enumerate(places)])
    html, urls = _parsed_once(marked)
    used = set[str]().union(*map(_MARKED.findall, urls))
    if len(used.union(_MARKED.findall(html))) == len(places):
        return _MARKED.sub("", html), [_MARKED.sub("", url) for url in urls]
    insertions, follows = list[tuple[int, str]](), False
    for number, match in enumerate(places):
        if str(number) not in used:
            insertions.append((match.start("colon"), _BREAK))
        elif follows:  # it cannot interrupt the paragraph that the one before becomes
            insertions.append((match.start(), f"{match['quotes']}\n"))
        follows = str(number) not in used
    return _parsed_once(_inserted(text, insertions))


def _inserted(text: str, insertions: Sequence[tuple[int, str]]) -> str:
    """Return the text with others inserted at ascending places."""
    starts = (0, *(at for at, _insertion in insertions))
    pieces = (text[start:at] + insertion for start, (at, insertion) in zip(starts, insertions, strict=False))
    return "".join((*pieces, text[starts[-1] :]))


def _parsed_once(text: str) -> tuple[str, list[str]]:
    """Return the parser's HTML, in which the addresses of links and images are numbers, and those addresses."""
    urls: list[str] = []

    def number(url: str) -> str:
        urls.append(url if url.isascii() else _unbroken(_unshielded(url)))
        return str(len(urls) - 1)

    extensions = comrak.ExtensionOptions()
    extensions.table = extensions.strikethrough = extensions.cjk_friendly_emphasis = True
    extensions.link_url_rewriter = extensions.image_url_rewriter = number
    output = comrak.RenderOptions()
    output.escape = output.full_info_string = True
    output.unsafe_ = (
        True  # hands every address to `number`: `_Links` judges them, and HTML is escaped nevertheless
    )
    output.sourcepos = _counts_otherwise(text)
    html = comrak.render_markdown(text, extensions, render_options=output)
    if output.sourcepos:
        html = _numbered(html, text)
    return _CODE_NAME.sub(_named_code, _unshielded(html)), urls


def _counts_otherwise(text: str) -> bool:
    """Return whether items may have other numbers than those that browsers count."""
    numbers = map(int, _ITEM_NUMBER.findall(text))
    return any(number != last + 1 for last, number in pairwise(numbers))


def _numbered(html: str, text: str) -> str:
    """Return the HTML with the numbers that items were given, and without places in the text.

    An item that repeats the number before it counts on: many people write "1." before each.
    """
    lines = [line.encode() for line in text.split("\n")]
    lists = list[tuple[int, int] | None]()  # of each open list, the last number as typed and as shown

    def numbered(match: re.Match[str]) -> str:
        if match["end"]:
            lists.pop()
        elif not match["line"]:
            lists.append(None)
        elif typed := _ITEM_START.match(lines[int(match["line"]) - 1], int(match["column"]) - 1):
            number, last = int(typed[1]), lists[-1]
            counted = last[1] + 1 if last else number
            is_counted = not last or number in (last[0], counted)
            lists[-1] = number, counted if is_counted else number
            return "<li>" if is_counted else f'<li value="{number}">'
        return match[0]

    return _PLACE.sub("", _PLACED_ITEM.sub(numbered, html))


def _named_code(match: re.Match[str]) -> str:
    """Return the beginning of a code block: a language is its title, more words are its first line."""
    if match[2]:
        return f"<pre><code>{match[1]} {match[2]}\n"
    return f'<pre title="{_quoted(match[1])}"><code>'


def _quoted(html: str) -> str:
    """Return escaped HTML for an attribute, with quotation marks that `_drawn` leaves alone."""
    return html.replace("&quot;", "&#34;")


def _with_links(html: str, urls: list[str], links: _Links) -> str:
    """Return the HTML with the addresses of its links, images as links, and bare links and `<m>@name</m>`."""
    levels = [level for level in range(1, 7) if f"<h{level}>" in html]
    for rank, level in enumerate(levels, 3):  # h3 is the highest; in capitals, none is taken for another
        html = html.replace(f"<h{level}>", f"<H{min(rank, 6)}>").replace(f"</h{level}>", f"</H{min(rank, 6)}>")
    html = html.replace("<del>", "<s>").replace("</del>", "</s>")
    html = html.replace('<th align="', '<th class="').replace('<td align="', '<td class="')
    parts = _LINK_TAG.split(html)
    is_code, address, url, title, opened = False, "", "", "", 0
    for at in range(1, len(parts), 2):
        tag = parts[at]
        if tag.startswith(("<code", "</code")):
            is_code = tag[1] != "/"
        elif tag.startswith("<a "):
            url, title = _url(tag, urls), _title(tag)
            address, opened = links.address(url), at
            parts[at] = _opening(address, title) if address else ""
        elif tag == "</a>":
            label = "".join(parts[opened + 1 : at])
            if not address:  # one between angle brackets keeps them
                is_typed = url and _unescaped(label) in (url, url.removeprefix("mailto:"))
                parts[opened], parts[at] = ("&lt;", "&gt;") if is_typed else ("[", _typed_end(url, title))
            elif not _shows(label):
                parts[opened + 1 : at] = [""] * (at - opened - 2) + [escape(address)]
            address = ""
        else:
            source = _url(tag, urls)
            if not address:
                parts[at] = _image(tag, source, links.address(source))
            else:  # a link has one address: that of the picture in it is named
                parts[at], title = _alt(tag), " ".join(filter(None, (title, escape(source), _title(tag))))
                parts[opened] = _opening(address, title)
        if not is_code and not address and _may_link(parts[at + 1]):
            parts[at + 1] = _linked_texts(parts[at + 1], links)
    if _may_link(parts[0]):
        parts[0] = _linked_texts(parts[0], links)
    return "".join(parts)


def _may_link(html: str) -> bool:
    return "@" in html or "://" in html


def _linked_texts(html: str, links: _Links) -> str:
    parts = _TAG.split(html)
    for at in range(0, len(parts), 2):
        if _may_link(parts[at]):
            parts[at] = _linked(_unescaped(parts[at]), links)
    return "".join(parts)


def _url(tag: str, urls: list[str]) -> str:
    """Return the address of a link's or an image's tag."""
    number = _NUMBER.search(tag)
    return urls[int(number[1])] if number and number[1] else ""


def _alt(tag: str) -> str:
    alt = _ALT.search(tag)
    return alt[1] if alt else ""


def _title(tag: str) -> str:
    title = _TITLE.search(tag)
    return title[1] if title else ""


def _opening(address: str, title: str) -> str:
    return f'<a href="{escape(address)}"' + (f' title="{_quoted(title)}">' if title else ">")


def _typed_end(url: str, title: str) -> str:
    """Return how a link or image that is none ends: as it was typed after the label."""
    return f"]({escape(url, quote=False)}" + (f' "{title}")' if title else ")")


def _image(tag: str, source: str, address: str) -> str:
    """Return the link to an image, or what was typed if its address cannot be a link."""
    if not address:
        return f"![{_alt(tag)}{_typed_end(source, _title(tag))}"
    return f"{_opening(address, _title(tag))}{_alt(tag) or escape(address)}</a>"


def _linked(text: str, links: _Links) -> str:
    """Return the HTML of a text with its bare links, and `<m>` around each name after `@`."""
    pieces, at = list[str](), 0
    for match in _LINKED.finditer(text):
        if match["link"]:
            label = match["link"][: _end_of(match["link"])]
            if not (address := links.address(label)):
                continue
            start, end = match.start(), match.start() + len(label)
            link = f'<a href="{escape(address)}">{escape(label, quote=False)}</a>'
        else:
            start, end = match.span("mention")
            link = _NAME.sub(lambda name: f"<m>{name[0]}</m>", match["mention"])
        pieces += (escape(text[at:start], quote=False), link)
        at = end
    return "".join((*pieces, escape(text[at:], quote=False)))


def _with_members(html: str, find_members: FindMembers | None) -> str:
    """Return the HTML with a link to each member that is named between `<m>` and `</m>`."""
    meant, names = dict[str, list[str]](), dict[str, None]()
    for text in dict.fromkeys(_MENTIONED.findall(html)):
        if len(names) < _MOST_NAMES:
            meant[text] = list(spellings(text))
            names.update(dict.fromkeys(meant[text]))
    known = names if find_members is None or not names else find_members(list(names))

    def link(match: re.Match[str]) -> str:
        name = next((name for name in meant.get(match[1], ()) if name in known), "")
        rest = match[1].removeprefix(name)
        return f"{link_of(name)}{rest}" if name else f"@{rest}"

    return _MENTIONED.sub(link, html) if "<m>" in html else html


def _directed(html: str) -> str:
    """Return clean HTML in which each block has the direction of its first letter, where its parent has another.

    Letters of code, of addresses and of mentioned names do not count.
    """
    if not _RIGHT_TO_LEFT.search(html):
        return html
    parts, blocks, apart = _TAG.split(html), list[tuple[int, str]](), ""
    for at, part in enumerate(parts):
        if apart:
            apart = "" if part == apart else apart
        elif at % 2 == 0:
            if blocks and not blocks[-1][1] and (direction := _direction(part)):
                _direct(parts, blocks, direction)
        elif part == "<code>" or (part.startswith("<a ") and _NAMELESS.match(parts[at + 1])):
            apart = f"</{part[1:].partition(' ')[0].rstrip('>')}>"
        elif block := _BLOCK.match(part):
            if block[1]:
                blocks.pop()
            else:
                blocks.append((at, ""))
    return "".join(parts)


def _direction(html: str) -> str:
    kinds = (bidirectional(char) for char in _unescaped(html))
    return next((_DIRECTIONS[kind] for kind in kinds if kind in _DIRECTIONS), "")


def _direct(parts: list[str], blocks: list[tuple[int, str]], direction: str) -> None:
    """Give the open blocks that have no direction yet this one."""
    around = "ltr"
    for depth, (at, known) in enumerate(blocks):
        if not known:
            blocks[depth] = at, direction
            if direction != around:
                parts[at] = f'{parts[at][:-1]} dir="{direction}">'
        around = known or direction


def _shows(html: str) -> bool:
    """Return whether a reader sees any text of HTML in which entities stand for visible signs only."""
    texts = [match[0] for match in _TEXT.finditer(html)]
    if any(map(_SIGN.search, texts)):
        return True
    return any(not (char.isspace() or char == BRAILLE_BLANK or is_unseen(char)) for text in texts for char in text)
