"""Markdown: what members write is drawn as they mean it, and nothing of it acts on a page."""

import json
import re
from html import unescape
from html.parser import HTMLParser
from itertools import count
from random import Random
from urllib.parse import urljoin

import pytest

from articles.text.markdown import beginning, links_in, plain, render
from articles.text.mentions import mentioned_in
from tests.cases import for_each
from tests.work import work_in

REL = 'rel="nofollow ugc noopener"'

DRAWN = {
    "# One\n\n## Two\n\nThree\n===\n\n##### Five": "<h3>One</h3>\n<h4>Two</h4>\n<h3>Three</h3>\n<h5>Five</h5>",
    "*a* **b** ~~c~~ `<i>`": "<p><em>a</em> <strong>b</strong> <s>c</s> <code>&lt;i&gt;</code></p>",
    "> q": "<blockquote>\n<p>q</p>\n</blockquote>",
    "```py\n<b>\n```": '<pre title="py" tabindex="0"><code>&lt;b&gt;\n</code></pre>',
    "``` a <b>\nc\n```": '<pre tabindex="0"><code>a &lt;b&gt;\nc\n</code></pre>',
    "1. a\n1. b\n5. c\n   > 2. d\n   > 9. e": (
        '<ol>\n<li>a</li>\n<li>b</li>\n<li value="5">c\n<blockquote>\n<ol start="2">\n<li>d</li>\n'
        '<li value="9">e</li>'
        "\n</ol>\n</blockquote>\n</li>\n</ol>"
    ),
    "![[a](https://example.org)](b)": f'<p>![<a href="https://example.org/" {REL}>a</a>](b)</p>',
    "[a](javascript:b 'c') ![d](e)": '<p>[a](javascript:b "c") ![d](e)</p>',
    "[a](<https://example.org/ b>)": f'<p><a href="https://example.org/%20b" {REL}>a</a></p>',
    "[a](https://example.org '\"<b>')": (
        f'<p><a href="https://example.org/" title="&quot;&lt;b&gt;" {REL}>a</a></p>'
    ),
    "[a]\n\n> [b]: c\n> [a]: https://example.org": (
        f'<p><a href="https://example.org/" {REL}>a</a></p>\n<blockquote>\n<p>[b]: c</p>\n</blockquote>'
    ),
    "3. a\n   - b": '<ol start="3">\n<li>a\n<ul>\n<li>b</li>\n</ul>\n</li>\n</ol>',
    "<b onclick=x>a</b>": "<p>&lt;b onclick=x&gt;a&lt;/b&gt;</p>",
    "<div>\n*a*\n\n- <!-- b\n\n*c*": (
        "<p>&lt;div&gt;\n<em>a</em></p>\n<ul>\n<li>&lt;!-- b</li>\n</ul>\n<p><em>c</em></p>"
    ),
    "A `<std::string>` and <std::string>": ("<p>A <code>&lt;std::string&gt;</code> and &lt;std::string&gt;</p>"),
    "a~b ~c~ \\~d": "<p>a~b ~c~ ~d</p>",
    "\u3000\u3000\u3000\u3000- a\n\u00a0# b\u2003": "<p>\u3000\u3000\u3000\u3000- a\n&nbsp;# b\u2003</p>",
    "```\n\u3000a\n```": '<pre tabindex="0"><code>\u3000a\n</code></pre>',
    "**注意：**请看": "<p><strong>注意：</strong>请看</p>",
    "*强调：*文字": "<p><em>强调：</em>文字</p>",
    "含**「重点」**内容": "<p>含<strong>「重点」</strong>内容</p>",
    "~~删除。~~后": "<p><s>删除。</s>后</p>",
    "**강조(한글)**는": "<p><strong>강조(한글)</strong>는</p>",
    "これは**「強調」**です。": "<p>これは<strong>「強調」</strong>です。</p>",
    "**หมายเหตุ:**โปรดดู": "<p><strong>หมายเหตุ:</strong>โปรดดู</p>",
    'و**«كلمة»** ב**"מילה"**': '<p dir="rtl">و<strong>«كلمة»</strong> ב<strong>"מילה"</strong></p>',
    "請看***【公告】***內容": "<p>請看<em><strong>【公告】</strong></em>內容</p>",
}

