"""Redaction on the pages: who redacts what, and that no page, feed, notice, export or copy keeps the text."""

import re

import pytest
from django.test import Client

from accounts.models import Ban, User
from articles.domain.moderation_log import REDACTED
from articles.models import BlockedHost
from tests.factories import actor, browser_of, comment_on, member, post_as
from tests.store_state import refusing_writes

NAME, WHERE, WHY = "Jane Roe, 12 Baker Street", "https://jane-roe.example/12-baker-street", "She asked for it"
SECRET = re.compile("baker|jane", re.IGNORECASE)
LOG = "/moderation/"


@pytest.fixture
def named(site_store, alice, carol) -> int:
    """An article by alice whose former title and link, which a moderator edited, are about Jane Roe."""
    found = post_as(site_store, alice, NAME, WHERE).id
    site_store.articles.edit(
        found, actor(carol), "Better", "https://e.org/b", moderator=True, reason=f"About {NAME}"
    )
    return found


def choices(user: User, path: str) -> dict[str, str]:
    """Return the texts that the form offers, and the values of their boxes."""
    boxes = re.findall(
        r'name="texts" value="([0-9a-f]+)"[^>]*>\s*([^<]+?)\s*</label>', browser_of(user).get(path).text
    )
    return {label: value for value, label in boxes}


def redact(user: User, path: str, **fields: object):
    chosen = [value for label, value in choices(user, path).items() if SECRET.search(label)]
    return browser_of(user).post(path, {"texts": chosen, "reason": WHY} | fields)


def shown(user: User | None, path: str, language: str = "en") -> str:
    answer = browser_of(user).get(path, headers={"Accept-Language": language})
    return b"".join(answer).decode() if answer.streaming else answer.text


def test_a_moderator_redacts_what_an_edit_replaced(site_store, named, alice, carol, dora):
    path = f"/articles/{named}/redact/"
    assert path in shown(dora, f"/articles/{named}/")
    assert path in shown(dora, LOG)
    assert choices(dora, path).keys() == {f"Title: {NAME}", f"Link: {WHERE}", f"Reason: About {NAME}"}

    answer = redact(dora, path)

    assert answer.headers["Location"] == f"/articles/{named}/"
    for reader in (None, alice, dora):
        for page in (f"/articles/{named}/", LOG, f"/api/articles/{named}/log", "/api/log", "/"):
            assert not SECRET.search(shown(reader, page)), page
    for page in ("/inbox/", "/api/inbox", "/settings/data/"):
        assert not SECRET.search(shown(alice, page)), page
    assert not SECRET.search(shown(carol, "/settings/data/"))
    log = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", shown(None, LOG)))
    assert "dora redacted texts in the history of Better" in log
    assert "redacted: title, link, reason" in log
    assert f"Reason: {WHY}" in log
    assert "title before: [redacted]" in log
    assert "[已隐去]" in shown(None, LOG, "zh")
    assert "[redacted]" not in shown(None, LOG, "zh")
    assert '"old_title": "[redacted]"' in shown(None, "/api/log").replace('":"', '": "')
    assert "dora redacted texts" in re.sub(r"<[^>]+>", "", shown(alice, "/inbox/"))


def test_a_removed_article_and_its_removed_comments_are_redacted(site_store, alice, bob, dora, carol):
    named = post_as(site_store, alice, NAME, WHERE, text=f"At {NAME}").id
    comment = comment_on(site_store, named, f"I know {NAME}", bob.pk)
    site_store.comments.remove(comment, actor(carol), f"Names {NAME}")
    site_store.articles.remove(named, actor(carol), f"It names {NAME}")
    path = f"/articles/{named}/redact/"
    for page in (f"/articles/{named}/", "/moderation/removed/", "/moderation/removed/comments/"):
        assert path in shown(dora, page), page

    redact(dora, path)

    pages = (f"/articles/{named}/", "/moderation/removed/", "/moderation/removed/comments/", LOG, path)
    pages += ("/api/removed/articles", "/api/removed/comments", f"/api/articles/{named}")
    for page in pages:
        assert not SECRET.search(shown(dora, page)), page
    for page in ("/users/alice/", "/inbox/", "/settings/data/", "/api/me/removed/articles"):
        assert not SECRET.search(shown(alice, page)), page
    assert not SECRET.search(shown(bob, "/users/bob/comments/"))
    assert "<s>[redacted]</s>" in shown(None, f"/articles/{named}/")
    assert "<s>[已隐去]</s>" in shown(None, f"/articles/{named}/", "zh")
    assert browser_of(dora).post(f"/articles/{named}/restore/", {"reason": "Fine"}).status_code == 302
    assert ">[redacted]</" in shown(None, "/newest/")


