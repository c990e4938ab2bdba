"""How mails look: each kind is one template, drawn as HTML with the site's colours, and from that as plain text.

Mail clients ignore style sheets of their own accord, so each element carries its styles; only the colours of the
dark theme are in a style sheet. Times are absolute, because a mail is read later.
"""

import re
from functools import lru_cache
from html import unescape
from html.parser import HTMLParser
from typing import Any
from urllib.parse import unquote

from django.conf import settings
from django.template import engines
from jinja2 import Environment

from articles.configuration import colours
from articles.configuration.choices import chosen

_FONTS = (
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'PingFang SC', 'Hiragino Sans GB', "
    "'Microsoft YaHei', 'Noto Sans CJK SC', sans-serif"
)

_STYLES = {
    "body": "margin: 0; padding: 0; background-color: {raised}; color: {ink}",
    "table": "width: 100%; border-collapse: collapse",
    "table.page": "background-color: {raised}",
    "table.column": "max-width: 600px; margin: 0 auto",
    "td": f"padding: 0 16px; font: 16px/1.5 {_FONTS}; color: {{ink}}; overflow-wrap: anywhere",
    "td.around": "padding: 12px 0",
    "td.first": "padding: 0 16px 12px; font-size: 13px; color: {soft}",
    "td.head": "padding: 12px 16px; font-weight: bold; background-color: {paper}; border-top: 3px solid {accent}",
    "td.content": "padding: 4px 16px 8px; background-color: {paper}",
    "td.foot": "padding: 12px 16px; font-size: 13px; color: {soft}",
    "h2": "margin: 0 0 8px; font-size: 16px",
    "h3": "margin: 0 0 8px; font-size: 16px",
    "p": "margin: 0 0 16px",
    "p.what": "margin: 0 0 4px",
    "p.reason": "margin: 0 0 8px; color: {soft}",
    "p.detail": "margin: 0 0 4px; color: {soft}",
    "p.stub": "margin: 0 0 8px; color: {soft}",
    "p.foot": "margin: 0 0 8px",
    "p.lines": "white-space: pre-wrap",
    "ul": "margin: 0 0 16px; padding: 0; list-style: none",
    "ol": "margin: 0 0 16px; padding: 0 0 0 24px",
    "li": "margin: 0 0 12px",
    "li.entry": "margin: 0 0 16px; padding: 0 0 8px; border-bottom: 1px solid {line}",
    "blockquote": "margin: 0 0 16px; padding: 0 0 0 12px; border-left: 3px solid {line}",
    "time": "color: {soft}; white-space: nowrap",
    "a": "color: {accent}",
    "a.button": (
        "display: inline-block; padding: 10px 16px; border-radius: 6px; background-color: {accent}; "
        "color: {on-accent}; font-weight: bold; text-decoration: none"
    ),
}
"""Of elements, and of those with a class; the names of colours are those of static/css/frame/tokens.css."""

_ELEMENT = re.compile(r"<({})\b([^>]*)>".format("|".join(name for name in _STYLES if "." not in name)))
_CLASSES = re.compile(r'\bclass="([^"]*)"')
_COLOUR = re.compile(r"--([\w-]+): light-dark\((#\w+), (#\w+)\)")
_COLOURED = re.compile(r"[\w-]+: [^;]*\{[^;]*")
_OWN_LINK = re.compile('(?<=href=")(?=/)')
_SUBJECT = re.compile("<title>(.*?)</title>", re.DOTALL)
_LONGEST_SUBJECT = 150


def draw(template: str, context: dict[str, Any], origin: str) -> tuple[str, str, str]:
    """Return subject, text and HTML of a mail in the active language. Links to pages begin with `origin`."""
    context = {"name": "", "first_line": "", "stop": ""} | context
    html = _OWN_LINK.sub(origin, _environment().get_template(template).render(context))
    title = _SUBJECT.search(html)
    subject = " ".join(unescape(title[1]).split()) if title else ""
    if len(subject) > _LONGEST_SUBJECT:
        subject = f"{subject[: _LONGEST_SUBJECT - 1].rstrip()}…"
    return subject, text_of(html.partition("</head>")[2]), _with_styles(html)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    """Return the environment of the site's pages, in which times are dates instead of ages."""
    pages: Environment = engines["jinja2"].env  # type: ignore[attr-defined]
    mails = pages.overlay()
    mails.globals = pages.globals | {"when": pages.filters["full_date"]}
    return mails