LINKS = {
    "[![build](https://ci.example/b.svg)](https://example.org/)": ("https://example.org/", "build"),
    "[![](https://ci.example/b.svg)](https://example.org/)": ("https://example.org/", "https://example.org/"),
    "[![build](https://example.org/b.svg)](javascript:a)": ("https://example.org/b.svg", "build"),
    "![](https://example.org/b.png)": ("https://example.org/b.png", "https://example.org/b.png"),
    "[&#8203;](https://example.org/)": ("https://example.org/", "https://example.org/"),
    "https://example.org/a/__init__.py*": (
        "https://example.org/a/__init__.py",
        "https://example.org/a/__init__.py",
    ),
    "https://example.org/*/_a_~b~c)": ("https://example.org/*/_a_~b~c", "https://example.org/*/_a_~b~c"),
    "请看**https://example.org/a**这里": ("https://example.org/a", "https://example.org/a"),
    "https://zh.example.org/卡尔·马克思·": (
        "https://zh.example.org/%E5%8D%A1%E5%B0%94%C2%B7%E9%A9%AC%E5%85%8B%E6%80%9D",
        "https://zh.example.org/卡尔·马克思",
    ),
    "**https://example.org/ไทย*ไทย**": (
        "https://example.org/%E0%B9%84%E0%B8%97%E0%B8%A2*%E0%B9%84%E0%B8%97%E0%B8%A2",
        "https://example.org/ไทย*ไทย",
    ),
    "https://example.org/佐々木": (
        "https://example.org/%E4%BD%90%E3%80%85%E6%9C%A8",
        "https://example.org/佐々木",
    ),
    "https://example.org/?a=1&b=&lt;": ("https://example.org/?a=1&amp;b=", "https://example.org/?a=1&amp;b="),
    "[a](http://[2606:4700::1111]/)": ("http://[2606:4700::1111]/", "a"),
    "[https://example.org/](b)": ("https://example.org/", "https://example.org/"),
    "https://example.org/a_b.": ("https://example.org/a_b", "https://example.org/a_b"),
    "(https://example.org/a_(b))": ("https://example.org/a_(b)", "https://example.org/a_(b)"),
    "请看https://example.org这里": ("https://example.org/", "https://example.org"),
    "https://example.org/页，好": ("https://example.org/%E9%A1%B5", "https://example.org/页"),
    "**HTTP://EXAMPLE.org**": ("http://example.org/", "HTTP://EXAMPLE.org"),
    "<https://example.org/%E2%80%AE>": ("https://example.org/%E2%80%AE", "https://example.org/%E2%80%AE"),
    '[a *b*](https://example.org "c")': ("https://example.org/", "a b"),
    "[a][1]\n\n[1]: https://example.org": ("https://example.org/", "a"),
    "[](https://example.org/)": ("https://example.org/", "https://example.org/"),
    "[a](mailto:bob@example.org)": ("mailto:bob@example.org", "a"),
    "![a](https://example.org/b.png)": ("https://example.org/b.png", "a"),
    "你好@finn，谢谢": ("/users/finn/", "@finn"),
    "_@finn_": ("/users/finn/", "@finn"),
    "สวัสดี@finn คะ": ("/users/finn/", "@finn"),
    "و@finn": ("/users/finn/", "@finn"),
    "안녕 @finn님": ("/users/finn/", "@finn"),
    "「@finn」": ("/users/finn/", "@finn"),
    "@finn’s": ("/users/finn/", "@finn"),
    "...@al\\_ice.": ("/users/al_ice/", "@al_ice"),
    "@alice_2, hello": ("/users/alice_2/", "@alice_2"),
    "(@Bob-by)": ("/users/Bob-by/", "@Bob-by"),
    "[@alice](https://example.org/)": ("https://example.org/", "@alice"),
}

