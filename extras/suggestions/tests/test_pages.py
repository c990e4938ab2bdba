"""Members in standing suggest titles and groups; posters and moderators decide, and undo what was applied."""

import re

import pytest
from django.test import Client

from accounts import account_deletion
from accounts.models import BanScope, Token
from articles.domain.moderation_log import Action
from moderation import bans
from tests.caller import Caller, error_of, with_token
from tests.factories import actor, browser_of, member


@pytest.fixture
def trusted(bob, mallory):
    """Bob and mallory, who are no new members."""
    for one in (bob, mallory):
        one.trust()
    return bob, mallory


@pytest.fixture
def page(article):
    return f"/articles/{article}/suggest/"


def suggest(browser, page, title="Better", groups=("python",)):
    return browser.post(page, {"title": title, "groups": [*groups]}, follow=True)


def press(browser, page, act):
    """Press a button of the only suggestion."""
    (name,) = set(re.findall(r'name="suggestion" value="([0-9a-f]{16})"', browser.get(page).text))
    return browser.post(f"{page}act/", {"suggestion": name, "act": act}, follow=True)


def title_of(site_store, article):
    return site_store.articles.get(article).title


def test_two_members_change_a_title_and_the_page_shows_who_did(site_store, article, page, trusted):
    bob, mallory = map(browser_of, trusted)

    assert "Thank you." in suggest(bob, page).text
    assert title_of(site_store, article) == "A title"
    assert "Better" in mallory.get(page).text
    assert "Enough members agree" in press(mallory, page, "support").text

    assert title_of(site_store, article) == "Better"
    history = Client().get(f"/articles/{article}/").text.partition('class="changes"')[2]
    assert "The site</span> applied a suggestion" in history
    assert "2 members supported it" in history
    assert "title before: <bdi>A title</bdi>" in history


def test_only_members_see_that_there_are_suggestions(article, page, trusted):
    suggest(browser_of(trusted[0]), page)

    assert ">1 suggestion</a>" in browser_of(trusted[1]).get(f"/articles/{article}/").text
    assert "suggestion" not in Client().get(f"/articles/{article}/").text
    assert Client().get(page).status_code == 302


def test_new_members_posters_and_the_banned_cannot_suggest(site_store, article, page, alice, bob, carol, trusted):
    for who in (alice, member("newcomer")):
        assert 'name="title"' not in browser_of(who).get(page).text
        suggest(browser_of(who), page)
    bans.ban(bob, BanScope.VOTING, "A ring", days=1, moderator=actor(carol))
    suggest(browser_of(bob), page)

    assert "There are no open suggestions" in browser_of(alice).get(page).text
    assert title_of(site_store, article) == "A title"


@pytest.mark.parametrize("way", ["ban", "deletion"])
def test_a_ban_and_a_deletion_take_support_back(article, page, trusted, carol, way):
    suggest(browser_of(trusted[0]), page)

    if way == "ban":
        bans.ban(trusted[0], BanScope.POSTING, "Spam", days=1, moderator=actor(carol))
    else:
        account_deletion.begin(trusted[0].pk)
        account_deletion.advance_all(60)

    assert "Better" not in browser_of(trusted[1]).get(page).text


@pytest.mark.parametrize("who", ["alice", "carol"])
def test_the_poster_and_moderators_accept_and_undo_by_click(site_store, article, page, trusted, who, request):
    browser = browser_of(request.getfixturevalue(who))
    suggest(browser_of(trusted[0]), page)

    press(browser, page, "accept")

    assert title_of(site_store, article) == "Better"
    (at,) = re.findall('name="at" value="([0-9.]+)">Undo', browser.get(f"/articles/{article}/").text)
    for reader in (trusted[0], trusted[1]):
        assert ">Undo<" not in browser_of(reader).get(f"/articles/{article}/").text
        assert browser_of(reader).post(f"{page}undo/", {"at": at}).status_code == 403
    assert "The change has been undone." in browser.post(f"{page}undo/", {"at": at}, follow=True).text
    assert title_of(site_store, article) == "A title"
    assert "no longer open" in browser.post(f"{page}undo/", {"at": at}, follow=True).text
    undone, applied = site_store.moderation_log.get_for_article(article).entries
    assert (undone.action, undone.actor_name) == (Action.EDIT, who)
    assert (applied.action, applied.actor_name) == (Action.APPLY_SUGGESTION, who)


