"""Inboxes: who is notified of what, how many notices are new, and what upkeep does with them."""

import pytest

from articles.domain.comments import root_of
from articles.domain.errors import PageNotFound
from articles.domain.lists import Order
from articles.domain.moderation_log import Action, Actor
from articles.domain.notices import (
    DELETED_NOTED,
    MOST_MENTIONED,
    NOTICES_KEPT,
    UNDO_SECONDS,
    DeletedComment,
    Notice,
    NoticeKind,
)
from articles.repository import Repository
from tests.cast import ALICE, BOB, CAROL, MALLORY, MODERATOR
from tests.factories import comment_on, link, post
from tests.store_state import problems


def notices(repository: Repository, user: int) -> list[Notice]:
    return list(repository.inbox.get_page(user).notices)


def heard(repository: Repository, user: int) -> list[tuple[str, int | None]]:
    """Return the kinds of a member's notices, or the moderators' acts, with their comments, newest first."""
    return [(one.entry.action if one.entry else one.kind, one.comment_id) for one in notices(repository, user)]


def test_a_comment_is_a_notice_to_the_poster_and_a_reply_to_the_author_it_answers(repository, clock, article):
    first = comment_on(repository, article, "First", BOB)
    clock.advance(1)
    reply = comment_on(repository, article, "Reply", MALLORY, first)

    assert heard(repository, ALICE) == [("reply", first)]
    assert heard(repository, BOB) == [("reply", reply)]
    (notice,) = notices(repository, BOB)
    assert (notice.title, notice.article, notice.at) == ("A title", article, clock())
    assert notice.comment is not None
    assert (notice.comment.author_name, notice.comment.text, notice.comment.parent) == ("mallory", "Reply", first)


def test_notices_know_who_wrote_what_its_author_deleted_last(repository, article):
    first = comment_on(repository, article, "First", BOB)
    reply = comment_on(repository, article, "Reply", MALLORY, first)
    others = [comment_on(repository, article, f"Comment {n}", CAROL) for n in range(DELETED_NOTED - 1)]

    for comment, author in ((reply, MALLORY), *((one, CAROL) for one in others)):
        repository.comments.delete(comment, author)

    (notice,) = notices(repository, BOB)
    assert (notice.comment, notice.deleted) == (None, DeletedComment(MALLORY, first))
    assert {one.deleted for one in notices(repository, ALICE) if one.comment_id in others} == {
        DeletedComment(CAROL, None)
    }
    repository.comments.delete(first, BOB)
    assert notices(repository, BOB)[0].deleted is None  # an article notes a limited number
    assert problems(repository) == []


def test_members_get_no_notices_of_their_own_actions(repository, article):
    own = comment_on(repository, article, "@alice", ALICE, mentioned=[ALICE])
    comment_on(repository, article, "More", ALICE, own)
    repository.articles.edit(article, Actor(ALICE, "alice"), "Better", link(2), moderator=False, mentioned=[ALICE])

    assert heard(repository, ALICE) == []


def test_a_mention_is_one_notice_even_in_a_reply_to_the_member_and_after_edits(repository, clock, article):
    comment = comment_on(repository, article, "@alice @carol", BOB, mentioned=[ALICE, CAROL])
    posted_at = clock()
    clock.advance(60)
    repository.comments.edit(comment, BOB, "@alice @carol @mallory", mentioned=[ALICE, CAROL, MALLORY])

    assert heard(repository, ALICE) == [("reply", comment)]
    assert heard(repository, CAROL) == heard(repository, MALLORY) == [("mention", comment)]
    assert [notices(repository, user)[0].at for user in (CAROL, MALLORY)] == [posted_at, clock()]


def edit(repository: Repository, article: int, comment: int | None, text: str, **notices: object) -> None:
    """Change bob's comment, or alice's article without one."""
    if comment:
        repository.comments.edit(comment, BOB, text, **notices)
    else:
        alice = Actor(ALICE, "alice")
        repository.articles.edit(article, alice, "A title", link(1), text=text, moderator=False, **notices)


