"""The HTML of texts: kept in the step that writes the text, made again where it is missing."""

import pytest

from articles.domain.comments import CommentOrder
from articles.text import kept_html
from articles.text.kept_html import KeptHtml
from articles.text.markdown import render
from tests.cast import ALICE, BOB, MODERATOR
from tests.clock import Clock
from tests.factories import comment_on, imported, imported_comments
from tests.repository.racing import during
from tests.rules import connect
from tests.store_state import lose_html, refusing_writes

pytestmark = pytest.mark.one_shard


def comment_html(repository, comment):
    return repository.comments.get(comment).html


def article_html(repository, article):
    return repository.articles.get(article, with_html=True).html


def kept_of(repository, comment):
    return repository.store.client.hget(repository.store.shards.of_comment(comment).comment(comment), "html")


@pytest.fixture
def unrendered(monkeypatch):
    """A function after which the site parses no text."""

    def forbid():
        def refuse(text, **_):
            raise AssertionError(f"parsed again: {text}")

        monkeypatch.setattr(kept_html, "render", refuse)

    return forbid


def test_html_is_kept_by_whatever_writes_a_text(repository, article, clock, unrendered):
    posted = repository.articles.post(ALICE, "alice", "Text", "", text="*Posted*").id
    edited = repository.articles.post(ALICE, "alice", "Edited", "", text="*Before*").id
    repository.articles.edit(edited, MODERATOR, "Edited", "", text="*Edited*", moderator=True)
    one = imported(1, clock() - 5, text="*Imported*", comment_numbers=4)
    (number,) = repository.imports.add([one])
    repository.imports.add_comments(imported_comments(one, clock()))
    said, changed = (comment_on(repository, article, text) for text in ("*Said*", "*Wrong*"))
    repository.comments.edit(changed, BOB, "*Changed*")
    unrendered()

    html = [article_html(repository, one) for one in (posted, edited, number)]
    assert html == [f"<p><em>{word}</em></p>\n" for word in ("Posted", "Edited", "Imported")]
    assert [comment_html(repository, one) for one in (said, changed)] == [
        f"<p><em>{word}</em></p>\n" for word in ("Said", "Changed")
    ]
    thread = repository.comments.get_thread(number, CommentOrder.OLDEST)
    assert [one.html for one in thread.comments] == ["", "<p>First</p>\n", "<p>Second</p>\n"]


def test_html_of_an_earlier_version_is_made_once(repository, article, unrendered):
    repository.articles.edit(article, MODERATOR, "A title", "", text="*Text*", moderator=True)
    comment = comment_on(repository, article, "*Said*")
    lose_html(repository)
    before = article_html(repository, article), comment_html(repository, comment)
    unrendered()

    assert (article_html(repository, article), comment_html(repository, comment)) == before
    assert before == ("<p><em>Text</em></p>\n", "<p><em>Said</em></p>\n")


def test_html_left_behind_by_an_older_version_that_edits_a_text_is_not_shown(repository, article):
    comment = comment_on(repository, article, "*Before*")
    key = repository.store.shards.of_comment(comment).comment(comment)
    repository.store.client.hset(key, "text", "*After*")

    assert comment_html(repository, comment) == "<p><em>After</em></p>\n"
    assert "After" in kept_of(repository, comment)


def test_html_that_something_else_wrote_is_not_shown(repository, article):
    comment = comment_on(repository, article, "*Said*")
    key, kept = repository.store.shards.of_comment(comment).comment(comment), kept_of(repository, comment)

    for forged in ("<script>alert(1)</script>", kept + "<script>alert(1)</script>"):
        repository.store.client.hset(key, "html", forged)
        assert comment_html(repository, comment) == "<p><em>Said</em></p>\n"
        assert kept_of(repository, comment) == kept


def overtaken(repository, change, monkeypatch):
    """Let a change happen while a reader makes HTML, before it is kept."""
    kept_html = repository.store.kept_html

    def overtake(text):
        monkeypatch.undo()
        change()
        return kept_html.html_of(text)

    lose_html(repository)
    monkeypatch.setattr(kept_html, "html_of", overtake)


def test_html_made_of_a_text_that_is_edited_meanwhile_is_not_kept(repository, article, monkeypatch):
    comment = comment_on(repository, article, "*Before*")
    overtaken(repository, lambda: repository.comments.edit(comment, BOB, "*After*"), monkeypatch)

    assert comment_html(repository, comment) == "<p><em>Before</em></p>\n"
    assert kept_of(repository, comment) == repository.store.kept_html.make("*After*")


def test_html_made_of_a_text_that_is_deleted_meanwhile_is_not_kept(repository, article, monkeypatch):
    comment = comment_on(repository, article, "*Said*")
    comment_on(repository, article, "A reply", ALICE, comment)
    overtaken(repository, lambda: repository.comments.delete(comment, BOB), monkeypatch)

    repository.comments.get(comment)

    assert repository.comments.get(comment).is_deleted
    assert kept_of(repository, comment) is None


def test_a_deleted_comment_leaves_no_html(repository, article):
    comment = comment_on(repository, article, "*Said*")
    comment_on(repository, article, "A reply", ALICE, comment)
    repository.comments.delete(comment, BOB)

    assert kept_of(repository, comment) is None


def test_readers_never_see_html_of_another_text(repository, article):
    """One member edits a comment while others lose its HTML, read it, and so make it again."""
    comment = comment_on(repository, article, "*0*")

    def edit():
        for number in range(1, 60):
            repository.comments.edit(comment, BOB, f"*{number}*")

    def read():
        repository.store.client.hdel(repository.store.shards.of_comment(comment).comment(comment), "html")
        found = repository.comments.get(comment)
        assert found.html == render(found.text)

    during(edit, read, repository)

    assert comment_html(repository, comment) == "<p><em>59</em></p>\n"


@pytest.mark.needs("few shards")
def test_html_is_shown_while_the_store_takes_no_changes(repository, article):
    comment = comment_on(repository, article, "*Said*")
    lose_html(repository)

    with refusing_writes(repository):
        assert comment_html(repository, comment) == "<p><em>Said</em></p>\n"
    assert kept_of(repository, comment) is None


def test_html_is_made_again_when_the_rules_for_links_change(repository, article):
    comment = comment_on(repository, article, "<http://localhost:8000/>")
    shards, clock = repository.store.shards.count, Clock()
    other = connect(
        repository.store.client, shards=shards, clock=clock, kept_html=KeptHtml("a secret", private_links=True)
    )

    assert "<a" not in comment_html(repository, comment)
    assert "<a" in comment_html(other, comment)
    assert "<a" not in comment_html(repository, comment)