NO_LINKS = (
    "[a](javascript:alert(1))", "[a](&#106;avascript&colon;alert(1))", "[a](data:text/html,x)",
    "[a](vbscript:x) <javascript:alert(1)>", "[a](/about/) [a](//example.org) [a](#b) [a]()",
    "[a](mailto:bob@example.org?bcc=carol@example.org)", "[a](https://bob:secret@example.org/)",
    "http://localhost:8000/ http://192.168.1.1/ [a](http://printer.local/)",
    "xhttps://example.org ftp://example.org www.example.org", "`https://example.org` `@alice`",
    "@types/node @finn.bsky.social é@finn @finné ж@finn https\\://example.org",
    "bob@alice.org @bob@example.org @a @2b \\@alice /@alice",
    "    @alice https://example.org",
)  # fmt: skip

# Texts of 20,000 characters that took this parser, the one before it or the gate longest, or became the largest.
HOSTILE = {
    "quotes": ">" * 20_000,
    "lazy lines": ">" * 100 + "a\n" + "a\n" * 9_900,
    "quotes in lists": "- > " * 5 + "a\n" * 9_990,
    "lists": "- + " * 5_000,
    "open lists": "- + " * 20 + "\n" * 19_900,
    "stairs of lists": "\n".join(" " * 40 * step + "- + " * 10 for step in range(9)) + "\n" * 17_000,
    "items": "- a\n" * 5_000,
    "items of two lines": "+ a\nb\n" * 3_300,
    "headings": "#\n" * 9_900,
    "fences": "```\n" * 5_000,
    "emphasis": "*a*" * 6_600,
    "nested emphasis": "*a **b " * 1_000 + "c** d*" * 1_000,
    "brackets": "[" * 20_000,
    "wide table": "|".join("a" * 500) + "\n" + "|".join("-" * 500) + "\n" + "a\n" * 9_000,
    "table between other line breaks": "a|" * 300 + "\n\f" + "-|" * 300 + "\v\n" + "a\n" * 9_000,
    "tables": ("a|b|c\n-|-|-\n" + "x\n" * 300 + "\n") * 30,
    "empty tables": "a|b\n-|-\n@a_b" * 430 + "\n\n" * 6_900,
    "references": "[a]: https://example.org/" + "b" * 2_000 + "\n\n" + "[a]" * 5_000,
    "links": "".join(f"[](http://a.b{number})" for number in range(1_200)),
    "links of names": "".join(f"https://é{number}.b " for number in range(1_200)),
    "brackets after links": ("http://a.b/" + ")" * 2_000 + " ") * 10,
    "mentions": "@ab " * 5_000,
    "images in links": "[![a](b)](c)" * 1_600,
    "tags": "<a:b>" * 4_000,
    "unseen": "&#8203;" * 2_800,
    "signs": "&" * 20_000,
    "quotation marks": '"<?@ab /\u00a0<http://a.b>\n' + '"' * 19_900,
    "hard spaces": "\u00a0@a_b\n" * 400 + "\u00a0" * 18_000,
}


