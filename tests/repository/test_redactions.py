"""Redactions: no copy of a redacted text stays in the store, and the log says what was redacted."""

import pytest

from articles.domain.articles import Article
from articles.domain.errors import ArticleNotFound
from articles.domain.moderation_log import REDACTED, Action, Actor
from articles.domain.ranking import Parameters
from articles.repository import Repository
from tests.cast import ALICE, BOB, MODERATOR
from tests.factories import comment_on, link, post
from tests.repository.usage import finish_tuning
from tests.searches import ids_found
from tests.store_state import contents, problems

NAME = "Jane Roe lives at 12 Baker Street"
WHERE = "https://example.org/jane-roe-12-baker-street"
WHY = "She asked for it"


def copies(repository: Repository) -> list[str]:
    """Return the names of the keys that contain any of it."""
    kept = {name: str((name, content)).lower() for name, content in contents(repository).items()}
    return sorted(name for name, content in kept.items() if "baker" in content or "jane" in content)


def texts(repository: Repository, article: int) -> set[tuple[str, str]]:
    return set(repository.redactions.list_texts(article))


def redact(repository: Repository, article: int, *hidden: str) -> int:
    return repository.redactions.redact_article(article, hidden, MODERATOR, WHY)


@pytest.fixture
def named(repository: Repository, clock) -> int:
    """An article by alice whose title, link and text are about Jane Roe, with a comment by bob on her."""
    found = repository.articles.post(ALICE, "alice", NAME, WHERE, text=f"{NAME}.").id
    clock.advance(1)
    return found


def read(repository: Repository, article: int) -> Article:
    return repository.articles.get(article, with_text=True)


def test_what_an_edit_replaced_is_redacted_and_what_readers_see_is_not(repository, clock, named):
    repository.comments.lock(named, MODERATOR, NAME)
    clock.advance(1)
    repository.articles.edit(named, MODERATOR, "Better", link(1), text="A text", moderator=True, reason="Private")
    other = post(repository, 2)
    repository.comments.lock(other, MODERATOR, NAME)

    assert texts(repository, named) == {("title", NAME), ("link", WHERE), ("reason", NAME), ("reason", "Private")}
    assert redact(repository, named, NAME, WHERE, "Better", link(1)) == 5
    assert redact(repository, named, NAME, WHERE, "Better", link(1)) == 0

    keys = repository.store.shards.of(other)
    assert copies(repository) == sorted([keys.log, keys.article(other)])  # of the other discussion
    assert (read(repository, named).title, read(repository, named).locked) == ("Better", REDACTED)
    redaction, edit, lock = repository.moderation_log.get_for_article(named).entries
    assert (redaction.action, redaction.actor_name, redaction.title) == (Action.REDACT, "carol", "Better")
    assert (redaction.reason, redaction.details) == (WHY, {"parts": "title,link,reason"})
    assert (edit.title, edit.details["old_title"], edit.details["old_link"]) == ("Better", REDACTED, REDACTED)
    assert (lock.title, lock.reason, lock.at) == (REDACTED, REDACTED, edit.at - 1)
    assert {one.entry.action for one in repository.inbox.get_page(ALICE).notices} >= {Action.REDACT}
    assert problems(repository) == []


def test_what_is_removed_is_redacted_everywhere_and_can_be_restored(repository, clock, named):
    comment = comment_on(repository, named, f"I know {NAME}", BOB)
    repository.comments.remove(comment, MODERATOR, f"About {NAME}")
    repository.articles.remove(named, MODERATOR, NAME)

    found = texts(repository, named)
    assert {one for one in found if one[0] == "text"} == {("text", f"{NAME}."), ("text", f"I know {NAME}")}
    redact(repository, named, *(text for _part, text in found))

    assert copies(repository) == []
    article = read(repository, named)
    assert (article.title, article.link, article.text, article.removed) == (REDACTED, "", REDACTED, REDACTED)
    assert problems(repository) == []
    repository.articles.restore(named, MODERATOR, "Nothing is left")
    repository.comments.restore(comment, MODERATOR, "Nothing is left")
    assert repository.comments.get(comment).text == REDACTED
    assert ids_found(repository, "baker") == []
    assert ids_found(repository, "redacted") == [named]
    assert problems(repository) == []


def test_search_indexes_are_built_again_without_what_is_redacted(repository, named):
    repository.articles.remove(named, MODERATOR, NAME)
    before = repository.changes.get_copy()

    redact(repository, named, NAME)
    after = repository.changes.get_copy()
    redact(repository, named, NAME)

    assert after != before
    assert repository.changes.get_copy() == after, "the second time, nothing is redacted"


def test_a_text_that_readers_see_again_is_left_alone(repository, named):
    comment = comment_on(repository, named, NAME, BOB)
    repository.comments.remove(comment, MODERATOR, "Private")
    repository.comments.restore(comment, MODERATOR, "A mistake")

    assert ("text", NAME) not in texts(repository, named)
    assert redact(repository, named, NAME, WHERE, f"{NAME}.") == 0
    assert repository.comments.get(comment).text == NAME
    assert read(repository, named).title == NAME


def test_entries_about_no_article_are_redacted_but_for_names_of_members(repository, clock):
    repository.groups.create("people", NAME)
    clock.advance(1)
    repository.groups.rename("people", "People", MODERATOR, f"About {NAME}")
    renamed_at = clock()
    clock.advance(1)
    repository.moderation_log.note(Action.BAN, MODERATOR, "bob", NAME, {"scope": "both"})
    banned_at = clock()
    clock.advance(1)
    version = repository.parameters.get_state().version
    repository.parameters.apply(Parameters(gamma=1.4), expected=version, actor=MODERATOR, reason=NAME)
    finish_tuning(repository)
    tuned_at = clock()
    clock.advance(1)
    expected = {
        renamed_at: {("title", "People"), ("title", NAME), ("reason", f"About {NAME}")},
        banned_at: {("reason", NAME)},
        tuned_at: {("reason", NAME)},
    }

    for at, found in expected.items():
        entries = repository.redactions.list_entries(at)
        assert set(repository.redactions.list_texts_of(entries)) == found
        hidden = [NAME, f"About {NAME}", "bob"]
        assert repository.redactions.redact_entries(at, hidden, MODERATOR, WHY) > 0
        assert repository.redactions.redact_entries(at, hidden, MODERATOR, WHY) == 0

    assert copies(repository) == []
    entries = repository.moderation_log.get_page().entries
    assert {(one.title, one.details["about"]) for one in entries[:3]} == {
        ("", "tune-ranking"),
        ("bob", "ban"),
        ("People", "rename-group"),
    }
    assert repository.redactions.list_entries(clock() + 1) == []
    assert problems(repository) == []


def test_the_name_of_a_member_goes_from_redactions_with_the_account(repository, clock):
    repository.moderation_log.note(Action.BAN, MODERATOR, "bob", NAME, {"scope": "both"})
    repository.redactions.redact_entries(clock(), [NAME], MODERATOR, WHY)

    repository.account_deletion.advance(BOB, "bob", "", lambda: True)

    assert [one.title for one in repository.moderation_log.get_page().entries] == ["~", "~"]


def test_the_marks_of_the_site_are_no_texts(repository, named):
    repository.articles.withdraw(named, Actor(ALICE, "alice"))

    assert redact(repository, named, "withdrawn by the poster", REDACTED, "") == 0
    assert read(repository, named).is_withdrawn
    with pytest.raises(ArticleNotFound):
        repository.redactions.list_texts(999)
    with pytest.raises(ArticleNotFound):
        redact(repository, 999, NAME)
