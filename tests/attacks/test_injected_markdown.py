"""Script injections and naughty strings as texts of articles: they add only what Markdown may."""

import re
from contextlib import suppress

import pytest

from articles.text.lines import InvalidInput, clean_text
from tests.attacks.pages import parts_of
from tests.cast import MODERATOR
from tests.factories import browser_of, post_as

ALLOWED = re.compile(
    r"(a|blockquote|br|code|em|h[3-6]|hr|li|ol|p|pre|s|strong|table|tbody|td|th|thead|tr|ul)"
    r"|a (href|rel|title)|ol start|li value|pre (tabindex|title)|(blockquote|h[3-6]|li|ol|p|td|th|ul) dir"
)

OURS = [
    "[a](javascript:alert(1))", "[a](JaVaScRiPt&colon;alert(1) 'onclick=x')",
    "![a](data:image/svg+xml,<svg/onload=alert(1)>)", '<https://example.org/"onmouseover=alert(1)>',
    "[a]: javascript:alert(1)\n\n[a]", "[a](vbscript:x)<a href='//evil.example'>b</a>",
    '`<img src=x onerror=alert(1)>`\n\n    <script>alert(1)</script>\n\n```"><script>\n</code></pre><script>\n```',
    '@alice"onclick=x [@bob](//evil.example) [a](\\\\evil.example)',
]  # fmt: skip


@pytest.fixture
def accepted(texts) -> list[str]:
    """Every hostile text that the site accepts, several in one."""
    sound = []
    for text in texts:
        with suppress(InvalidInput):
            sound.append(clean_text(text))
    assert len(sound) > 750
    return OURS + ["\n\n".join(sound[at : at + 20]) for at in range(0, len(sound), 20)]


def test_a_hostile_text_adds_nothing_but_what_markdown_may(site_store, alice, accepted):
    browser = browser_of(alice)
    plain = parts_of(browser.post("/post/", {"text": "a", "preview": "1"}).content)

    for text in accepted:
        page = browser.post("/post/", {"text": text, "preview": "1"}).content
        added = {" ".join(part).strip() for part in parts_of(page) - plain}
        assert [part for part in added if not ALLOWED.fullmatch(part)] == [], text


def test_a_stored_hostile_text_adds_nothing_to_its_page_and_the_lists(site_store, alice, accepted):
    number = post_as(site_store, alice, "A title", "https://example.org/a", text="a").id
    for word in "bcd":  # as many as the log folds
        site_store.articles.edit(number, MODERATOR, "A title", "https://example.org/a", text=word, moderator=True)
    paths = (f"/articles/{number}/", f"/articles/{number}/edit/", "/", "/moderation/")
    browser = browser_of(alice)
    plain = {path: parts_of(browser.get(path).content) for path in paths}

    for text in accepted[::4]:
        site_store.articles.edit(
            number, MODERATOR, "A title", "https://example.org/a", text=clean_text(text), moderator=True
        )
        for path in paths:
            added = {" ".join(part).strip() for part in parts_of(browser.get(path).content) - plain[path]}
            assert [part for part in added if not ALLOWED.fullmatch(part)] == [], (path, text)
