"""Script injections and naughty strings as texts of articles and comments: in a browser, none acts."""

import json
from contextlib import suppress
from urllib.parse import urlsplit

import pytest

from articles.domain.comments import COMMENTS_PER_PAGE
from articles.text.lines import InvalidInput, clean_comment, clean_text
from tests.browser.windows import window

pytestmark = pytest.mark.browser

PROSE = ".prose, .article > .text"

WITHOUT_EFFECT = (
    "a blockquote br code em h3 h4 h5 h6 hr li ol p pre s strong table tbody td th thead tr ul".upper().split()
)

_PARTS = f"""() => [...document.querySelectorAll(':is({PROSE}) *')].flatMap(
    part => [part.tagName, ...part.getAttributeNames().filter(name => /^on|^style$|^src/.test(name))]
)"""

_SCHEMES = f"""() => [...document.querySelectorAll(':is({PROSE}) a')].map(link => link.protocol)"""


@pytest.fixture
def texts(shared_dir) -> list[str]:
    """Every hostile text that the site accepts."""
    cases, accepted = shared_dir / "cases", []
    naughty = json.loads((cases / "naughty_strings.json").read_text("utf-8"))
    for text in [*naughty, *(cases / "xss_300.txt").read_text("utf-8").splitlines()]:
        with suppress(InvalidInput):
            accepted.append(clean_comment(text))
    assert len(accepted) > 750
    return accepted


@pytest.fixture
def page(chromium, site):
    """A window that sends nothing to other hosts, and says so at its end, as it does of dialogs."""
    acted = []
    with window(chromium, site, "demo") as found:
        found.on("dialog", lambda dialog: acted.append(dialog.message) or dialog.dismiss())
        found.on("request", lambda sent: urlsplit(sent.url).hostname == "localhost" or acted.append(sent.url))
        yield found
    assert acted == []


def check(page) -> None:
    """Assert that the texts on the page are drawn with tags that do nothing, and link to pages and mail only."""
    assert set(page.evaluate(_PARTS)) <= set(WITHOUT_EFFECT)
    assert set(page.evaluate(_SCHEMES)) <= {"http:", "https:", "mailto:"}


def test_no_text_of_an_article_acts(page, site_store, texts):
    for at in range(0, len(texts), 20):
        text = clean_text("\n\n".join(texts[at : at + 20]))
        article = site_store.articles.post(77, "somebody", f"Hostile {at}", "", text=text).id
        page.goto(f"/articles/{article}/")
        assert page.locator(".article > .text").count() == 1
        check(page)


def test_no_comment_acts(page, site_store, texts):
    article = site_store.articles.post(77, "somebody", "Hostile", "https://example.org/hostile").id
    for text in texts:
        site_store.comments.post(article, 77, "somebody", text)
    for start in range(0, site_store.articles.get(article).comments, COMMENTS_PER_PAGE):
        page.goto(f"/articles/{article}/?comments=oldest&start={start}")
        assert page.locator(".comment .prose").count() > 0
        check(page)