class _Depth(HTMLParser):
    """How deep elements are nested."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.deepest = self._depth = 0
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        if tag not in {"br", "hr"}:
            self._depth += 1
            self.deepest = max(self.deepest, self._depth)

    def handle_endtag(self, tag):
        self._depth -= 1


@pytest.mark.parametrize(("text", "html"), DRAWN.items())
def test_text_is_drawn_as_markdown(text, html):
    assert render(text).strip() == html


def test_columns_of_a_table_keep_their_side():
    html = render("a|b\n-|-:\n1|2")

    assert re.findall(r"<t[hd]\b[^>]*>", html) == ["<th>", '<th class="right">', "<td>", '<td class="right">']


def _in_ascii(names):
    return {name for name in names if name.isascii()}


@pytest.mark.parametrize(("text", "link"), LINKS.items())
def test_a_link_leads_where_it_says_and_gives_nothing_away(text, link):
    html = render(text, find_members=_in_ascii)
    address, words = link

    assert re.search(f'<a href="{re.escape(address)}"(?: title="[^"]*")? {REL}>', html)
    assert re.sub("<[^>]*>", "", html[html.index("<a") : html.index("</a>")]) == words
    assert html.count("<a") == 1
    assert "!" not in html


@pytest.mark.parametrize("mark", "．｡､］｝）＂＇～｜…，。？！》」』】〕〉；：、،؟।።។“”«»—")
def test_a_bare_link_ends_before_the_marks_of_every_script(mark):
    html = render(f"请看https://example.org/a{mark}文字 https://example.org{mark}{mark}")

    assert links_in(html) == ["https://example.org/a", "https://example.org/"]
    assert html.count(f"</a>{mark}") == 2


@pytest.mark.parametrize("text", NO_LINKS)
def test_what_is_no_link_of_the_site_stays_text(text):
    assert "<a" not in render(text, find_members=_in_ascii)


def test_private_links_are_links_where_the_site_allows_them():
    assert '<a href="http://localhost:8000/"' in render("<http://localhost:8000/>", private_links=True)


def test_names_of_members_become_links_and_other_names_stay_text():
    asked = []

    def find_members(names):
        asked.append(list(names))
        return {"ann", "bob"}

    html = render("@ann/@bob @property (@types/node) ~@bob_~ `@code` @ann", find_members=find_members)

    assert mentioned_in(html) == ("ann", "bob")
    assert re.sub("<a[^>]*>@(ann|bob)</a>", r"\1", html) == (
        "<p>ann/bob @property (@types/node) ~bob_~ <code>@code</code> ann</p>\n"
    )
    assert asked == [["ann", "bob", "property", "bob_"]]
    assert "<a" not in render("`@ann`", find_members=find_members)
    assert len(asked) == 1


def test_a_mention_from_right_to_left_leaves_the_direction_of_its_paragraph():
    html = render("3 @علي 5, @小明")

    assert re.findall("<a[^>]*>", html) == [
        f'<a href="/users/%D8%B9%D9%84%D9%8A/" dir="auto" {REL}>',
        f'<a href="/users/%E5%B0%8F%E6%98%8E/" {REL}>',
    ]
    assert mentioned_in(html) == ("علي", "小明")


PIECES = (
    "ab", "https://e.org/ab", "[ab]", "[ab]: ", "[ab]: /ab 'ab'", "](", "![", "[", ")", "(", "<",
    ">", "`", "```",
    "~~~", "\n", "\n\n", "|", "\n-|-\n", "\n-:\n", "- ", "1. ", "7) ", "> ", "*", "**", "_", '"', "'", "\\",
    "&amp;", "&", "    ", "#", " ", "\t", "@ab ", "~", "===",
)  # fmt: skip


def test_no_word_is_lost():
    choices, words = Random(1), count()
    for _text in range(2_000):
        text = "".join(choices.choices(PIECES, k=choices.randint(3, 25)))
        text = re.sub("ab", lambda word: f"w{next(words)}w", text)
        shown = unescape(render(text))
        assert [word for word in re.findall("w[0-9]+w", text) if word not in shown] == [], text


DIRECTIONS = {
    "> English (see above).\n\nرد عربي هنا!": "ltr ltr rtl",
    "عربي\n\n> english\n>\n> עברית": "rtl ltr ltr rtl",
    "- a\n- ب\n  - ج": "ltr ltr rtl rtl rtl",
    "|א|b|\n|-|-|\n|1|ב|": "rtl rtl ltr rtl rtl",
    "@alice https://example.org `code` 1) — مرحبا": "rtl",
    "# «عنوان»\n\na &lt; ب": "rtl ltr",
    "1\n\n`a`\n\n**x**א\n\nא**x**": "ltr ltr ltr rtl",
    "𞤀𞤣𞤤𞤢𞤥\n\nߒߞߏ\n\nࠀࠁ\n\n中文": "rtl rtl rtl ltr",
}


@pytest.mark.parametrize(("text", "directions"), DIRECTIONS.items())
def test_each_block_has_the_direction_of_its_first_letter(text, directions):
    class Blocks(HTMLParser):
        def __init__(self):
            super().__init__()
            self.open, self.found = ["ltr"], []

        def handle_starttag(self, tag, attrs):
            self.open.append(dict(attrs).get("dir") or self.open[-1])
            if tag in {"p", "h3", "li", "ul", "blockquote", "table", "td", "th"}:
                self.found.append(self.open[-1])

        def handle_endtag(self, tag):
            self.open.pop()

    blocks = Blocks()
    blocks.feed(render(text))

    assert " ".join(blocks.found) == directions


def addresses(text: str) -> list[str]:
    """Return where the links of a site's own text lead."""
    html = render(text, site_links=True)
    return [unescape(address) for address in re.findall(r'<a href="([^"]*)"', html)]


