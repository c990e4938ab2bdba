"""The moderators' list of removed comments, read from the moderation log."""

import pytest

from articles.repository.moderation import removed
from tests.cast import BOB, MODERATOR
from tests.factories import comment_on, post
from tests.rules import connect, default_rules


def shown(page):
    return [(one.comment.id, one.removal.reason) for one in page.comments]


def walk(repository):
    """Return what all pages show, and how many pages there are."""
    page, found, pages = repository.removed_comments.get_page(), [], 1
    while True:
        found += shown(page)
        if page.next_before is None:
            return found, pages
        page, pages = repository.removed_comments.get_page(page.next_before), pages + 1


def remove(repository, clock, comment, reason="Spam"):
    clock.advance(1)
    repository.comments.remove(comment, MODERATOR, reason)


def test_restored_and_deleted_comments_drop_out_and_the_latest_removal_counts(repository, article, clock):
    kept, restored, deleted, again = (comment_on(repository, article, f"Text {n}") for n in range(4))
    remove(repository, clock, again, "Rude")
    for comment in (restored, deleted, kept):
        remove(repository, clock, comment)
    repository.comments.restore(restored, MODERATOR, "A mistake")
    repository.comments.delete(deleted, BOB)
    repository.comments.restore(again, MODERATOR, "A mistake")
    remove(repository, clock, again, "Rude")

    page = repository.removed_comments.get_page()

    assert shown(page) == [(again, "Rude"), (kept, "Spam")]
    assert page.next_before is None
    first = page.comments[0]
    assert (first.comment.text, first.article.id, first.removal.at) == ("Text 3", article, clock.now)
    assert first.removal.actor_name == MODERATOR.name


@pytest.mark.parametrize("reads", [1, 2, 10])
def test_pages_show_each_comment_once_however_little_one_reads(server_url, clock, monkeypatch, reads):
    repository = connect(server_url, shards=4, rules=default_rules(per_page=3), clock=clock)
    repository.prepare()
    monkeypatch.setattr(removed, "_READS", reads)
    monkeypatch.setattr(removed, "_LEAST_READ", 4)
    monkeypatch.setattr(removed, "ENTRIES_PER_READ", 4)
    articles = [post(repository, number) for number in range(6)]
    comments = [comment_on(repository, article, f"Text {n}") for n, article in enumerate(articles * 4)]
    for n, comment in enumerate(comments):
        remove(repository, clock, comment)
        if n % 3 == 0:
            repository.articles.edit(
                articles[0], MODERATOR, f"T {n}", "https://e.org/", moderator=True, reason="x"
            )
    for comment in comments[1::2]:
        clock.advance(1)
        repository.comments.restore(comment, MODERATOR, "A mistake")

    found, pages = walk(repository)

    assert [comment for comment, _ in found] == comments[::2][::-1]
    assert pages >= 4


def test_comments_removed_in_the_same_millisecond_share_a_page(server_url, clock):
    repository = connect(server_url, shards=2, rules=default_rules(per_page=2), clock=clock)
    repository.prepare()
    comments = [comment_on(repository, post(repository, n), "A text") for n in range(6)]
    remove(repository, clock, comments[0])
    clock.advance(1)
    for comment in comments[1:]:
        repository.comments.remove(comment, MODERATOR, "Spam")

    found, pages = walk(repository)

    assert sorted(comment for comment, _ in found) == comments
    assert (found[-1][0], pages) == (comments[0], 2)
