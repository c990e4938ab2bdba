"""Words of the public log and of notices that this version does not know: another one wrote them, or an extra."""

import json
import re

import pytest

from accounts import account_deletion
from articles import mailing
from articles.domain.errors import StoreDamaged
from articles.domain.notices import NoticePointer
from tests.caller import with_token
from tests.factories import browser_of
from tests.store_state import problems, write_acts, write_notice

UNKNOWN = "that this version of the site does not know:"


@pytest.fixture(autouse=True)
def words(site_store, article, alice, carol) -> None:
    """An act on alice's article, three on something else and one on alice, all by carol; two notices to alice."""
    acts = [(article, "pin", "A title"), *[(0, "award-badge", "A badge")] * 3, (0, "lift-shadow-ban", "alice")]
    write_acts(site_store, *acts, added="not a slug!", parts="sound", days="x")
    write_notice(site_store, article, "award")


def shown(path: str, reader=None) -> str:
    """Return the words of a page's main part."""
    page = browser_of(reader).get(path)
    assert page.status_code == 200
    return " ".join(re.sub("<[^>]+>", " ", page.text.split("<main")[1]).split())


@pytest.mark.parametrize("query", ["", "?actor=carol"])
def test_the_log_has_a_sentence_for_an_unknown_act(article, query):
    page = shown(f"/moderation/{query}")

    assert f"carol took an action on A title {UNKNOWN} pin" in page
    assert f"carol took an action on alice {UNKNOWN} lift-shadow-ban" in page
    assert f"carol took an action on “A badge” {UNKNOWN} award-badge" in page
    assert ("carol : unknown action “award-badge” (3 times)" in page) == (not query)
    assert "Reason: Because" in page
    assert "not a slug" not in page


def test_an_article_an_inbox_and_a_redaction_show_an_unknown_act(article, alice, dora):
    inbox = shown("/inbox/", alice)

    assert f"carol took an action {UNKNOWN} pin" in shown(f"/articles/{article}/")
    assert f"carol took an action on A title {UNKNOWN} pin" in inbox
    assert f"A notice about A title {UNKNOWN} award" in inbox
    assert "Because" in shown(f"/articles/{article}/redact/", dora)


def test_programs_get_the_words(site_store, article, alice):
    log, notices = (with_token(alice).get(path).json() for path in ("log?member=alice", "inbox"))

    assert [(one["action"], one["actor"]) for one in log["entries"]] == [
        ("lift-shadow-ban", "carol"),
        ("pin", "carol"),
    ]
    assert [one["action"] for one in with_token(alice).get(f"articles/{article}/log").json()["entries"]] == ["pin"]
    told = {(one["kind"], one["action"], one["by"]) for one in notices["notices"]}
    assert told == {("award", None, ""), ("moderation", "pin", "carol")}


def test_the_copy_of_a_member_s_data_has_the_words(alice, carol):
    moderated, inbox = (
        json.loads(b"".join(browser_of(one).get("/settings/data/").streaming_content))[name]
        for one, name in ((carol, "moderated"), (alice, "inbox"))
    )
    assert [one["action"] for one in moderated].count("award-badge") == 3
    assert {one["about"] for one in inbox} == {"award", "pin"}


def test_mails_can_have_unknown_words(site_store, alice):
    notices = site_store.inbox.get_page(alice.pk).notices

    letter = mailing.notices_to(alice, notices, len(notices))

    assert f"A notice about A title {UNKNOWN} award" in letter.text
    assert f"A notice about A title {UNKNOWN} award" in map(mailing.sentence_of, notices)
    assert [NoticePointer(word, 1, 0.0).kind for word in ("award", "remove")] == ["award", "moderation"]


def test_upkeep_finds_nothing_and_a_name_goes_with_the_account(site_store, alice):
    assert problems(site_store) == []

    account_deletion.begin(alice.pk)
    account_deletion.advance_all(60)

    assert "alice" not in shown("/moderation/")
    assert problems(site_store) == []


@pytest.mark.parametrize("word", ["Pin", "pin article", "", "p" * 41])
def test_what_is_no_word_is_damage(site_store, article, alice, word):
    write_acts(site_store, (article, word, "A title"))

    with pytest.raises(StoreDamaged):
        site_store.inbox.get_page(alice.pk)
    with pytest.raises(StoreDamaged, match="no action"):
        site_store.moderation_log.get_page()