@pytest.mark.parametrize("in_comment", [True, False])
def test_a_text_notifies_so_many_members_in_its_life(repository, article, in_comment):
    members = range(1_001, 1_041)
    comment = comment_on(repository, article, "@members", BOB, mentioned=members[:9]) if in_comment else None
    for first in range(0 if comment is None else 9, 40, 9):
        edit(repository, article, comment, f"From {first}", mentioned=members[first : first + 9])
    edit(repository, article, comment, "Again", mentioned=[members[0], members[39]])

    assert [user for user in members if heard(repository, user)] == list(members[:MOST_MENTIONED])
    assert problems(repository) == []


@pytest.mark.parametrize("in_comment", [True, False])
def test_a_mention_that_is_taken_back_at_once_takes_its_unread_notice_back(repository, clock, article, in_comment):
    comment, posted_at = comment_on(repository, article, "Hello", BOB) if in_comment else None, clock()
    edit(repository, article, comment, "@carol @mallory", mentioned=[CAROL, MALLORY])
    clock.advance(UNDO_SECONDS)
    edit(repository, article, comment, "Nobody", unmentioned={CAROL: posted_at - 1, MALLORY: posted_at})

    assert heard(repository, CAROL) == []
    assert heard(repository, MALLORY) == [("mention", comment)], "it has been read"
    edit(repository, article, comment, "@carol", mentioned=[CAROL])
    clock.advance(UNDO_SECONDS + 0.001)
    edit(repository, article, comment, "Nobody", unmentioned={CAROL: 0})
    assert heard(repository, CAROL) == [("mention", comment)], "it is too late"


def test_a_comment_deleted_at_once_takes_its_unread_mentions_back(repository, article):
    comment = comment_on(repository, article, "@carol", BOB, mentioned=[CAROL])
    repository.comments.delete(comment, BOB, unmentioned={CAROL: 0})

    assert heard(repository, CAROL) == []
    assert heard(repository, ALICE) == [("reply", comment)]


def test_the_text_of_an_article_mentions_members_and_an_edit_those_it_adds(repository, clock):
    posted = repository.articles.post(ALICE, "alice", "Hello", "", text="@bob", mentioned=[BOB]).id
    clock.advance(1)
    repository.articles.edit(
        posted, Actor(ALICE, "alice"), "Hello", "", text="@bob @carol", moderator=False, mentioned=[BOB, CAROL]
    )

    (notice,) = notices(repository, CAROL)
    assert (notice.kind, notice.comment_id, notice.poster_name) == (NoticeKind.MENTION, None, "alice")
    assert notices(repository, BOB)[0].at < notice.at


def test_moderator_actions_notify_the_author(repository, clock, article):
    comment = comment_on(repository, article, "Spam", BOB)
    acts = (
        lambda: repository.articles.edit(article, MODERATOR, "Better", link(2), moderator=True, reason="A typo"),
        lambda: repository.comments.remove(comment, MODERATOR, "Spam"),
        lambda: repository.comments.restore(comment, MODERATOR, "No spam"),
        lambda: repository.comments.lock(article, MODERATOR, "Too heated"),
        lambda: repository.articles.remove(article, MODERATOR, "Off topic"),
    )
    for act in acts:
        clock.advance(1)
        act()

    assert heard(repository, BOB) == [(Action.RESTORE_COMMENT, comment), (Action.REMOVE_COMMENT, comment)]
    acts_on_the_article = [one for one in heard(repository, ALICE) if one[1] is None]
    assert acts_on_the_article == [(Action.REMOVE, None), (Action.LOCK, None), (Action.EDIT, None)]
    (removal, *_) = notices(repository, ALICE)
    assert removal.entry is not None
    assert (removal.entry.reason, removal.entry.actor_name) == ("Off topic", "carol")


def test_an_act_that_is_repeated_is_one_notice_with_the_newest_entry(repository, clock, article):
    for reason in ("First", "Second"):
        repository.articles.remove(article, MODERATOR, reason)
        clock.advance(1)
        repository.articles.restore(article, MODERATOR, "No")
        clock.advance(1)

    entries = [one.entry for one in notices(repository, ALICE)]
    found = [entry and (entry.action, entry.reason) for entry in entries]
    assert found == [("restore", "No"), ("remove", "Second")]