def test_the_reason_of_a_ban_and_of_a_blocked_host_go_with_the_entry(site_store, bob, carol, dora):
    browser_of(carol).post("/users/bob/moderation/", {"scope": "both", "days": "0", "reason": f"For {NAME}"})
    browser_of(carol).post("/moderation/hosts/", {"host": "spam.example", "reason": f"By {NAME}"})
    paths = set(re.findall(r'href="(/moderation/log/[^"]+/redact/)"', shown(dora, LOG)))
    assert len(paths) == 2

    for path in paths:
        assert redact(dora, path).headers["Location"] == LOG

    assert Ban.objects.get().reason == BlockedHost.objects.get().reason == REDACTED
    user = User.objects.get(pk=bob.pk)
    for page in ("/inbox/", "/post/", "/appeal/", "/settings/data/"):
        assert not SECRET.search(shown(user, page)), page
    assert "[已隐去]" in shown(user, "/inbox/", "zh")
    for page in (LOG, "/users/bob/moderation/", "/moderation/hosts/", "/api/users/bob/bans"):
        assert not SECRET.search(shown(dora, page)), page
    log = re.sub(r"<[^>]+>", "", shown(None, LOG))
    assert "dora redacted an entry about bob" in log
    assert "dora redacted an entry about “spam.example”" in log


def test_who_may_redact_what(site_store, named, article, alice, carol, dora):
    path = f"/articles/{named}/redact/"
    own = post_as(site_store, carol, "Mine", "https://e.org/mine").id
    site_store.articles.remove(own, actor(dora), "Spam")
    for user in (alice, None):
        assert browser_of(user).get(path).status_code == (302 if user is None else 403)
        assert path not in shown(user, f"/articles/{named}/") + shown(user, LOG)
    dora.groups.clear()
    assert browser_of(User.objects.get(pk=dora.pk)).post(path, {"texts": ["x"], "reason": WHY}).status_code == 403
    assert "Another moderator has to decide." in browser_of(carol).get(f"/articles/{own}/redact/").text
    assert f"/articles/{own}/redact/" not in shown(carol, f"/articles/{own}/")
    for wrong in ({"texts": []}, {"texts": ["0" * 32]}, {"reason": ""}):
        assert redact(carol, path, **wrong).status_code == 400, wrong
    for unknown in (
        "/articles/999/redact/", f"{LOG}log/1.000/redact/", f"{LOG}log/nan/redact/", f"{LOG}log/1/redact/",
    ):  # fmt: skip
        assert browser_of(carol).get(unknown).status_code == 404
    assert "There is nothing to redact here." in shown(carol, f"/articles/{article}/redact/")
    assert NAME in shown(None, LOG)


def test_members_who_become_moderators_redact_no_entry_about_themselves(site_store, carol, dora):
    erin = member("erin")
    browser_of(carol).post("/users/erin/moderation/", {"scope": "voting", "days": "1", "reason": "A ring"})
    erin.groups.set(dora.groups.all())
    (path,) = set(re.findall(r'href="(/moderation/log/[^"]+/redact/)"', shown(dora, LOG)))

    assert browser_of(erin).get(path).status_code == 403
    assert browser_of(dora).get(path).status_code == 200


def test_a_form_that_arrives_twice_succeeds(site_store, named, dora):
    path = f"/articles/{named}/redact/"
    chosen, browser = list(choices(dora, path).values()), browser_of(dora)

    answers = [browser.post(path, {"texts": chosen, "reason": WHY}) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [302, 302]
    entries = site_store.moderation_log.get_for_article(named).entries
    assert [entry.action.value for entry in entries].count("redact") == 1


def test_no_copy_shows_a_redacted_text(kept, outage, site_store, named, carol, dora):
    browser_of(carol).post("/moderation/hosts/", {"host": "spam.example", "reason": f"By {NAME}"})
    pages = (LOG, f"/articles/{named}/")
    assert all(SECRET.search(Client().get(page).text) for page in pages)

    redact(dora, f"/articles/{named}/redact/")
    (path,) = set(re.findall(r'href="(/moderation/log/[^"]+/redact/)"', shown(dora, LOG)))
    redact(dora, path)
    outage()

    assert not any(SECRET.search(Client().get(page).text) for page in pages)


def test_accounts_stay_as_they_are_if_the_store_fails(site_store, bob, carol, dora):
    browser_of(carol).post("/users/bob/moderation/", {"scope": "both", "days": "0", "reason": f"For {NAME}"})
    (path,) = set(re.findall(r'href="(/moderation/log/[^"]+/redact/)"', shown(dora, LOG)))

    chosen, browser = list(choices(dora, path).values()), browser_of(dora)

    with refusing_writes(site_store):
        assert browser.post(path, {"texts": chosen, "reason": WHY}).status_code == 503
    assert Ban.objects.get().reason == f"For {NAME}"
