"""Every page in Chinese: no English words or spacing remain, and titles keep the direction of their script."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.test import Client
from django.urls import URLPattern, get_resolver, reverse

from tests import extras
from tests.factories import browser_of, post_as

ROOT = Path(__file__).parents[2]

ARGUMENTS = {
    "article_id": 1,
    "comment_id": 1_000_001,
    "slug": "python",
    "name": "alice",
    "uidb64": "MQ",
    "token": "x",
    "token_id": 1,
}
"""What stands in for the parts of addresses."""

_STAY = """
API JSON UTF OpenAPI Authorization CSRF CSRFToken Unicode UTC EVALSHA Cookie application json http https Unix
null none true false ln Valkey Redis KB MB GB PV UV hash set zset string intset listpack hashtable skiplist raw int
Atom RSS IP BM GET HEAD POST Article Voting English alice bob carol admin title org example javascript
Markdown HTML Alpha Beta Gamma alpha beta gamma Python python news nowhere in min off env
Wayback Machine archive today RE
RFC VAPID url data tag STARTTLS TLS
"""
NAMES = set(" ".join([_STAY, *extras.all_of("STAY")]).split())
"""Latin words that stay: what the world calls so, the cast, and what the tests post."""

UNSPOKEN = {"script", "style", "code", "pre", "bdi", "en"}
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
SAID = ("aria-label", "title", "placeholder", "alt", "data-done")


class Said(HTMLParser):
    """A parser that collects what a page shows readers, in texts and attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.words, self.code, self._inside = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        known = dict(attributes)
        if tag not in VOID:
            self._inside.append("en" if known.get("lang") == "en" else "bdi" if "dir" in known else tag)
        self.words += [known[name] for name in SAID if known.get(name) and "en" not in self._inside]
        if tag == "meta" and known.get("name") == "description":
            self.words.append(known["content"])

    def handle_endtag(self, tag):
        if tag not in VOID and self._inside:
            self._inside.pop()

    def handle_data(self, text):
        if not UNSPOKEN & set(self._inside):
            self.words.append(text)
        elif {"code", "pre"} & set(self._inside):
            self.code.append(text)


def english_in(page: str) -> set[str]:
    """Return Latin words of a page that are neither names nor shown as code elsewhere on it."""
    said = Said(page)
    text, code = " ".join(said.words), " ".join(said.code)
    text = re.sub(r"https?://\S+|[\w/-]+(\.[\w-]+)+|[\w.+-]+@[\w.]+|X-CSRFToken", " ", text)
    return set(re.findall("[A-Za-z]{2,}", text)) - NAMES - set(re.findall("[A-Za-z]{2,}", code))


INLINE = "a|abbr|b|bdi|button|code|em|i|kbd|span|strong|time"


def blanks_in(page: str) -> list[str]:
    """Return where a page shows a blank after a Chinese punctuation mark, which is as wide as a character."""
    own = re.sub(r"(?s)<(script|style|pre|textarea|title)\b.*?</\1>", "<p>", page)
    flow = re.sub(r"<[^>]*>", "\0", re.sub(rf"</?(?:{INLINE})\b[^>]*>", "", own))
    return re.findall(r".*[，。：；？！]\s+[^\s\0].*", flow)


def addresses():
    """Yield every page address whose arguments are all known here."""
    for prefix in ("articles", "accounts"):
        resolver = get_resolver().namespace_dict[prefix][1]
        for pattern in resolver.url_patterns:
            if isinstance(pattern, URLPattern) and set(pattern.pattern.converters) <= set(ARGUMENTS):
                names = pattern.pattern.converters
                yield reverse(f"{prefix}:{pattern.name}", kwargs={name: ARGUMENTS[name] for name in names})


@pytest.fixture
def busy(site_store, article, alice, bob, carol):
    """A site with at least one example of everything."""
    for user in (alice, bob, carol):
        user.language = "zh-hans"
        user.save()
    carol.is_staff = carol.is_superuser = True
    carol.save()
    moderator = browser_of(carol)
    browser_of(bob).post("/articles/1/vote/", {"choice": "vote"})
    Client().post("/api/views", {"articleId": 1, "visitorId": "x"}, content_type="application/json")
    gone = post_as(site_store, bob, "Alpha", "https://example.org/b", ["python"]).id
    for path, data in (
        ("/articles/1/edit/", {"title": "A title", "link": "https://example.org/c", "reason": "Alpha"}),
        (f"/articles/{gone}/remove/", {"reason": "Alpha"}),
        ("/moderation/groups/", {"title": "Alpha"}),
        ("/moderation/groups/alpha/", {"title": "Beta", "rename": "1"}),
        ("/moderation/groups/alpha/", {"merge-into": "python", "merge-sure": "on", "merge": "1"}),
        ("/articles/1/groups/", {"groups": "", "new_group": "Gamma"}),
        ("/settings/tokens/", {"name": "Alpha"}),
    ):
        moderator.post(path, data)
    return site_store