def test_the_sites_own_texts_link_to_its_pages_and_those_of_members_do_not():
    text = "[a](/rules/) [b](/) [c](/groups/编程/?order=hot&page=2#x) [d]\n\n[d]: /about/#imprint"

    assert addresses(text) == ["/rules/", "/", "/groups/%E7%BC%96%E7%A8%8B/?order=hot&page=2#x", "/about/#imprint"]
    assert "<a" not in render(text)


def test_hostile_links_of_the_sites_own_texts_stay_on_the_site(shared_dir):
    cases = shared_dir / "cases"
    strings = json.loads((cases / "naughty_strings.json").read_text("utf-8"))
    strings += (cases / "xss_300.txt").read_text("utf-8").splitlines()
    strings += [
        "//evil.example", "/\\evil.example", "/&#92;evil.example",
        "/&Tab;/evil.example", "/&#10;/evil.example",
    ]  # fmt: skip

    for string in (*strings, *(f"/{one}" for one in strings)):
        for text in (f"[a](<{string}>)", f"[a]({string})", f"[a]\n\n[a]: {string}"):
            for address in addresses(text):
                read = re.sub("[\t\r\n]", "", address).replace("\\", "/")  # as browsers do
                is_own = urljoin("https://site.example/rules/", read).startswith("https://site.example/")
                assert is_own or address.startswith(("http://", "https://", "mailto:")), text


@pytest.mark.deep
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_text_grows_neither_deep_nor_large(kind):
    html = render(HOSTILE[kind][:20_000])

    assert _Depth(html).deepest <= 50
    assert html.count("<td") + html.count("<th") <= 3_600
    assert len(html.encode()) <= 200_000


@for_each("kind", HOSTILE)
def test_no_text_is_much_more_work_than_others(kind):
    render("&#8203;")  # the kinds of characters are looked up once

    assert work_in(lambda: render(HOSTILE[kind][:20_000])) < 100_000


AS_TYPED = (
    ">" * 25 + " words",
    "\n".join("  " * depth + "- a" for depth in range(25)),
    "*a **b " * 11 + "c** d*" * 11,
    "[a]: <b>", "#", "> >\n> -", "```\n```", "[](javascript:a)", "&#8203;&nbsp;",
    "a|" * 500 + "\n" + "-|" * 500 + "\n" + "a\n" * 9_000,
    "@ab " * 2_000,
)  # fmt: skip


