"""Two hundred pages as sites of the world write them, each with its right title: 20 stories in 10 shapes."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import webencodings


class Story(NamedTuple):
    """A title, with the site that has it, and the encoding of that site's pages."""

    language: str
    encoding: str
    title: str
    site: str
    host: str


STORIES = (
    Story(
        "en", "utf-8", "Why queues at the café are fair – an experiment", "The Daily Example", "daily-example.com"
    ),
    Story("en-GB", "windows-1252", "“Slow” buses: what £3 buys", "Example News", "www.examplenews.co.uk"),
    Story("de", "iso-8859-15", "Über Brücken, Flöße & 20 € Wegegeld", "Flusszeitung", "flusszeitung.example"),
    Story("fr", "macintosh", "Où vont les œufs après Pâques", "Le Panier", "lepanier.fr"),
    Story("es", "utf-16le", "¿Quién pintó la señal?", "Señales", "blog.senales.example"),
    Story("pl", "iso-8859-2", "Żółw, który zgubił ścieżkę", "Kurier Łąk", "kurierlak.pl"),
    Story("cs", "windows-1250", "Kůň na střeše: příběh", "Zprávy z půdy", "zpravy.example"),
    Story("tr", "windows-1254", "İğde ağacının gölgesi", "Gölge Dergisi", "golge.com.tr"),
    Story("lt", "windows-1257", "Ąžuolas ir žuvėdra", "Pajūrio žinios", "pajuris.lt"),
    Story("ru", "windows-1251", "Почему снег скрипит", "Зимний вестник", "vestnik.ru"),
    Story("ru", "koi8-r", "Сколько весит туман", "Погода рядом", "pogoda.example"),
    Story("uk", "koi8-u", "Їжак і його ґанок", "Садиба", "sadyba.ua"),
    Story("el", "iso-8859-7", "Η θάλασσα το χειμώνα", "Το Λιμάνι", "limani.gr"),
    Story("he", "windows-1255", "מי הזיז את הגשר", "עיתון הנהר", "nahar.co.il"),
    Story("ar", "windows-1256", "لماذا يغني الرمل", "صحيفة الكثبان", "dunes.example"),
    Story("th", "windows-874", "แมวบนหลังคา", "ข่าวบ้านเรา", "khao.co.th"),
    Story("zh-CN", "gb18030", "为什么下雪天更安静", "新声网", "www.xinsheng.com.cn"),
    Story("zh-TW", "big5", "夜市的燈為什麼是黃的", "城市筆記", "notes.tw"),
    Story("ja", "shift_jis", "雪の日に音が消える理由", "みなと通信", "minato.co.jp"),
    Story("ko", "euc-kr", "눈 오는 날이 조용한 이유", "항구일보", "hanggu.kr"),
)


def _head(story: Story, title: str, *more: str) -> str:
    return f"<!doctype html><html lang={story.language}><head>{{}}<title>{title}</title>{''.join(more)}</head>"


def _named(story: Story) -> str:
    return f'<meta property="og:site_name" content="{story.site}">'


def _plain(story: Story) -> str:
    return _head(story, _escaped(story.title)) + f"<body><h1>{story.site}</h1>"


def _with_site_behind(story: Story) -> str:
    return _head(story, f"{_escaped(story.title)} | {story.site}", _named(story)) + "<body>"


def _with_site_before(story: Story) -> str:
    heading = f"<body><h1>{_escaped(story.title)}</h1>"
    return _head(story, f"{story.site}: {_escaped(story.title)}", _named(story)) + heading


def _with_host_behind(story: Story) -> str:
    return _head(story, f"{_escaped(story.title)} - {story.host.removeprefix('www.')}") + "<body>"


def _shared(story: Story) -> str:
    shared = f"<meta content='{_escaped(story.title)}' property=og:title>"
    return _head(story, story.site, _named(story), shared) + "<body><h1>Menu</h1>"


def _headed(story: Story) -> str:
    start = f"<html lang='{story.language}'>{{}}<body><div><h1> </h1><h1 class=x><a href=/>"
    return f"{start}{_escaped(story.title)}</a></h1><h1>{story.site}</h1>"


def _referenced(story: Story) -> str:
    """Write every character as a reference, in several lines."""
    return _head(
        story, "\n\t" + "".join(f"&#x{ord(char):x};" if char != " " else "\n " for char in story.title) + "\r\n"
    )


def _crowded(story: Story) -> str:
    other = "<!-- <title>A comment</title> --><script>'<title>A script'</script><svg><title>Arrow</title></svg>"
    return f"<html lang={story.language}>{{}}{other}<title>{_escaped(story.title)}</title><title>Second</title>"


def _sloppy(story: Story) -> str:
    long = "<SCRIPT>" + "var x = 1;" * 3_000 + "</SCRIPT>"
    return f'<HTML LANG="{story.language}">{{}}{long}<META NAME=a><TITLE >{_escaped(story.title)}</TITLE foo>'


def _with_a_dash(story: Story) -> str:
    """Keep a part that is not certainly the site's name."""
    return _head(story, f"{_escaped(story.title)} | 2", _named(story)) + "<body>"


SHAPES: tuple[Callable[[Story], str], ...] = (
    _plain, _with_site_behind, _with_site_before, _with_host_behind, _shared,
    _headed, _referenced, _crowded, _sloppy, _with_a_dash,
)  # fmt: skip


def _escaped(title: str) -> str:
    return title.replace("&", "&amp;")


class Page(NamedTuple):
    """What a server sends, and the title that is right."""

    name: str
    body: bytes
    content_type: str
    address: str
    title: str


def pages() -> Iterator[Page]:
    """Yield all pages. How they declare their encoding changes from one to the next."""
    for number, story in enumerate(STORIES):
        for place, shape in enumerate(SHAPES):
            way = ("header", "meta", "http-equiv", "xml", "none")[(number + place) % 5]
            if story.encoding == "utf-16le":
                way = ("header", "bom")[place % 2]
            elif way == "none" and story.encoding in (
                "koi8-r", "koi8-u", "macintosh", "iso-8859-2", "windows-1257",
            ):  # fmt: skip
                way = "meta"  # no guess is certain
            elif way == "none" and story.encoding in ("iso-8859-15", "iso-8859-7"):
                way = "header"
            charset = {
                "meta": f"<meta charset={story.encoding}>",
                "http-equiv": f"<META http-equiv=Content-Type content='a/b; charset={story.encoding.upper()}'>",
            }.get(way, "")
            html = shape(story).replace("{}", charset, 1)
            if way == "xml":
                html = f'<?xml version="1.0" encoding="{story.encoding}"?>{html}'
            body = webencodings.lookup(story.encoding).codec_info.encode(html, "strict")[0]
            if way == "bom":
                body = b"\xff\xfe" + body
            title = f"{story.title} | 2" if shape is _with_a_dash else story.title
            kind = f"text/html;charset={story.encoding}" if way == "header" else "text/html"
            name = f"{story.host} {shape.__name__} {way}"
            yield Page(name, body, kind, f"https://{story.host}/2026/{place}", title)