def test_a_notice_of_what_is_gone_says_so(repository, clock, article):
    comments = [comment_on(repository, article, text, BOB) for text in ("Deleted", "Removed", "Answered")]
    comment_on(repository, article, "Answer", CAROL, comments[2])
    repository.comments.delete(comments[0], BOB)
    repository.comments.remove(comments[1], MODERATOR, "Spam")
    repository.comments.delete(comments[2], BOB)

    found = {one.comment_id: one for one in notices(repository, ALICE)}
    assert set(comments) <= set(found)
    assert not any(found[one].is_readable for one in comments)
    assert found[comments[0]].comment is None
    assert [found[one].comment.is_deleted for one in comments[1:]] == [False, True]


def test_new_notices_are_counted_without_a_round_trip(repository, clock, article, wire):
    comment_on(repository, article, "Old", BOB)
    read_until = clock()
    post(repository, 2)
    for number in (article, article + 1):
        clock.advance(1)
        comment_on(repository, number, "New", BOB)

    repository.lists.get_page(Order.SCORE, reader=ALICE)
    with wire.counted():
        repository.lists.get_page(Order.SCORE, reader=ALICE)
    trips = wire.trips
    for since, new in ((0, 3), (read_until, 2), (clock(), 0), (0, 3)):
        with repository.inbox.counting(ALICE, since) as unread, wire.counted():
            repository.lists.get_page(Order.SCORE, reader=ALICE)
            repository.lists.get_page(Order.SCORE, reader=ALICE)
        assert (wire.trips, unread.count) == (2 * trips, new)


def test_pages_of_an_inbox_hold_each_notice_once(repository, clock, article):
    numbers = [article, *(post(repository, number) for number in range(2, 5))]
    expected: list[int | None] = []
    for turn in range(60):
        clock.advance(0.5)
        expected.insert(0, comment_on(repository, numbers[turn % 4], f"Comment {turn}", BOB))

    pages = [repository.inbox.get_page(ALICE, number) for number in (1, 2, 3)]
    assert [notice.comment_id for page in pages for notice in page.notices] == expected
    assert [page.has_next for page in pages] == [True, True, False]
    assert [one.subject for one in repository.inbox.iterate(ALICE)] == expected
    for number in (0, 4):
        with pytest.raises(PageNotFound):
            repository.inbox.get_page(ALICE, number)


def test_an_inbox_keeps_the_newest_notices(repository, clock, article):
    inbox, client = repository.store.shards.of(article).inbox(ALICE), repository.store.client
    client.zadd(inbox, {f"reply:{root_of(article) + n}": n for n in range(1, NOTICES_KEPT + 1)})

    comment = comment_on(repository, article, "Newest", BOB)

    kept = client.zrange(inbox, 0, -1)
    assert len(kept) == NOTICES_KEPT
    assert (kept[0], kept[-1]) == (f"reply:{root_of(article) + 2}", f"reply:{comment}")


def test_the_audit_finds_what_the_repair_removes_from_inboxes(repository, article):
    comment = comment_on(repository, article, "Hello", BOB)
    keys, client, nowhere = repository.store.shards.of(article), repository.store.client, root_of(article + 400)
    client.zadd(keys.inbox(ALICE), {f"remove:{nowhere}": 1, "reply:7": 2})
    client.zadd(keys.inbox(CAROL), {f"lock:{root_of(article)}": 1})
    client.zadd(keys.inbox(BOB), {f"reply:{root_of(article) + n}": n for n in range(1, NOTICES_KEPT + 3)})
    client.sadd(keys.deleted_members, CAROL)

    found = "\n".join(problems(repository))
    for problem in (f"remove:{nowhere}", "reply:7", "belongs to a deleted account", f"{NOTICES_KEPT + 2} notices"):
        assert problem in found
    repository.repair.run()

    assert problems(repository) == []
    assert client.zrange(keys.inbox(ALICE), 0, -1) == [f"reply:{comment}"]
    assert not client.exists(keys.inbox(CAROL))
    assert client.zcard(keys.inbox(BOB)) == NOTICES_KEPT


def test_a_deleted_account_has_no_inbox_and_receives_no_notice(repository, article):
    first = comment_on(repository, article, "Mine", BOB)
    comment_on(repository, article, "Reply", CAROL, first)
    repository.account_deletion.advance(BOB, "bob", "", lambda: True)

    comment_on(repository, article, "@bob", CAROL, first, mentioned=[BOB])

    assert heard(repository, BOB) == []
    assert [one.comment.author_name for one in notices(repository, ALICE) if one.comment] == [""]