@pytest.mark.parametrize("text", AS_TYPED)
def test_a_text_that_would_be_too_much_or_show_nothing_is_shown_as_it_was_typed(text):
    html = render(text)

    assert re.findall("<[^>]*>", html) == ["<p>", *["<br>"] * text.strip().count("\n"), "</p>"]
    assert unescape(re.sub("<[^>]*>", "", html)).strip() == text.strip()


def test_a_text_without_words_has_no_html():
    assert render(" \n\u3000") == ""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("aaa\n\nbbb", "aaa · bbb"), ("aaa\nbbb\n\nccc\nddd", "aaa bbb · ccc ddd"), ("a\n\n\n\nb", "a · b"),
        ("foo  \nbaz", "foo baz"), ("foo\\\nbaz", "foo baz"),
        ("# Foo\nbar", "Foo · bar"), ("Foo\n===\nbar", "Foo · bar"), ("Foo\nBar\n---\nbaz", "Foo Bar · baz"),
        ("#### one\n##### two", "one · two"), ("Foo\n***\nbar", "Foo · bar"), ("***", ""),
        ("- foo\n- bar\n+ baz", "foo · bar · baz"), ("1. foo\n2. bar\n3) baz", "foo · bar · baz"),
        ("- foo\n\n- bar\n\n\n- baz", "foo · bar · baz"), ("- foo\n  - bar\n    - baz", "foo · bar · baz"),
        ("- a\n  > b\n  ```\n  c\n  ```\n- d", "a · b · c · d"), ("1. - 2. foo", "foo"), ("-\n- foo", "foo"),
        ("> # Foo\n> bar\n> baz", "Foo · bar baz"), ("> foo\n\n> bar", "foo · bar"), ("foo\n> bar", "foo · bar"),
        ("```\nx = 1\ny = 2\n```\nthen", "x = 1 y = 2 · then"), ("a\n\n    b\n\nc", "a · b · c"),
        ("| foo | bar |\n| --- | --- |\n| baz | bim |", "foo · bar · baz · bim"),
        ("| a |\n| - |\n| b |\n\nc", "a · b · c"),
        ("the people who made them\n\nold papers", "the people who made them · old papers"),
        ("It works.\n\nAnd more", "It works. And more"), ("Why?\n- one", "Why? one"), ("So:\n1. one", "So: one"),
        ("He said “no.”\n\nShe left", "He said “no.” She left"), ("写完了。\n\n还有", "写完了。还有"),
        ("标题\n===\n正文", "标题 · 正文"), ("【注意】\n\n正文", "【注意】 · 正文"),
        ("لماذا؟\n\nنعم", "لماذا؟ نعم"), ("« Oui. »\n\nNon", "« Oui. » Non"), ("„Ja.“\n\nNein", "„Ja.“ Nein"),
        ("a\n\n&#x200B;\n\nb\n\n\u2800\n\n&shy;", "a · b"), ("|a||\n|-|-|\n||b|", "a · b"),
        ("[![a](https://example.org/i)](https://example.org/)\n\nb", "a · b"), ("<p>a</p>b", "<p>a</p>b"),
        ("*foo*bar `a` [b](https://example.org/)", "foobar a b"), ("a &amp; b\n\n\\<br>", "a & b · <br>"),
    ],
)  # fmt: skip
def test_where_a_block_ends_the_line_shows_it(text, line):
    assert plain(render(text)) == line


@pytest.mark.parametrize(
    "text", ["a&<b> " * 40, "[a](https://example.org/?b=1&c=2) *d* " * 20, "&amp;lt; \u00a0\n\n" * 40]
)
def test_the_beginning_of_a_text_is_read_as_the_whole_is(text):
    html = render(text * 4)
    whole = plain(html)

    for characters in range(1, len(whole) + 2):
        read = beginning(html, characters)
        assert whole.startswith(read)
        assert read == whole or len(read) > characters
    assert len(beginning(html, 10)) < len(whole)
