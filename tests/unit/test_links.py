"""Links: a click opens the address that was checked, and links to the same page are recognised."""

import json
import os
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given, settings, strategies as st

from articles.text import links
from articles.text.known_sites import TRACKING_PARAMETERS, TRACKING_PREFIXES
from articles.text.lines import InvalidInput
from articles.text.links import LINK_LIMIT, clean_link, host_of, link_digest, link_key

CASES = Path(os.environ.get("SHARED_DIR") or Path(__file__).resolve().parents[3] / "shared") / "cases"
needs_cases = pytest.mark.skipif(not CASES.is_dir(), reason="the shared test cases are not here")

# An address that cannot break out of an attribute, header or feed.
SAFE = re.compile(r"https?://[a-z0-9_\[-][^\x00-\x20\x7f-\U0010ffff\"<>]*")

ODD = "ab.:/\\?#@%[]&=+-_~|^`{}<>\"' \t\n\x00\u200b\u202eéß。．／＠①文😀\u0301\ud800" + "xn--"
tails = st.one_of(st.text(ODD), st.text(st.characters()), st.text("%0123456789abcdefABCDEF"))
beginnings = st.sampled_from(
    [
        "", "http://", "https://", "HtTpS://", "http:", "//", "http://a.test/", "http://a.test?",
        "http://a.test/#", "http://xn--",
    ]
)  # fmt: skip
raw_links = st.builds("{}{}".format, beginnings, tails)

words = st.text("abcXYZ019-._~", min_size=1, max_size=6).filter(lambda word: set(word) != {"."})
hosts = st.sampled_from(
    ["example.org", "www.example.org", "xn--fsq.test", "192.0.2.7", "[2001:db8::1]", "localhost"]
)
paths = st.lists(words, max_size=3).map(lambda parts: "".join(f"/{part}" for part in parts))
queries = st.lists(st.tuples(st.sampled_from(["id", "p", "q", "ref", "v"]), words), max_size=3)


ordinary_signs = st.text("aZ0.-_~%2eE5/?#:@&=+,;!$()*'^|[]\\", max_size=12)
ordinary_hosts = st.builds(
    "{}.{}".format, st.text("ab0-.x", max_size=70), st.sampled_from(["org", "x", "0x7", "7"])
)
ordinary_links = st.builds("https://{}/{}".format, st.one_of(hosts, ordinary_hosts), ordinary_signs)


@given(st.one_of(ordinary_links, raw_links))
@example("https://example.org/a/.%2e/b")
@example("https://example.org/%2E%2e")
@example("https://ab--cd.example.org/")
@example("https://xn--a.example.org/")
@example(f"https://{'a' * 64}.org/")
@example(f"https://{'a.' * 127}org/")
@example("https://example.org/?'")
@example("https://example.0x7f/")
def test_a_link_that_is_not_parsed_would_be_returned_unchanged(raw):
    if match := links._ORDINARY.fullmatch(raw):
        assert links._parsed(raw) == raw == clean_link(raw)
        assert links._host(links._parse(raw)) == match[1]


def refusal(raw):
    """Return the code with which the link is refused; fail if it is accepted."""
    with pytest.raises(InvalidInput) as refused:
        clean_link(raw)
    return refused.value.code


def key(raw):
    return link_key(clean_link(raw))


def cleaned_or_none(raw):
    try:
        return clean_link(raw)
    except InvalidInput:
        return None


@settings(max_examples=200)
@given(raw_links)
@example("http://a.test/" + "文" * 300)
def test_every_link_is_either_a_safe_http_address_or_refused(raw):
    link = cleaned_or_none(raw)

    if link is not None:
        assert SAFE.fullmatch(link)
        assert len(link) <= LINK_LIMIT
        assert clean_link(link) == link


@settings(max_examples=200)
@given(raw_links)
@example("http://a.test/%%34%31")
@example("http://a.test/?%75tm_source=1&utm%5Fid=2")
@example("http://a.test/index.html//index.htm/")
@example("http://en.m.mobile.m.wikipedia.org/wiki/%20")
@example("http://www.www.mobile.twitter.com/%2528")
@example("http://github.com/A/B.git.git")
@example("http://mp.weixin.qq.com/s?sn=%3D&__biz=a&idx=1&mid=2&mid=3")
def test_the_key_of_a_key_is_itself(raw):
    link = cleaned_or_none(raw)

    if link is not None:
        assert link_key(f"http://{link_key(link)}") == link_key(link)


