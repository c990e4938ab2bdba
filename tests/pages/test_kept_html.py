"""Pages, feeds, the API and mails show the HTML that is kept with texts: they never parse one."""

import re

import pytest

from articles.domain.comments import root_of
from articles.domain.flags import FlagReason
from articles.mailing import notices_to
from articles.site import default_welcome
from articles.text import kept_html
from articles.web import wiring
from articles.web.context import in_brief
from tests.cases import for_each
from tests.cast import MALLORY, MODERATOR
from tests.factories import browser_of, comment_on, post_as
from tests.store_state import lose_html, set_clock

SHOWS_TEXT = {
    "alice": [
        "/inbox/", "/comments/{comment}/flag/", "/articles/{article}/comments/?parent={comment}", "/api/inbox",
    ],
    "bob": ["/comments/{comment}/edit/", "/comments/{comment}/delete/", "/users/bob/comments/"],
    "carol": [
        "/moderation/queue/", "/moderation/removed/comments/", "/comments/{comment}/remove/", "/api/queue",
        "/comments/{removed}/restore/", "/comments/{removed}/", "/api/removed/comments",
    ],
    None: [
        "/articles/{article}/", "/articles/{article}/?comments=newest", "/comments/{comment}/",
        "/users/bob/comments/", "/search/?q=agree&kind=comments", "/api/articles/{article}",
        "/feeds/newest.atom", "/feeds/newest.rss", "/feeds/users/alice.atom", "/feeds/comments.atom",
        "/feeds/articles/{article}/comments.rss", "/feeds/users/bob/comments.atom",
        "/api/articles/{article}/comments", "/api/comments/{comment}",
        "/api/comments/{comment}/replies", "/api/search/comments?q=agree",
    ],
}  # fmt: skip
"""Addresses that show texts, or excerpts of them, by who opens them."""

CHANGES = re.compile(r'value="[^"]{64}"|<dd>\d+</dd>|"[pu]v":\d+|<time.*?</time>')
"""What differs between two answers: tokens of forms, the number of views, ages."""

CASES = [(name, address) for name, addresses in SHOWS_TEXT.items() for address in addresses]


@pytest.fixture
def numbers(site_store, alice, bob, carol, mallory):
    """An article, a comment on it with a reply, and a removed comment; the first two are flagged."""
    set_clock(site_store, site_store.store.now())
    article = post_as(site_store, alice, "A title", "", text="A *text*").id
    comment = comment_on(site_store, article, "I *agree*, @alice", mentioned=[alice.pk])
    comment_on(site_store, article, "A *reply*", alice.pk, comment)
    removed = comment_on(site_store, article, "A *removed* one")
    site_store.comments.remove(removed, MODERATOR, "Spam")
    for subject in (root_of(article), comment):
        site_store.flags.set(subject, MALLORY, FlagReason.SPAM)
    return {"article": article, "comment": comment, "removed": removed}


@pytest.fixture
def parsed(monkeypatch):
    """The texts that are parsed from here on. A process parses the description of the site once."""
    in_brief(default_welcome().text)
    texts, render = [], kept_html.render

    def note(text, **rules):
        if text:
            texts.append(text)
        return render(text, **rules)

    for module in (kept_html, wiring):
        monkeypatch.setattr(module, "render", note)
    return texts


@pytest.fixture
def open_as(numbers, alice, bob, carol):
    members = {"alice": alice, "bob": bob, "carol": carol, None: None}

    def open_page(name, address):
        answer = browser_of(members[name]).get(address.format(**numbers))
        assert answer.status_code == 200, answer.text
        return CHANGES.sub("", answer.text)

    return open_page


@for_each("name, address", CASES)
def test_reading_a_text_never_parses_it(open_as, parsed, name, address):
    open_as(name, address)

    assert parsed == []


@pytest.mark.deep
@for_each("name, address", CASES)
def test_texts_without_html_look_the_same_and_are_parsed_once(site_store, open_as, parsed, name, address):
    before = open_as(name, address)
    parsed.clear()
    lose_html(site_store)

    assert open_as(name, address) == before
    made = list(parsed)
    assert open_as(name, address) == before
    assert parsed == made


def test_a_mail_about_notices_parses_nothing(site_store, numbers, alice, parsed):
    notices = site_store.inbox.get_page(alice.pk).notices

    assert "I agree, @alice" in notices_to(alice, notices, len(notices)).text
    assert parsed == []
