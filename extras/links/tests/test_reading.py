"""From bytes to a title: in every encoding of the web, without the site's name where that is certain."""

import pytest
import webencodings

from extras.links.reading import decode, read
from extras.links.tests.pages import STORIES, pages
from tests.cases import for_each

ADDRESS = "https://www.a-site.example/page"


def test_two_hundred_pages_have_their_title():
    found = [(page, read(page.body, page.content_type, page.address)) for page in pages()]

    assert len(found) == 200
    assert {page.name: (got.title, page.title) for page, got in found if got.title != page.title} == {}
    assert {got.language for _page, got in found} == {story.language for story in STORIES}


SAMPLES = (
    *(story.title for story in STORIES),
    "Þórður lærði", "Mħux ġdid", "Tō‑hu".replace("‑", "-"), "ŵy a ŷd", "Șase țări", "Việt Nam đẹp",
)  # fmt: skip


@for_each("label", sorted(webencodings.LABELS))
def test_every_label_of_every_encoding_is_read(label):
    encoding = webencodings.lookup(label)
    if encoding.name == "replacement":
        assert "\ufffd" in decode(b"<title>\x1b$)Ax</title>", label, "a.example")
        return
    python = {"x-user-defined": "ascii"}.get(encoding.name)
    titles = ["Plain"]
    for sample in SAMPLES if python is None else ():
        try:
            sent = encoding.codec_info.encode(sample, "strict")[0]
        except UnicodeError:
            continue
        if encoding.codec_info.decode(sent, "strict")[0] == sample:
            titles.append(sample)
    for title in titles:
        body = encoding.codec_info.encode(f"<title>{title}</title>", "strict")[0]
        assert read(body, f"text/html; charset={label}", ADDRESS).title == title
        if encoding.name not in ("utf-16le", "utf-16be"):
            declared = encoding.codec_info.encode(f"<meta charset='{label}'><title>{title}</title>", "strict")[0]
            assert read(declared, "text/html", ADDRESS).title == title
    assert len(titles) > 1 or python, encoding.name


ODD = {
    b"": "",
    b"\xff\xfe": "",
    b"<title>": "",
    b"<title>cut": "cut",
    b"<title></title><h1>Heading</h1>": "Heading",
    b"<title>\0\x01\x1b[31m red</title>": "\ufffd [31m red",
    b"<title>a</title><base href='javascript:x'><link rel=canonical href=/b>": "a",
    b"<meta charset=utf-7><title>+ADw-</title>": "+ADw-",
    b"<meta charset=utf-16><title>a</title>": "a",
    b"<meta charset='" + b"x" * 500 + b"'><title>a</title>": "a",
    b"<plaintext><title>a</title>": "",
    b"<textarea><title>a</title></textarea><title>b</title>": "b",
    b"<title>A-Site: news</title>": "A-Site: news",
    b"<title>A-Site: news</title><h1>News</h1>": "news",
    b"<meta property=og:title content=News><title>News: A Site</title>": "News",
    b"<title>Introducing: A Site</title><h1>A Site</h1>": "Introducing: A Site",
    "<title>A Site：news</title>".encode(): "A Site：news",
    b"<title>fix__a_site</title>": "fix__a_site",
    "<title>标题_A Site</title>".encode(): "标题",
    "<title>“Zażółć” – naïve café</title>".encode() + b"<p>caf\xe9": "“Zażółć” – naïve café",
    "<html lang=ru><title>Почему снег</title>".encode() + b"\xff": "Почему снег",
    "<html lang=zh><title>为什么下雪天更安静</title>".encode("gb18030") + b"\xff\xff": "为什么下雪天更安静",
    "<html lang=ja><title>雪の日</title>".encode() + b"\xe3\x81": "雪の日",
    b"<title>a-site.example</title>": "a-site.example",
    b"<title>A Site | Home | A Site</title>": "A Site | Home",
    b"<title>5 - 3 = 2</title>": "5 - 3 = 2",
    b"<title>Is it site-wide?</title>": "Is it site-wide?",
    b"<h1>Two<br>lines</h1>": "Two lines",
    b"<h1><div>Two</div><div>blocks</div></h1>": "Two blocks",
    b"<h1><svg><title>Logo</title></svg>N<b>ame</b><script>x()</script><style>b{}</style>d</h1>": "Logo Named",
}


@for_each("body, title", ODD.items())
def test_an_odd_page_has_a_title_or_none(body, title):
    assert read(body, "text/html", ADDRESS).title == title


def test_a_description_in_html_is_read_without_its_tags():
    for given, shown in {"<p>One</p><p>Two</p>": "One Two", "Use <b> or </p>": "Use <b> or </p>"}.items():
        page = f'<meta name=description content="{given}">'
        assert read(page.encode(), "text/html", ADDRESS).description == shown


def test_files_are_named_and_not_read():
    kinds = {"text/plain; charset=utf-8": "text", "application/pdf": "pdf", "image/png": "other", "x": "page"}
    kinds |= {"": "page", "application/xhtml+xml": "page", " TEXT/HTML ;": "page", "/": "other"}
    for content_type, kind in kinds.items():
        found = read(b"<title>a</title>", content_type, ADDRESS)
        assert (found.kind, found.title) == (kind, "a" if kind == "page" else ""), content_type


CANONICAL = {
    "<link rel=canonical href=/other>": "https://www.a-site.example/other",
    "<link rel='nofollow CANONICAL' href='https://b.example/x'>": "https://b.example/x",
    "<base href=//b.example/c/><link rel=canonical href=d>": "https://b.example/c/d",
    "<meta property=og:url content=https://b.example/>": "https://b.example/",
    "<body><link rel=canonical href=https://evil.example/>": "",
    "<link rel=canonical href=javascript:alert(1)>": "",
    "<link rel=canonical href=file:///etc/passwd>": "",
    "<link rel=canonical href=https://user:secret@b.example/>": "",
    "<link rel=canonical href='http://['>": "",
    "<link rel=canonical>": "",
}


@for_each("head, address", CANONICAL.items())
def test_a_page_names_its_own_address_in_its_head(head, address):
    assert read(head.encode(), "text/html", ADDRESS).canonical == address


def test_a_guess_follows_the_language_or_the_country():
    for encoding, host, title in (
        ("gb18030", "a.cn", "为什么下雪天"),
        ("euc-jp", "a.jp", "雪の日"),
        ("cp1251", "a.ru", "Почему снег"),
    ):
        assert read(f"<title>{title}</title>".encode(encoding), "text/html", f"http://{host}/").title == title
    assert read("<title>naïve</title>".encode("cp1252"), "text/html", ADDRESS).title == "naïve"


_MEGABYTE = 1_000_000
LARGE = ("&", "<svg><title>", "<p a=1 ")


@pytest.mark.deep
@for_each("part", LARGE)
def test_a_megabyte_of_anything_is_read_in_a_moment(part):
    body = (part * (_MEGABYTE // len(part))).encode()

    assert len(read(body, "text/html", ADDRESS).title) <= 1_000