@pytest.mark.parametrize(
    "raw",
    [
        "javascript:alert(1)", "JaVaScRiPt:alert(1)", "javascript:alert('https://')",
        "javascript://example.org/%0aalert(1)", "&#106;avascript:alert(1)",
        "data:text/html,<script>alert(1)</script>", "vbscript:msgbox(1)", "file:///etc/passwd",
        "blob:https://example.org/1", "ftp://example.org/", "view-source:http://example.org/",
        "mailto:alice@example.org", "//evil.com", "\\\\evil.com", "/articles/1/", "evil.com",
        "https:evil.com", "https:/evil.com", "http:\\\\evil.com", "http:/\\evil.com",
        "httpſ://evil.com", "ｈttp://evil.com",
    ],
)  # fmt: skip
def test_only_http_and_https_with_two_slashes_are_links(raw):
    assert refusal(raw) == "link-scheme"


@pytest.mark.parametrize(
    "raw",
    [
        "java\tscript:alert(1)", "\x01javascript:alert(1)", "\x00https://example.org/",
        "https://example.org/\r\nSet-Cookie: a=b", "https://example.org/a b", "https://exa\tmple.org/",
        "https://example.org/\u202egpj.exe", "https://exam\u200bple.org/", "https://exam\u00adple.org/",
        "https://example.org/\u3164", "https://example.org/\u2028",
        "https://example.org/\ud800", "\ufeffhttps://example.org/",
    ],
)  # fmt: skip
def test_invisible_characters_and_line_breaks_are_refused_anywhere(raw):
    assert refusal(raw) == "link-characters"


@pytest.mark.parametrize(
    "raw",
    [
        "http://", "https://", "http:///x", "http://\\x", "http:////evil.com", "http://?x", "http://#x",
        "http://:80/", "http://./", "http://../", "http://.org/", "http://org./", "http://a..org/",
        "http://intranet/", "http://example.org:65536/", "http://example.org:port/", "http://exa%00mple.org/",
        "http://exa%2fmple.org/", "http://*.example.org/", "http://a,b.example.org/", "http://256.1.1.1/",
        "http://[::1/", "http://xn--a.org/", "http://a.b.c.xn--pokxncvks/",
        f"http://{'a' * 64}.org/",
        f"http://{'a.' * 126}org/",
    ],
)  # fmt: skip
def test_a_link_needs_a_host_that_can_exist(raw):
    assert refusal(raw) == "link-host"


@pytest.mark.parametrize(
    "raw",
    [
        "https://google.com@evil.com/", "https://alice:secret@example.org/", "https://@example.org/",
        "https://:@example.org/", "https://google.com%40@evil.com/",
    ],
)  # fmt: skip
def test_user_information_before_the_host_is_refused(raw):
    assert refusal(raw) == "link-userinfo"


@pytest.mark.parametrize("raw", ["", "  ", "\r\n"])
def test_an_empty_link_is_refused_as_empty(raw):
    assert refusal(raw) == "link-empty"


@pytest.mark.parametrize("length", [LINK_LIMIT + 1, 1_000_000])
def test_a_link_too_long_is_refused_unread(monkeypatch, length):
    monkeypatch.setattr("articles.text.links.URL", lambda link: pytest.fail("it was parsed"))

    with pytest.raises(InvalidInput) as refused:
        clean_link("https://example.org/".ljust(length, "x"))

    assert refused.value.code == "link-long"
    assert refused.value.params == {"limit": LINK_LIMIT, "length": length}


def test_a_link_of_the_full_length_is_accepted():
    link = "https://example.org/".ljust(LINK_LIMIT, "x")

    assert clean_link(link) == link


def test_a_link_that_grows_too_long_by_encoding_is_refused():
    with pytest.raises(InvalidInput) as refused:
        clean_link("https://example.org/" + "文" * 300)

    assert refused.value.code == "link-long"
    assert refused.value.params == {"limit": LINK_LIMIT, "length": 20 + 9 * 300}


