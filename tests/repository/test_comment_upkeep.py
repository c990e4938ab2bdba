"""Audit and repair of comments: each damage is found, and what can be rebuilt from the comments is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pytest
import redis

from articles.domain.articles import Choice
from articles.domain.comments import CommentOrder, root_of
from articles.domain.lists import Order
from articles.repository import Repository
from articles.repository.store.batches import ENTRIES_PER_CHECK
from articles.repository.store.keys import Keys
from articles.repository.upkeep import comments
from tests.cast import ALICE, BOB
from tests.factories import comment_on, post
from tests.repository.racing import during
from tests.repository.usage import use
from tests.store_state import contents, problems

ROOT, FIRST, REPLY, STUB, LAST = (root_of(7) + n for n in range(5))
"""The comments of article 7, as `use_comments` posts them."""


@dataclass
class Raw:
    """A used store to break by hand."""

    repository: Repository

    @property
    def client(self) -> redis.Redis:
        return self.repository.store.client

    @property
    def keys(self) -> Keys:
        """Keys of the shard of article 7."""
        return self.repository.store.shards.of(7)

    def change(self, comment_id: int, **fields: object) -> None:
        self.client.hset(self.keys.comment(comment_id), mapping={k: str(v) for k, v in fields.items()})

    def change_article(self, **fields: object) -> None:
        self.client.hset(self.keys.article(7), mapping={k: str(v) for k, v in fields.items()})

    def lose(self, comment_id: int) -> None:
        """Delete the last comment and what names it, but not the stub above it."""
        self.client.delete(self.keys.comment(comment_id))
        for parent in (ROOT, FIRST, STUB):
            self.client.zrem(self.keys.replies_best(parent), str(comment_id))
            self.client.zrem(self.keys.replies_time(parent), str(comment_id))
        self.client.zrem(self.keys.commented(ALICE), str(comment_id))
        last = self.client.hget(self.keys.comment(REPLY), "time")
        self.change_article(comments=2, last_comment=last)
        self.client.zadd(self.keys.order(Order.ACTIVE), {"7": float(last)})
        self.client.delete(self.keys.group_order(Order.ACTIVE, "python"))


@pytest.fixture
def used(repository, clock) -> Raw:
    use(repository, clock)
    return Raw(repository)


def named(comment_id: int) -> str:
    return f"comment:{comment_id}"


Break = Callable[[Raw], object]
Found = list[tuple[str, str]]

REPAIRED: Mapping[str, tuple[Break, Found]] = {
    "a place among the best by hand": (
        lambda raw: raw.client.zincrby(raw.keys.replies_best(ROOT), 0.001, str(FIRST)),
        [(named(FIRST), "not among the replies by best, or not in its place")],
    ),
    "a reply that is not among the replies": (
        lambda raw: raw.client.zrem(raw.keys.replies_time(FIRST), str(REPLY)),
        [(named(REPLY), "not among the replies by time, or not in its place")],
    ),
    "replies that are lost": (
        lambda raw: raw.client.delete(raw.keys.replies_time(ROOT), raw.keys.replies_best(ROOT)),
        [(named(one), "not among the ") for one in (FIRST, FIRST, STUB, STUB)],
    ),
    "a stranger among the replies": (
        lambda raw: raw.client.zadd(raw.keys.replies_best(FIRST), {str(LAST): 1}),
        [(f"replies:best:{FIRST}", f"holds {LAST}, which does not reply to it")],
    ),
    "replies to nothing": (
        lambda raw: raw.client.zadd(raw.keys.replies_time(REPLY), {str(ROOT + 77): 1}),
        [(f"replies:best:{REPLY}", f"holds {ROOT + 77}, which does not reply to it")],
    ),
    "voter sets that are not noted": (
        lambda raw: raw.client.zrem(raw.keys.comment_voters, str(FIRST)),
        [(named(FIRST), "voter sets that will not be dropped")],
    ),
    "voter sets that are noted for a wrong time": (
        lambda raw: raw.client.zadd(raw.keys.comment_voters, {str(FIRST): 1}),
        [(named(FIRST), "voter sets that will be dropped at the wrong time")],
    ),
    "a voter set that expires": (
        lambda raw: raw.client.expire(raw.keys.comment_oppose(FIRST), 10**6),
        [(named(FIRST), "a voter set that expires")],
    ),
    "voters of no comment": (
        lambda raw: raw.client.sadd(raw.keys.comment_voted(ROOT + 77), 5),
        [(named(ROOT + 77), "no such comment")],
    ),
    "a comment that its author's list lacks": (
        lambda raw: raw.client.zrem(raw.keys.commented(ALICE), str(FIRST)),
        [(named(FIRST), "not in commented:1")],
    ),
    "another member's comment in a list": (
        lambda raw: raw.client.zadd(raw.keys.commented(BOB), {str(FIRST): 5}),
        [("commented:2", f"holds {FIRST}, which is not the member's")],
    ),
    "a wrong time in a member's list": (
        lambda raw: raw.client.zadd(raw.keys.commented(ALICE), {str(FIRST): 5}),
        [("commented:1", f"holds {FIRST}, not by its time")],
    ),
    "a count by hand": (lambda raw: raw.change_article(comments=9), [("article:7", "comments 9, shown 3")]),
    "a last comment by hand": (
        lambda raw: raw.change_article(last_comment=5),
        [("article:7", "active 5, ranked "), ("article:7", "last comment 5, shown ")],
    ),
    "a discussion that is not ranked": (
        lambda raw: raw.client.zrem(raw.keys.order(Order.ACTIVE), "7"),
        [("article:7", "active "), ("group:python", "active ranking differs from its intersection")],
    ),
    "a last number that is lost": (
        lambda raw: raw.client.hdel(raw.keys.article(7), "comment_ids"),
        [(named(one), "there is no such article, or it has had no comments") for one in range(FIRST, LAST + 1)],
    ),
    "a last number that is too low": (
        lambda raw: raw.change_article(comment_ids=2),
        [(named(one), "has a number beyond those given out") for one in (STUB, LAST)],
    ),
}
"""Damage after whose repair everything is as before."""

REPAIRED_OTHERWISE: Mapping[str, tuple[Break, Found, list[int]]] = {
    "a comment that is lost": (
        lambda raw: raw.client.delete(raw.keys.comment(FIRST)),
        [
            ("article:7", "comments 3, shown 2"),
            (named(FIRST), "no such comment"),
            (named(REPLY), f"replies to {FIRST}, which is not there"),
            ("commented:1", f"holds {FIRST}, which is not the member's"),
            (f"replies:best:{ROOT}", f"holds {FIRST}, which does not reply to it"),
        ],
        [REPLY, STUB, LAST],
    ),
    "a stub without replies": (
        lambda raw: raw.lose(LAST),
        [(named(STUB), "deleted, and without replies")],
        [FIRST, REPLY],
    ),
    "an author whose account is deleted": (
        lambda raw: (raw.change(REPLY, author=999), raw.client.sadd(raw.keys.deleted_members, 999)),
        [
            (named(REPLY), "its author is a member whose account is deleted"),
            ("commented:2", f"holds {REPLY}, which is not the member's"),
        ],
        [FIRST, REPLY, STUB, LAST],
    ),
    "a comment on nothing": (
        lambda raw: raw.client.copy(raw.keys.comment(REPLY), raw.keys.comment(root_of(4007) + 1)),
        [
            (named(root_of(4007) + 1), "not among the replies by time"),
            (named(root_of(4007) + 1), "not in commented:2"),
            (named(root_of(4007) + 1), "replies to"),
            (named(root_of(4007) + 1), "there is no such article"),
            (named(root_of(4007) + 1), "not among the replies by best"),
        ],
        [FIRST, REPLY, STUB, LAST],
    ),
}
"""Damage that loses something, with the comments that are shown after the repair."""

LEFT: Mapping[str, tuple[Break, Found]] = {
    "a count of votes by hand": (lambda raw: raw.change(FIRST, votes=5), [(named(FIRST), "votes 5, voters 4")]),
    "a member in both voter sets": (
        lambda raw: (raw.client.sadd(raw.keys.comment_oppose(FIRST), 10), raw.change(FIRST, opposes=2)),
        [(named(FIRST), "a user is in both voter sets")],
    ),
    "votes without voters": (
        lambda raw: (raw.client.delete(raw.keys.comment_voted(FIRST)), raw.repository.repair.run()),
        [(named(FIRST), "votes 4, voters 0")],
    ),
    "a comment without a field": (
        lambda raw: raw.client.hdel(raw.keys.comment(REPLY), "text"),
        [("article:7", "comments 3, shown 2"), (named(REPLY), "not a whole one")],
    ),
    "a damaged number": (
        lambda raw: raw.change(REPLY, closes="soon"),
        [("article:7", "comments 3, shown 2"), (named(REPLY), "not a whole one")],
    ),
}
"""Damage that the repair cannot undo: it repairs the rest."""


def check(found: list[str], expected: Found) -> None:
    """Compare findings with subjects and parts of problems, in any order."""
    left = [finding.partition("}:")[2] if finding.startswith("{") else finding for finding in found]
    for subject, problem in expected:
        match = [one for one in left if one.startswith(f"{subject}: ") and problem in one]
        assert match, (subject, problem, left)
        left.remove(match[0])
    assert left == []


def thread(repository: Repository) -> list[object]:
    return [repository.comments.get_thread(7, order, reader=10) for order in CommentOrder]


@pytest.mark.deep
@pytest.mark.parametrize("what", REPAIRED)
def test_damage_is_found_and_repaired(used, what):
    before = contents(used.repository)
    break_it, expected = REPAIRED[what]
    break_it(used)

    check(problems(used.repository), expected)
    used.repository.repair.run()

    assert problems(used.repository) == []
    after = contents(used.repository)
    about = ("comment:", "replies:", "commented:", "article:7")
    assert {n: after[n] for n in after if n.rpartition("}:")[2].startswith(about)} == {
        n: before[n] for n in before if n.rpartition("}:")[2].startswith(about)
    }


@pytest.mark.parametrize("what", REPAIRED_OTHERWISE)
def test_what_is_lost_is_found_and_the_rest_repaired(used, what):
    break_it, expected, left = REPAIRED_OTHERWISE[what]
    break_it(used)

    check(problems(used.repository), expected)
    used.repository.repair.run()

    assert problems(used.repository) == []
    shown = used.repository.comments.get_thread(7, CommentOrder.OLDEST).comments
    assert sorted(comment.id for comment in shown) == left


@pytest.mark.parametrize("what", LEFT)
def test_what_cannot_be_repaired_is_found_again(used, what):
    break_it, expected = LEFT[what]
    break_it(used)
    told: list[str] = []

    used.repository.repair.run(tell=lambda finding: told.append(str(finding)))

    expected = [one for one in expected if one[0] != "article:7"]
    check(problems(used.repository), expected)
    is_damaged = "whole" in expected[0][1]
    assert any("is damaged, and left as it is" in one for one in told) == is_damaged


def test_long_lists_are_checked_and_repaired_in_parts(repository, monkeypatch):
    monkeypatch.setattr(comments, "ARTICLES_PER_CHECK", 3)
    monkeypatch.setattr(comments, "ENTRIES_PER_CHECK", 3)
    assert ENTRIES_PER_CHECK > 3
    article = post(repository, 1)
    ids = [comment_on(repository, article, str(number)) for number in range(10)]
    for number, comment_id in enumerate(ids):
        repository.comments.cast(comment_id, 50 + number, Choice.VOTE)
    keys, client = repository.store.shards.of(article), repository.store.client
    assert problems(repository) == []
    strangers = {str(root_of(article) + 50 + n): 99 + n for n in range(5)}
    client.zadd(keys.replies_best(root_of(article)), strangers)
    client.zadd(keys.commented(BOB), strangers)
    client.hset(keys.article(article), "comments", 1)

    assert len(problems(repository)) == 11
    repository.repair.run()

    assert problems(repository) == []
    assert repository.comments.get_thread(article, CommentOrder.OLDEST).total == 10


def test_neither_audit_nor_repair_is_confused_by_members_who_comment(repository):
    article = post(repository, 1)
    top = comment_on(repository, article, "Top")

    def discuss() -> None:
        for number in range(60):
            reply = comment_on(repository, article, str(number), ALICE, top)
            repository.comments.cast(reply, BOB, Choice.VOTE)
            if number % 3:
                repository.comments.delete(reply, ALICE)

    found: list[str] = []
    during(discuss, lambda: (found.extend(problems(repository)), repository.repair.run()), repository, readers=1)

    assert [finding for finding in found if "comments" in finding] == []
    assert problems(repository) == []
    assert repository.articles.get(article).comments == 21
