"""`manage.py import_articles` and `export_articles`: texts and comments, with their threads, times and counts."""

import time

import pytest
from django.core.management.base import CommandError

from accounts.models import User
from articles.domain.articles import Choice
from articles.domain.comments import CommentOrder, root_of
from articles.domain.moderation_log import Actor
from articles.management.base import Progress
from extras.transfer.tests.rows import row
from tests.internals import failing
from tests.store_state import empty, problems

CAROL = Actor(99, "carol")
AT = 1_700_000_060


def comment(number, **changes):
    fields = {"comment": number, "time": AT + 60 * number, "author": "bob", "text": f"Comment {number}"} | changes
    return {name: value for name, value in fields.items() if value is not None}


def thread(repository, number=1):
    comments = repository.comments.get_thread(number, CommentOrder.OLDEST).comments
    return [(one.id - root_of(number), one.depth, one.author_name, one.text) for one in comments]


@pytest.fixture
def used(site_store):
    """A store with every kind of comment: on a text, edited, voted on, removed, deleted with replies, locked."""
    alice, bob = (User.objects.create_user(name) for name in ("alice", "bob"))
    now = time.time()
    post, cast = site_store.comments.post, site_store.comments.cast
    first = site_store.articles.post(alice.pk, "alice", "Only a text", "", text="Line *one*\n\nLine 二").id
    second = site_store.articles.post(alice.pk, "alice", "Other", "https://example.org/other").id
    top = post(first, bob.pk, "bob", "First *words*\n- 你好", posted_at=now - 5000.25)
    reply = post(first, alice.pk, "alice", "Reply", parent=top, posted_at=now - 4000)
    stub = post(first, bob.pk, "bob", "Stub", posted_at=now - 3000)
    below = post(first, alice.pk, "alice", "Below the stub", parent=stub)
    last = post(first, bob.pk, "bob", "Gone without replies")
    removed = post(second, bob.pk, "bob", "Buy pills")
    post(second, alice.pk, "alice", "Why removed?", parent=removed)
    cast(top, alice.pk, Choice.VOTE)
    cast(reply, bob.pk, Choice.OPPOSE)
    site_store.comments.edit(top, bob.pk, "First *words*, edited")
    site_store.comments.delete(stub, bob.pk)
    site_store.comments.delete(last, bob.pk)
    site_store.comments.remove(removed, CAROL, "Spam & 广告")
    site_store.comments.lock(second, CAROL, "Too heated")
    assert below
    return site_store


@pytest.mark.parametrize("removed", [True, False])
def test_an_export_of_an_imported_export_is_the_same_file(run, used, tmp_path, removed):
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    assert "2 articles and 6 comments written" in run("export_articles", first, removed=removed)
    threads = [thread(used, number) for number in (1, 2)]
    lines = first.read_text("utf-8")
    empty(used, keep_settings=True)

    out = run("import_articles", first)
    run("export_articles", second, removed=removed)

    assert "2 articles imported, 0 already present." in out
    assert "5 comments imported, 0 already present." in out
    assert second.read_text("utf-8") == lines
    assert ("Buy pills" in lines) == removed
    assert '"text": "Line *one*\\n\\nLine 二"' in lines
    assert '"locked": "Too heated"' in lines
    if removed:
        articles = {article.title: article.id for article in used.imports.iterate()}
        assert [thread(used, articles[title]) for title in ("Only a text", "Other")] == threads
    assert used.comments.post(1, User.objects.get(username="bob").pk, "bob", "New") == root_of(1) + 6
    assert problems(used) == []


def test_importing_an_export_into_its_own_site_adds_and_revives_nothing(run, used, tmp_path):
    file = tmp_path / "export.jsonl"
    run("export_articles", file, removed=True)
    used.comments.delete(root_of(1) + 1, User.objects.get(username="bob").pk)
    used.comments.delete(root_of(1) + 4, User.objects.get(username="alice").pk)
    before = run("export_articles", removed=True)

    out = run("import_articles", file)

    assert "0 comments imported, 4 already present." in out
    assert "1 comment not imported again: deleted here, or rejected earlier." in out
    assert run("export_articles", removed=True) == before
    assert problems(used) == []


def test_comments_are_imported_with_their_authors_and_bad_ones_told_by_line(run, site_store, write, tmp_path):
    report = tmp_path / "report.txt"
    rows = [
        comment(1),
        row(1, text="A *text*"),
        comment(2, author="no such name!", votes=3, opposes=1),
        comment(3, text=" ", author="eve"),
        comment(4, parent=3),
        comment(4),
        comment(5, parent=2, text="<b>Reply</b>\r\n", author=None, edited=AT + 900),
        comment(6, parent=2, votes=-1),
        comment(7) | {"comment": "7"},
        comment(8, deleted=True), comment(9, time=AT, edited=1.0), comment(10, removed="Spam", text=None),
        b'{"title": "broken', comment(11), row(2, votes=None), comment(1),
    ]  # fmt: skip

    out = run("import_articles", write(rows), report=str(report))

    renamed = User.objects.get(username__startswith="no")
    found = thread(site_store)
    assert found == [(2, 0, renamed.username, "Comment 2"), (5, 1, "", "<b>Reply</b>"), (10, 0, "bob", "")]
    assert [article.text for article in site_store.imports.iterate(with_texts=True)] == ["A *text*"]
    assert (site_store.articles.get(1).comments, site_store.articles.get(1).last_comment_at) == (2, AT + 300)
    assert "3 comments imported, 0 already present." in out
    assert "1 member renamed because their names are not allowed here." in out
    assert [tuple(line.split("\t")[:2]) for line in report.read_text().splitlines()] == [
        ("1", "comment-article"), ("4", "comment-empty"), ("5", "comment-parent"),
        ("6", "comment-number-order"), ("8", "opposes-kind"), ("9", "comment-number-kind"),
        ("11", "edited-early"), ("13", "row-json"), ("14", "comment-article"),
        ("15", "votes-missing"), ("16", "comment-article"),
    ]  # fmt: skip
    assert problems(site_store) == []


def test_an_import_interrupted_anywhere_is_completed(run, site_store, write, small_batches):
    above = {1: None, 2: 1, 3: None, 4: 3, 5: 4, 6: 1}
    rows = [row(1, comment_numbers=6), *(comment(n, parent=parent, deleted=n == 3) for n, parent in above.items())]
    file = write([*rows, row(2), comment(1)])

    for _ in range(2):
        with failing(Progress, "reach"), pytest.raises(CommandError, match="Interrupted"):
            run("import_articles", file)
    run("import_articles", file)

    found = [(number, depth) for number, depth, _, _ in thread(site_store)]
    assert found == [(1, 0), (2, 1), (6, 1), (3, 0), (4, 1), (5, 2)]
    assert thread(site_store, 2) == [(1, 0, "bob", "Comment 1")]
    assert "0 comments imported, 6 already present." in run("import_articles", file)
    assert problems(site_store) == []


def test_comments_are_shifted_with_their_articles(run, site_store, write):
    began = time.time()

    run("import_articles", write([row(1), comment(1), comment(2, parent=1)]), shift_to_now=True)

    article, (_, second) = (
        site_store.articles.get(1),
        site_store.comments.get_thread(1, CommentOrder.OLDEST).comments,
    )
    assert began - 1 <= second.posted_at <= time.time() + 1
    assert second.posted_at - article.posted_at == pytest.approx(120, abs=0.002)
    assert problems(site_store) == []