def notice_macros(template: str) -> Any:
    """Return the macros of a template of pages, as mails draw them."""
    return _environment().get_template(template).module


@lru_cache(maxsize=16)
def _colours(accent: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the site's colours by name, in the light theme and in the dark one."""
    tokens = (settings.BASE_DIR / "static/css/frame/tokens.css").read_text("utf-8")
    light, dark = dict[str, str](), dict[str, str]()
    for name, one, other in _COLOUR.findall(tokens.partition("@media")[0]):
        light[name], dark[name] = one, other
    if accent != colours.DEFAULT:
        light["accent"], dark["accent"] = accent, colours.in_dark_theme(accent)
    return light, dark


@lru_cache(maxsize=16)
def _dark_theme(accent: str) -> str:
    """Return the style sheet that replaces the colours of the elements' own styles."""
    _light, dark = _colours(accent)
    rules = [
        f"{element} {{ {'; '.join(f'{one.format_map(dark)} !important' for one in coloured)} }}"
        for element, styles in _STYLES.items()
        if (coloured := _COLOURED.findall(styles))
    ]
    return "\n".join(["@media (prefers-color-scheme: dark) {", *rules, "}"])


def _with_styles(html: str) -> str:
    light, _dark = _colours(chosen.SITE_ACCENT)

    def styled(tag: re.Match[str]) -> str:
        element, attributes = tag.groups()
        classes = _CLASSES.search(attributes)
        names = [element, *(f"{element}.{one}" for one in (classes[1].split() if classes else ()))]
        styles = "; ".join(_STYLES[name] for name in names if name in _STYLES).format_map(light)
        return f'<{element}{attributes} style="{styles}">'

    head, end, body = html.partition("</head>")
    return f"{head}<style>{_dark_theme(chosen.SITE_ACCENT)}</style>{end}{_ELEMENT.sub(styled, body)}"


def text_of(html: str) -> str:
    """Return HTML of the site's own templates as plain text.

    A line that is nothing but links has each with its address on the next line; other links leave their words.
    """
    reader = _TextReader()
    reader.feed(html)
    reader.close()
    reader.end_line()
    return "\n".join(reader.lines).strip() + "\n"


_BLOCKS = ("p", "ul", "ol", "li", "td", "blockquote", "h2", "h3")


class _TextReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._words = ""
        self._links: list[tuple[str, str]] = []
        self._between = ""
        self._link: str | None = None
        self._keeps_lines = False
        self._quotes = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in _BLOCKS:
            self._end_block()
            self._keeps_lines = "lines" in (given.get("class") or "").split()
            self._quotes += tag == "blockquote"
        elif tag == "br":
            self.end_line()
        elif tag == "a":
            self._link = given.get("href") or ""
            self._links.append((self._link, ""))

    def handle_endtag(self, tag: str) -> None:
        if tag in _BLOCKS:
            self._end_block()
            self._keeps_lines = False
            self._quotes -= tag == "blockquote"
        elif tag == "a":
            self._link = None

    def handle_data(self, data: str) -> None:
        if self._keeps_lines and self._link is None:
            first, *others = data.split("\n")
            self._words += first
            self._between += first
            for other in others:
                self.end_line(is_kept=True)
                self._words = self._between = other
            return
        self._words += data
        if self._link is None:
            self._between += data
        else:
            address, words = self._links[-1]
            self._links[-1] = (address, words + data)

    def _end_block(self) -> None:
        self.end_line()
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def end_line(self, *, is_kept: bool = False) -> None:
        """Add the line that has been read; an empty one only if it `is_kept`."""
        quote = "> " * self._quotes
        if self._links and not any(map(str.isalnum, self._between)):
            for address, words in self._links:
                is_mail = address.startswith("mailto:")
                shown = unquote(address[7:].partition("?")[0]) if is_mail else address
                lines = dict.fromkeys((" ".join(words.split()), shown))
                self.lines += [quote + one for one in lines if one]
        elif words := self._words if is_kept else " ".join(self._words.split()):
            self.lines.append(quote + words.rstrip())
        elif is_kept:
            self.lines.append(quote.rstrip())
        self._words, self._between, self._links = "", "", []