def readers(alice, carol):
    return {
        "a reader": Client(headers={"Accept-Language": "zh-CN"}),
        "a member": browser_of(alice),
        "an operator": browser_of(carol),
    }


@pytest.mark.hostile
def test_no_page_contains_untranslated_english_or_blanks_after_its_marks(busy, alice, carol):
    seen = {}
    more = (
        *(row[1] for rows in extras.all_of("PAGES") for row in rows if "?" in row[1]),
        "/hot/?range=24h", "/groups/python/?order=hot",
        "/operation/?article=1", "/operation/?article=x", "/articles/2/", "/nowhere/", "/api/docs",
        "/search/?q=title", "/search/?q=title&group=python", "/search/?q=nowhere", "/search/?q=!",
        "/top/?range=day", "/groups/python+gamma/", "/groups/python+nowhere/", "/articles/2/restore/",
    )  # fmt: skip
    for name, browser in readers(alice, carol).items():
        for path in (*addresses(), *more):
            answer = browser.get(path, follow=True)
            if answer["Content-Type"].startswith("text/html"):
                seen[name, path] = answer.status_code
                assert not english_in(answer.text), (name, path)
                assert not blanks_in(answer.text), (name, path)

    assert list(seen.values()).count(200) > 40
    assert set(seen.values()) <= {200, 400, 403, 404, 405}


def test_templates_join_sentences_without_a_blank_in_chinese():
    """Also those of pages that the test above does not see, such as a locked discussion."""
    ends_and_goes_on = re.compile(
        rf"""\{{\{{\ n?p?(?:get)?(?:text|_)\((?:(?!\}}\}}).)*?[.:;?!]"(?:(?!\}}\}}).)*\)\ \}}\}}  # a sentence
        \s*(?:\{{%-?\ (?!el)(?:(?!%\}}).)*%\}})?\s+(?:\{{\{{|<(?:{INLINE})\b)  # and what it is joined with""",
        re.VERBOSE | re.DOTALL,
    )
    found = {}
    for path in (ROOT / "templates").rglob("*.html"):
        text = re.sub(r"(?s)\{% filter prose.*?\{% endfilter -?%\}", "", path.read_text("utf-8"))
        if joins := [match[0] for match in ends_and_goes_on.finditer(text)]:
            found[path.name] = joins
    assert found == {}


def test_no_form_error_contains_untranslated_english(busy, alice, carol):
    stranger, member, moderator = readers(alice, carol).values()
    tries = [
        (stranger, "/login/", {"username": "alice", "password": "wrong"}),
        (stranger, "/login/", {}),
        (stranger, "/signup/", {"username": "1", "email": "x", "password1": "1", "password2": "2"}),
        (stranger, "/signup/", {"username": "admin", "password1": "alice", "password2": "alice"}),
        (stranger, "/signup/", {"username": "alice", "password1": "12345678", "password2": "12345678"}),
        (stranger, "/password/reset/", {"email": "x"}),
        (member, "/post/", {"title": "", "link": ""}),
        (member, "/post/", {"title": "x" * 400, "link": "javascript:alert(1)", "groups": "alpha"}),
        (member, "/post/", {"title": "A title", "link": "https://a b", "groups": "a!,b!"}),
        (member, "/password/", {"old_password": "x", "new_password1": "alice", "new_password2": "y"}),
        (member, "/settings/email/", {"email": "x"}),
        (member, "/login/confirm/", {"password": "x"}),
        (member, "/settings/tokens/", {"name": ""}),
        (moderator, "/articles/1/edit/", {"title": "", "link": "x"}),
        (moderator, "/articles/1/groups/", {"groups": "none", "new_group": "!"}),
        (moderator, "/articles/1/remove/", {"reason": ""}),
        (moderator, "/moderation/groups/", {"title": "Python"}),
        (moderator, "/moderation/groups/python/", {"merge-into": "x", "merge": "1"}),
        *(
            (moderator, path, form)
            for forms in extras.all_of("OF_MODERATORS")
            for path, form in forms.items()
            if form is not None and "<" not in path
        ),
    ]
    for browser, path, data in tries:
        answer = browser.post(path, data)
        assert answer.status_code in (200, 400), path
        assert not english_in(answer.text), (path, data)


def test_no_api_error_contains_untranslated_english(busy):
    browser = Client(headers={"Accept-Language": "zh"})
    answers = [
        browser.get("/api/nothing"), browser.get("/api/articles/999"), browser.get("/api/articles?order=x"),
        browser.get("/api/articles?page=-1"), browser.get("/api/hot?limit=1000"),
        browser.delete("/api/articles"),
        browser.post("/api/articles", {}, content_type="application/json"),
        browser.post("/api/views", {"articleId": "x"}, content_type="application/json"),
        browser.post("/api/views", "[", content_type="application/json"),
        browser.post("/api/views", {"x": 1}),
    ]  # fmt: skip
    for answer in answers:
        message = answer.json()["error"]["message"]
        message = re.sub("“[^”]*”", "", message)
        assert not english_in(message) - {"score", "time", "hot", "points", "active"}, message
        assert re.search("[\u4e00-\u9fff]", message)