@pytest.mark.parametrize(
    ("raw", "link"),
    [
        ("https://example.org", "https://example.org/"),
        ("  https://example.org/\r\n", "https://example.org/"),
        ("\u3000https://example.org/\u00a0", "https://example.org/"),
        ("HTTPS://EXAMPLE.ORG/Path", "https://example.org/Path"),
        ("https://example.org:443/", "https://example.org/"),
        ("http://example.org:8080/#part", "http://example.org:8080/#part"),
        ("https://example.org/a/../b/./c", "https://example.org/b/c"),
        ("https://example.org\\@evil.com", "https://example.org/@evil.com"),
        ("https://example.org/@alice?to=bob@example.org", "https://example.org/@alice?to=bob@example.org"),
        ('https://example.org/"><script>', "https://example.org/%22%3E%3Cscript%3E"),
        ("https://example.org/文?q=文#文", "https://example.org/%E6%96%87?q=%E6%96%87#%E6%96%87"),
        ("https://a_b-.example.org./", "https://a_b-.example.org./"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://[::1]/", "http://[::1]/"),
    ],
)
def test_a_link_is_stored_as_a_browser_understands_it(raw, link):
    assert clean_link(raw) == link


@pytest.mark.parametrize(
    ("raw", "host"),
    [
        ("https://аpple.com/", "xn--pple-43d.com"),  # a Cyrillic а
        ("https://例子.测试/", "xn--fsqu00a.xn--0zwm56d"),
        ("https://www.faß.de/", "xn--fa-hia.de"),
        ("https://موقع.وزارة-الاتصالات.مصر/", "xn--4gbrim.xn----ymcbaaajlc6dj7bxne2c.xn--wgbh1c"),
        ("https://ｅxample。org/", "example.org"), ("https://www.example.org:8080/", "example.org"),
        ("https://example.org./", "example.org"), ("https://www.com/", "www.com"),
        ("http://192.0.2.7:80/", "192.0.2.7"), ("http://[2001:DB8::1]/", "[2001:db8::1]"),
        ("http://localhost/", "localhost"),
    ],
)  # fmt: skip
def test_the_host_shown_cannot_be_mistaken_for_another(raw, host):
    assert host_of(clean_link(raw)) == host


@pytest.mark.parametrize(
    "variant",
    [
        "http://example.org/a/b?id=7", "HTTPS://EXAMPLE.ORG/a/b?id=7", "https://example.org:443/a/b?id=7",
        "http://example.org:80/a/b?id=7", "https://example.org./a/b?id=7", "https://example.org/a/b/?id=7",
        "https://example.org/a/b?id=7#comments", "https://example.org/a/b?id=7#",
        "https://example.org/a/b?id=7&", "https://example.org/%61/b?i%64=7",
        "https://example.org/a/b?utm_source=x&id=7&utm_medium=y",
        "https://example.org/a/b?id=7&UTM_Campaign=z", "https://example.org/a/b?id=7&utm%5Fterm=z&fbclid",
        "https://www.example.org/a/b?id=7", "http://WWW.www.example.org/a/b/?id=7#top",
    ],
)  # fmt: skip
def test_other_spellings_of_a_link_have_the_same_key(variant):
    assert key(variant) == "example.org/a/b?id=7"


@pytest.mark.parametrize(
    ("raw", "its_key"),
    [
        ("https://www.youtube.com/watch?v=DQW4w9-_XcQ", "youtube.com/watch?v=DQW4w9-_XcQ"),
        ("https://www.youtube.com/watch", "youtube.com/watch"),
        ("https://www.youtube.com/watch?v=&t=4", "youtube.com/watch?v=&t=4"),
        ("https://www.youtube.com/@channel/shorts", "youtube.com/@channel/shorts"),
        ("https://www.youtube.com/playlist?list=PL1", "youtube.com/playlist?list=PL1"),
        ("https://youtu.be/", "youtu.be"),
        ("https://youtu.be/a/b", "youtu.be/a/b"),
        ("https://youtu.be:8080/x", "youtu.be:8080/x"),
        ("https://notyoutu.be/x?t=1", "notyoutu.be/x?t=1"),
        ("https://youtube.com.example.org/watch?v=x&t=1", "youtube.com.example.org/watch?v=x&t=1"),
        ("https://arxiv.org/list/cs/2401.00001", "arxiv.org/list/cs/2401.00001"),
        ("https://arxiv.org/abs/2401.00001x", "arxiv.org/abs/2401.00001x"),
    ],
)
def test_other_pages_of_such_sites_keep_their_own_keys(raw, its_key):
    assert key(raw) == its_key


@pytest.mark.parametrize(
    "form", ["abs/{}", "pdf/{}", "pdf/{}.pdf", "pdf/{}v2", "abs/{}v12", "html/{}v1", "pdf/{}v2.pdf"]
)
@pytest.mark.parametrize("paper", ["2401.00001", "0704.0001", "hep-th/9901001", "math.GT/0309136"])
def test_the_abstract_text_and_versions_of_a_paper_have_the_same_key(form, paper):
    assert key(f"https://www.arxiv.org/{form.format(paper)}?context=cs#S1") == f"arxiv.org/abs/{paper}"


WEIXIN = "https://mp.weixin.qq.com/s?__biz=MzA4MQ==&mid=2650&idx=1&sn=8d09"

SAME = [
    ("https://en.wikipedia.org/wiki/Redis_(company)", "https://en.wikipedia.org/wiki/Redis_%28company%29"),
    ("https://en.wikipedia.org/wiki/C%2B%2B", "https://en.wikipedia.org/wiki/C++"),
    ("https://example.org/a!$&'()*+,;=:@b", "https://example.org/a%21%24%26%27%28%29%2a%2B%2c%3B%3D%3A%40b"),
    ("https://medium.com/@ann/a-1", "https://medium.com/%40ann/a-1"),
    ("https://example.org/wiki/Talk:A", "https://example.org/wiki/Talk%3AA"),
    ("https://twitter.com/ann/status/12", "https://x.com/ann/status/12"),
    ("https://mobile.twitter.com/ann/status/12?s=20", "https://x.com/ann/status/12?t=abc&s=19"),
    ("https://twitter.com/Ann/statuses/12/photo/1", "https://x.com/i/web/status/12"),
    ("https://twitter.com/ann", "https://mobile.twitter.com/ann?s=21"),
    ("https://www.twitter.com/ann/likes", "https://m.twitter.com/ann/likes"),
    ("https://en.m.wikipedia.org/wiki/Valkey", "https://en.wikipedia.org/wiki/Valkey"),
    ("https://zh.m.wikipedia.org/wiki/%E6%96%87?wprov=sfla1", "https://zh.wikipedia.org/wiki/%E6%96%87"),
    ("https://en.mobile.wikipedia.org/wiki/A", "https://en.wikipedia.org/wiki/A"),
    ("https://de.m.wiktionary.org/wiki/gehen", "https://de.wiktionary.org/wiki/gehen"),
    ("https://m.wikidata.org/wiki/Q42", "https://www.wikidata.org/wiki/Q42"),
    ("https://commons.m.wikimedia.org/wiki/File:A.png", "https://commons.wikimedia.org/wiki/File:A.png"),
    ("https://m.mediawiki.org/wiki/API", "https://www.mediawiki.org/wiki/API"),
    ("https://en.wikipedia.org/wiki/Free%20software", "https://en.wikipedia.org/wiki/Free_software"),
    ("https://old.reddit.com/r/redis/", "https://www.reddit.com/r/redis"),
    ("https://np.reddit.com/r/redis/comments/1ab2c/a_title/", "https://reddit.com/r/redis/comments/1ab2c/"),
    ("https://new.reddit.com/r/redis/comments/1ab2c/other_title", "https://redd.it/1ab2c"),
    ("https://www.reddit.com/comments/1ab2c?share_id=x", "https://m.reddit.com/r/redis/comments/1ab2c?rdt=5"),
    ("https://www.reddit.com/gallery/1ab2c", "https://old.reddit.com/user/ann/comments/1ab2c/x/"),
    (
        "https://old.reddit.com/r/a/comments/1ab2c/t/k9z/?context=3",
        "https://reddit.com/r/a/comments/1ab2c/comment/k9z/",
    ),
    ("https://www.rfc-editor.org/rfc/rfc9110.html#name-get", "https://www.rfc-editor.org/rfc/rfc9110"),
    ("https://www.rfc-editor.org/info/rfc9110", "https://www.rfc-editor.org/rfc/rfc9110.txt"),
    ("https://www.rfc-editor.org/rfc/inline-errata/rfc9110.html", "https://www.rfc-editor.org/rfc/rfc9110.pdf"),
    ("https://datatracker.ietf.org/doc/html/rfc9110", "https://datatracker.ietf.org/doc/rfc9110/"),
    ("https://tools.ietf.org/html/rfc9110", "https://www.rfc-editor.org/rfc/rfc9110.xml"),
    ("https://www.ietf.org/rfc/rfc0793.txt", "https://tools.ietf.org/rfc/rfc793.txt"),
    ("https://httpwg.org/specs/rfc9110.html", "https://datatracker.ietf.org/doc/pdf/rfc9110"),
    ("https://www.youtube.com/embed/dQw4w9WgXcQ?start=8", "https://youtu.be/dQw4w9WgXcQ"),
    ("https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ", "https://m.youtube.com/watch?v=dQw4w9WgXcQ"),
    ("https://www.youtube.com/v/dQw4w9WgXcQ", "https://www.youtube.com/shorts/dQw4w9WgXcQ"),
    ("https://m.youtube.com/watch?app=desktop&v=dQw4w9-_XcQ&list=PL1", "https://youtu.be/dQw4w9-_XcQ/?si=a&t=9#x"),
    ("https://www.youtube.com/live/dQw4w9%2D_XcQ", "https://youtube.com/watch?v=dQw4w9-_XcQ#/route"),
    ("https://m.youtube.com/@ann", "https://www.youtube.com/@ann"),
    ("https://github.com/Redis/Redis", "https://github.com/redis/redis"),
    ("https://github.com/Microsoft/TypeScript/issues/1", "https://github.com/microsoft/typescript/issues/1"),
    ("https://github.com/redis/redis.git", "https://github.com/redis/redis?tab=readme-ov-file#redis"),
    ("https://GitHub.com/Redis", "https://github.com/redis"),
    ("https://example.org/index.html", "https://example.org/"),
    ("https://example.org/a/index.htm?id=1#b", "https://www.example.org/a?id=1"),
    ("https://example.org/a/index.html?utm_source=x", "https://example.org/a/"),
    ("https://www.facebook.com/ann/posts/1?mibextid=Na3&rdid=x", "https://m.facebook.com/ann/posts/1"),
    ("https://www.bilibili.com/video/BV1xx/?spm_id_from=333.8&vd_source=a", "https://m.bilibili.com/video/BV1xx"),
    ("https://www.bilibili.com/video/BV1xx?share_source=copy_web&p=2", "https://www.bilibili.com/video/BV1xx?p=2"),
    ("https://ann.substack.com/p/a?triedRedirect=true", "https://ann.substack.com/p/a"),
    (f"{WEIXIN}&chksm=84f&scene=27&mpshare=1&srcid=0&sharer_shareinfo=a#rd", WEIXIN),
    ("https://mp.weixin.qq.com/s?sn=8d09&idx=1&mid=2650&__biz=MzA4MQ%3D%3D", WEIXIN),
    ("https://mp.weixin.qq.com/s/x-Y_9?scene=1&poc_token=H", "http://mp.weixin.qq.com/s/x-Y_9"),
    (
        "https://www.nytimes.com/2020/08/08/a.html?smid=tw-share",
        "https://nytimes.com/2020/08/08/a.html?partner=rss",
    ),
    ("https://ann.medium.com/a-3b80?sk=92d6", "https://ann.medium.com/a-3b80?source=rss-1----2"),
    ("https://open.spotify.com/episode/1?si=a&nd=1", "https://open.spotify.com/episode/1"),
    ("https://www.linkedin.com/posts/ann_a-1?rcm=x&trk=y", "https://linkedin.com/posts/ann_a-1/"),
    ("https://www.instagram.com/p/1/?igsh=a&hl=en", "https://instagram.com/p/1"),
    (
        "https://www.tiktok.com/@ann/video/1?is_from_webapp=1&sender_device=pc",
        "https://tiktok.com/@ann/video/1?_r=1",
    ),
    ("https://www.bbc.co.uk/news/1?at_medium=RSS&at_campaign=KARANGA", "https://www.bbc.co.uk/news/1"),
    ("https://export.arxiv.org/abs/2401.00001v2", "https://arxiv.org/pdf/2401.00001"),
]

DIFFERENT = [
    ("https://example.org/a%2Fb", "https://example.org/a/b"),
    ("https://example.org/a%3Fb", "https://example.org/a?b"),
    ("https://example.org/a%23b", "https://example.org/a#b"),
    ("https://example.org/a%25b", "https://example.org/a%b0"),
    ("https://example.org/a%2528b", "https://example.org/a%28b"),
    ("https://example.org/a+b", "https://example.org/a%20b"),
    ("https://example.org/?a=1%26b=2", "https://example.org/?a=1&b=2"),
    ("https://example.org/?a=b%2Bc", "https://example.org/?a=b+c"),
    ("https://x.com/ann/status/12", "https://x.com/ann/status/13"),
    ("https://x.com/ann", "https://x.com/bob"),
    ("https://x.com/search?q=a", "https://x.com/search?q=b"),
    ("https://help.x.com/a", "https://x.com/a"),
    ("https://x.com/ann/status/12/analytics", "https://x.com/ann/status/12"),
    ("https://en.wikipedia.org/wiki/A", "https://de.wikipedia.org/wiki/A"),
    ("https://en.wiktionary.org/wiki/polish", "https://en.wiktionary.org/wiki/Polish"),
    ("https://en.wikipedia.org/wiki/index.html", "https://en.wikipedia.org/wiki"),
    ("https://en.wikipedia.org/w/index.php?title=A&oldid=1", "https://en.wikipedia.org/wiki/A"),
    ("https://m.example.org/a", "https://example.org/a"),
    ("https://mobile.example.org/a", "https://example.org/a"),
    ("https://m.notwikipedia.org/a", "https://notwikipedia.org/a"),
    ("https://old.example.org/a", "https://example.org/a"),
    ("https://www.reddit.com/r/a", "https://www.reddit.com/r/b"),
    ("https://www.reddit.com/r/a/?after=t3_1", "https://www.reddit.com/r/a/"),
    ("https://www.reddit.com/r/a/comments/1ab2c/t/k9z/", "https://www.reddit.com/r/a/comments/1ab2c/t/"),
    ("https://i.redd.it/1ab2c", "https://redd.it/1ab2c"),
    ("https://www.rfc-editor.org/rfc/rfc9110", "https://www.rfc-editor.org/rfc/rfc9111"),
    ("https://www.rfc-editor.org/errata/rfc9110", "https://www.rfc-editor.org/rfc/rfc9110"),
    ("https://datatracker.ietf.org/doc/rfc9110/history/", "https://datatracker.ietf.org/doc/rfc9110/"),
    ("https://datatracker.ietf.org/doc/html/draft-a-01", "https://datatracker.ietf.org/doc/html/draft-a-02"),
    ("https://www.youtube.com/embed/videoseries?list=PL1", "https://www.youtube.com/embed/videoseries?list=PL2"),
    ("https://www.youtube.com/embed/live_stream?channel=1", "https://www.youtube.com/watch?v=live_stream"),
    ("https://www.youtube.com/@Ann/videos", "https://www.youtube.com/@Ann/shorts"),
    ("https://github.com/a/b/blob/main/README.md", "https://github.com/a/b/blob/main/readme.md"),
    ("https://github.com/a/b/blob/main/index.html", "https://github.com/a/b/blob/main"),
    ("https://github.com/ann?tab=repositories", "https://github.com/ann"),
    ("https://gist.github.com/Ann/1", "https://gist.github.com/ann/1"),
    ("https://gitlab.com/A/B", "https://gitlab.com/a/b"),
    ("https://example.org/Index.html", "https://example.org/"),
    ("https://example.org/myindex.html", "https://example.org/my"),
    ("https://example.org/index.html/a", "https://example.org/a"),
    ("https://example.org/index.php", "https://example.org/"),
    ("https://example.org/?si=1", "https://example.org/?si=2"),
    ("https://example.org/?source=1", "https://example.org/?source=2"),
    ("https://example.org/?p=1&s=2", "https://example.org/?p=1&s=3"),
    ("https://notmedium.com/a?sk=1", "https://notmedium.com/a?sk=2"),
    ("https://www.bilibili.com/video/BV1xx?p=2", "https://www.bilibili.com/video/BV1xx?p=3"),
    (WEIXIN, WEIXIN.replace("idx=1", "idx=2")),
    ("https://mp.weixin.qq.com/s?src=11&signature=a", "https://mp.weixin.qq.com/s?src=11&signature=b"),
    ("https://x.com:8080/ann/status/12", "https://x.com/ann/status/12"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_addresses_of_the_same_page_have_the_same_key(one, other):
    assert key(one) == key(other)
    assert key(f"http://{key(one)}") == key(one)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_addresses_of_different_pages_have_different_keys(one, other):
    assert key(one) != key(other)


@pytest.mark.parametrize("name", [*sorted(TRACKING_PARAMETERS), *(f"{prefix}x" for prefix in TRACKING_PREFIXES)])
def test_tracking_parameters_do_not_change_the_key(name):
    assert key(f"https://example.org/?{name}=1&id=2&{name.upper()}") == "example.org?id=2"


@pytest.mark.parametrize(
    ("raw", "its_key"),
    [
        ("https://example.org/", "example.org"),
        ("https://example.org/?", "example.org"),
        ("https://example.org/%c3%a9%7e%2f", "example.org/%C3%A9~%2F"),
        ("https://example.org/100%", "example.org/100%25"),
        ("https://example.org/100%25", "example.org/100%25"),
        ("https://example.org/#!topic/a/b", "example.org#!topic/a/b"),
    ],
)
def test_a_key_has_a_single_spelling(raw, its_key):
    assert key(raw) == its_key


@given(hosts, paths, queries, st.sampled_from(sorted(TRACKING_PARAMETERS)), words)
def test_every_variant_of_a_link_has_the_same_key(host, path, query, tracking, fragment):
    parameters = [f"{name}={value}" for name, value in query]
    plain = f"https://{host.removeprefix('www.')}{path}?{'&'.join(parameters)}"
    tracked = f"http://{host.upper()}:80{path}/?{'&'.join([f'{tracking}=1', *parameters, 'utm_id=2'])}#{fragment}"

    assert key(plain) == key(tracked)
    assert link_digest(clean_link(plain)) == link_digest(clean_link(tracked))


@given(hosts, paths, queries, paths, queries)
def test_links_that_differ_in_path_or_parameters_have_different_keys(host, path, query, other_path, other_query):
    def link(path, query):
        return f"https://{host}{path}?{'&'.join(f'{name}={value}' for name, value in query)}"

    same = (path, query) == (other_path, other_query)

    assert (key(link(path, query)) == key(link(other_path, other_query))) == same


def test_the_digest_is_short_and_safe_in_the_name_of_a_key():
    digest = link_digest("https://example.org/a:{b}*")

    assert re.fullmatch(r"[0-9a-f]{32}", digest)
    assert digest == link_digest("http://example.org/a:{b}*/")
    assert digest != link_digest("https://example.org/a:{b}")


def test_the_digest_is_the_same_across_versions_and_machines():
    assert link_digest("https://example.org/a?id=7") == "82a8011648e4510af32e21a741e036f8"


@needs_cases
def test_urls_of_the_web_platform_tests_are_links_or_refused():
    cases = json.loads((CASES / "urltestdata.json").read_text(encoding="utf-8"))
    accepted = 0
    for case in cases:
        if isinstance(case, str):
            continue
        link = cleaned_or_none(case["input"])
        if link is None:
            continue
        accepted += 1
        assert not case.get("failure"), case["input"]
        assert link == case["href"]
        assert SAFE.fullmatch(link)
        assert link_digest(link)
        assert host_of(link) in urlsplit(link).netloc
    assert accepted == 85


@needs_cases
@pytest.mark.parametrize("file", ["xss_300.txt", "naughty_strings.json"])
def test_injections_and_naughty_strings_are_safe_links_or_refused(file):
    text = (CASES / file).read_text(encoding="utf-8")
    for raw in json.loads(text) if file.endswith(".json") else text.splitlines():
        for attempt in (
            raw, f"https://example.org/{raw}", f"https://example.org/?q={raw}#{raw}", f"https://{raw}",
        ):  # fmt: skip
            link = cleaned_or_none(attempt)
            assert link is None or SAFE.fullmatch(link), ascii(attempt)