def test_a_change_that_was_changed_again_cannot_be_undone(site_store, article, page, trusted, carol):
    for who in trusted:
        suggest(browser_of(who), page)
    (entry,) = site_store.moderation_log.get_for_article(article).entries
    site_store.articles.edit(article, actor(carol), "Best", "https://example.org/a", moderator=True)

    assert ">Undo<" not in browser_of(carol).get(f"/articles/{article}/").text
    browser_of(carol).post(f"{page}undo/", {"at": f"{entry.at:.3f}"})
    assert title_of(site_store, article) == "Best"


def test_other_members_can_neither_accept_nor_decline(site_store, article, page, trusted):
    suggest(browser_of(trusted[0]), page)
    browser = browser_of(trusted[1])

    assert 'value="accept"' not in browser.get(page).text
    for act in ("accept", "decline"):
        assert press(browser, page, act).status_code == 403
    assert title_of(site_store, article) == "A title"


def test_a_declined_suggestion_is_gone(site_store, article, page, trusted, alice):
    suggest(browser_of(trusted[0]), page)

    press(browser_of(alice), page, "decline")

    assert "decided not long ago" in suggest(browser_of(trusted[1]), page).text
    assert "There are no open suggestions" in browser_of(alice).get(page).text


def test_a_form_without_a_change_or_with_bad_input_is_refused(article, page, trusted):
    browser = browser_of(trusted[0])

    assert "Nothing would change." in suggest(browser, page, "A title").text
    for title, groups in (("", ("python",)), ("x" * 301, ("python",)), ("Better", ("nowhere",))):
        assert browser.post(page, {"title": title, "groups": [*groups]}).status_code == 400
    assert browser.post(f"{page}act/", {"suggestion": "x", "act": "delete"}).status_code == 400
    for at in ("", "x", "1", "nan", "9" * 400):
        assert browser.post(f"{page}undo/", {"at": at}).status_code == 400
    assert (
        "no longer open" in browser.post(f"{page}act/", {"suggestion": "\0", "act": "support"}, follow=True).text
    )


def test_a_site_without_suggestions_has_none(article, page, trusted, settings, site_store):
    suggest(browser_of(trusted[0]), page)
    settings.SUGGESTIONS = 0

    assert browser_of(trusted[0]).get(page).status_code == 404
    text = browser_of(trusted[0]).get(f"/articles/{article}/").text
    assert "/suggest/" not in text


def test_a_removed_article_takes_none(site_store, article, page, trusted, carol):
    site_store.articles.remove(article, actor(carol), "spam")

    response = browser_of(trusted[0]).get(page)

    assert response.status_code == 404
    assert "/suggest/" not in browser_of(trusted[0]).get(f"/articles/{article}/").text


def test_new_members_and_tokens_without_the_scope_are_refused(article, trusted, bob, alice):
    path = f"articles/{article}/suggestions"
    bob.trusted_at = None
    bob.save()
    assert error_of(with_token(bob).post(path, {"title": "Better"})) == (403, "not-trusted-yet")
    _token, plaintext = Token.objects.issue(alice, "a program", scopes=["read"])
    reading = Caller(browser_of(strict=True), authorization=f"Bearer {plaintext}")
    for answer in (
        reading.post(f"articles/{article}/log/undo", {"time": 1.5}),
        reading.put(f"{path}/x", {"accepted": True}),
    ):
        assert error_of(answer) == (403, "missing-scope")
