"""Comments: posting, replies, orders, votes, edits, deletion, moderation, and what a page of a thread reads."""

from typing import Any

import pytest

from articles.domain.articles import Choice
from articles.domain.comments import (
    COMMENTS_PER_ARTICLE,
    DEEPEST_SHOWN,
    Comment,
    CommentOrder,
    Thread,
    ThreadPart,
    article_of,
    root_of,
)
from articles.domain.errors import (
    ArticleNotFound,
    ArticleRemoved,
    CommentNotFound,
    CommentVotingClosed,
    DiscussionFull,
    DiscussionLocked,
    DiscussionNotLocked,
    LimitReached,
    PageNotFound,
    PageTooDeep,
)
from articles.domain.lists import Order
from articles.domain.moderation_log import Action, Actor
from articles.domain.readership import Visit
from articles.repository import Repository
from articles.repository.comments.comments import SENT_SECONDS
from tests.cast import ALICE, BOB, MALLORY, MODERATOR
from tests.clock import DAY
from tests.every_server import names_in
from tests.factories import comment_on, post
from tests.repository.usage import commands_of_scripts, listed
from tests.rules import RATES, connect, default_rules
from tests.store_state import problems

pytestmark = pytest.mark.one_shard

OLDEST = CommentOrder.OLDEST


def read(
    repository: Repository, article: int, order: CommentOrder = OLDEST, reader: int | None = None, **part: Any
) -> Thread:
    return repository.comments.get_thread(article, order, reader=reader, part=ThreadPart(**part))


def elect(repository: Repository, comment: int, votes: int, opposes: int = 0) -> None:
    """Vote on a comment as members who have not done so."""
    for number in range(votes + opposes):
        choice = Choice.VOTE if number < votes else Choice.OPPOSE
        repository.comments.cast(comment, 5000 + number, choice)


# Posting


def test_a_comment_is_read_as_it_was_posted(repository, article, clock):
    comment = comment_on(repository, article, "First *post*")

    assert comment == article * COMMENTS_PER_ARTICLE + 1
    assert (article_of(comment), root_of(article)) == (article, article * COMMENTS_PER_ARTICLE)
    closes_at = clock() + repository.rules.voting_window
    html = "<p>First <em>post</em></p>\n"
    expected = Comment(comment, article, None, BOB, "bob", "First *post*", clock(), 0, 0, closes_at, html=html)
    assert repository.comments.get(comment) == expected
    assert read(repository, article) == Thread((expected,), 1, OLDEST)
    assert repository.articles.get(article).comments == 1
    assert problems(repository) == []


def test_the_same_text_sent_twice_is_one_comment(repository, article, clock):
    first = comment_on(repository, article, "Twice")
    clock.advance(5)
    reply = comment_on(repository, article, "Twice", parent=first)

    assert comment_on(repository, article, "Twice") == first
    assert comment_on(repository, article, "Twice", parent=first) == reply != first
    assert comment_on(repository, article, "Twice", ALICE) not in (first, reply)
    assert repository.articles.get(article).comments == 3
    keys = repository.store.shards.of(article)
    (sent, *_) = [name for name in names_in(repository.store.client) if ":sent:" in name]
    assert sent.startswith(keys.prefix)
    assert 0 < repository.store.client.ttl(sent) <= SENT_SECONDS


def test_a_reply_is_refused_to_a_comment_on_another_article_or_to_none(repository, article):
    other, comment = post(repository, 2), comment_on(repository, article, "Here")

    for where, parent in [(other, comment), (article, root_of(article))]:
        with pytest.raises(CommentNotFound):
            comment_on(repository, where, "No", parent=parent)


def test_a_full_discussion_accepts_no_more_comments(repository, article):
    keys = repository.store.shards.of(article)
    repository.store.client.hset(keys.article(article), "comment_ids", COMMENTS_PER_ARTICLE - 2)

    last = comment_on(repository, article, "The last one")

    assert article_of(last) == article
    with pytest.raises(DiscussionFull):
        comment_on(repository, article, "One too many")


def test_a_number_that_is_taken_is_not_given_out_again(repository, article):
    first = comment_on(repository, article, "a")
    repository.store.client.hset(repository.store.shards.of(article).article(article), "comment_ids", 0)

    assert comment_on(repository, article, "b") == first + 1


# Pages


@pytest.mark.parametrize("order", CommentOrder)
def test_the_pages_of_a_thread_show_every_comment_once(repository, article, order):
    tops = [comment_on(repository, article, f"t{n}") for n in range(7)]
    replies = [
        comment_on(repository, article, f"r{n}{m}", parent=top) for n, top in enumerate(tops) for m in range(2)
    ]
    whole = read(repository, article, order)
    assert len(whole.comments) == len(tops) + len(replies)

    parts, start = [], 0
    while start is not None:
        part = read(repository, article, order, start=start, size=4)
        assert len(part.comments) <= 4
        assert part.total == 21
        parts.append(part)
        start = part.next_start

    shown = [comment.id for part in parts for comment in part.comments]
    assert len(shown) == len(set(shown))
    cut = {comment for part in parts for comment in part.cut}
    assert cut
    assert {c.id for c in whole.comments} - set(shown) <= {c.id for c in whole.comments if c.parent in cut}
    assert [top for top in shown if top in tops] == [c.id for c in whole.comments if c.id in tops]
    for part in parts:
        for comment, missing in part.cut.items():
            branch = repository.comments.get_branch(comment, order)
            assert missing == len(branch.comments) - 1 - sum(c.parent == comment for c in part.comments)


@pytest.mark.parametrize("order", CommentOrder)
def test_a_reader_who_says_what_was_shown_gets_every_comment_once_whatever_changes(repository, article, order):
    tops = [comment_on(repository, article, f"t{n}") for n in range(12)]
    for number, top in enumerate(tops):
        elect(repository, top, 12 - number)

    first = read(repository, article, order, size=4)
    shown = [comment.id for comment in first.comments]
    assert first.passed == tuple(shown)
    waiting = [top for top in tops if top not in shown]
    elect(repository, waiting[-1], 40)
    elect(repository, shown[0], 0, 40)
    repository.comments.delete(shown[1], BOB)
    new = comment_on(repository, article, "posted meanwhile")
    passed, parts = first.passed, [first]
    while (start := parts[-1].next_start) is not None:
        parts.append(read(repository, article, order, start=start, passed=passed, size=4))
        passed += parts[-1].passed

    rest = [comment.id for part in parts[1:] for comment in part.comments]
    assert sorted(rest) == sorted([*waiting, new])
    assert [part.start for part in parts] == [0, 4, 8, 12]


@pytest.mark.parametrize("text", ["a" * 20_000, "@alice " * 350], ids=["text", "HTML"])
def test_long_comments_make_shorter_pages(repository, article, text):
    tops = [comment_on(repository, article, text + str(n)) for n in range(4)]

    first = read(repository, article, size=40)
    second = read(repository, article, start=first.next_start, size=40)

    assert [comment.id for comment in first.comments] == tops[:2]
    assert [comment.id for comment in second.comments] == tops[2:]
    assert (first.next_start, second.next_start) == (2, None)


def test_a_thread_ends_at_the_greatest_depth_and_a_branch_continues_there(repository, article):
    chain = [comment_on(repository, article, "0")]
    for depth in range(1, 2 * DEEPEST_SHOWN):
        chain.append(comment_on(repository, article, str(depth), parent=chain[-1]))

    thread = read(repository, article)
    branch = repository.comments.get_branch(chain[DEEPEST_SHOWN + 1], OLDEST)

    assert [comment.depth for comment in thread.comments] == list(range(DEEPEST_SHOWN + 1))
    assert thread.cut == {chain[DEEPEST_SHOWN]: 1}
    assert [comment.id for comment in branch.comments] == chain[DEEPEST_SHOWN + 1 :]
    assert [comment.depth for comment in branch.comments] == list(range(DEEPEST_SHOWN - 1))
    assert branch.ancestors == tuple(chain[1 : DEEPEST_SHOWN + 1])
    assert thread.ancestors == repository.comments.get_branch(chain[0], OLDEST).ancestors == ()


@pytest.mark.needs("few shards")
def test_a_page_of_many_comments_reads_no_more_than_it_shows(repository, article):
    keys, client = repository.store.shards.of(article), repository.store.client
    pipe = client.pipeline(transaction=False)
    for number in range(1, 2_001):
        comment, parent = root_of(article) + number, root_of(article) + (number // 10 if number % 10 else 0)
        facts = {"text": "x" * 200, "author": 7, "author_name": "user7", "parent": parent, "time": 1_700_000_000}
        pipe.hset(keys.comment(comment), mapping=facts | {"closes": 1_800_000_000, "votes": 0, "opposes": 0})
        pipe.zadd(keys.replies_best(parent), {str(comment): 0})
        pipe.zadd(keys.replies_time(parent), {str(comment): 1_700_000_000 + number})
    pipe.hset(keys.article(article), mapping={"comments": 2_000, "comment_ids": 2_000})
    pipe.execute()
    read(repository, article)

    for order in CommentOrder:
        read(repository, article, order)  # makes and keeps the HTML
        with commands_of_scripts(repository) as commands:
            thread = read(repository, article, order, reader=ALICE)
        assert len(thread.comments) == 200
        assert len(commands) < 200 * 7
        entries = [int(words[3]) - int(words[2]) + 1 for words in commands if "RANGE" in words[0]]
        assert max(entries) <= 200
        assert thread.next_start


# Votes


def test_voting_on_a_comment_ends_with_its_own_window(repository, article, clock):
    clock.advance(DAY)
    comment, cast = comment_on(repository, article, "Mine"), repository.comments.cast
    with pytest.raises(CommentNotFound):
        cast(root_of(article), ALICE, Choice.VOTE)
    clock.advance(repository.rules.voting_window)
    assert cast(comment, ALICE, Choice.VOTE).votes == 1
    clock.advance(0.001)
    with pytest.raises(CommentVotingClosed):
        cast(comment, ALICE, Choice.NONE)


def test_votes_on_comments_count_toward_the_limit_of_votes(repository, article, clock):
    comment = comment_on(repository, article, "Vote on me")
    client, shards = repository.store.client, repository.store.shards.count
    limited = connect(client, shards=shards, rules=default_rules(limits=RATES), clock=clock)

    for turn in range(RATES["votes"].uses):
        limited.comments.cast(comment, ALICE, Choice.VOTE if turn % 2 else Choice.NONE)

    with pytest.raises(LimitReached):
        limited.comments.cast(comment, ALICE, Choice.VOTE)


# Moderation


def test_a_locked_discussion_takes_votes_and_deletions_but_no_text(repository, article):
    comment, other = comment_on(repository, article, "Before"), comment_on(repository, article, "Mine", ALICE)

    repository.comments.lock(article, MODERATOR, "Too heated")

    assert repository.articles.get(article).locked == read(repository, article).locked == "Too heated"
    with pytest.raises(DiscussionLocked):
        comment_on(repository, article, "After")
    assert comment_on(repository, article, "Before") == comment  # sent again
    for refused in (
        lambda: repository.comments.lock(article, MODERATOR, "Again"),
        lambda: repository.comments.edit(comment, BOB, "After"),
    ):
        with pytest.raises(DiscussionLocked):
            refused()
    repository.comments.delete(other, ALICE)
    assert repository.comments.cast(comment, ALICE, Choice.VOTE).votes == 1
    repository.comments.unlock(article, MODERATOR, "Calm again")
    with pytest.raises(DiscussionNotLocked):
        repository.comments.unlock(article, MODERATOR, "Again")
    assert comment_on(repository, article, "After") == comment + 2
    actions = [entry.action for entry in repository.moderation_log.get_for_article(article).entries[:2]]
    assert actions == [Action.UNLOCK, Action.LOCK]
    for change in (repository.comments.lock, repository.comments.unlock):
        with pytest.raises(ArticleNotFound):
            change(article + 99, MODERATOR, "Why not")


def test_locked_discussions_are_listed_last(repository, clock):
    repository.groups.create("python", "Python", MODERATOR)
    early, late = (post(repository, number, ("python",)) for number in range(2))

    def orders():
        """Return the list and the group's, whose ranking exists from the first read on."""
        whole, group = (listed(repository, Order.ACTIVE, slug) for slug in (None, "python"))
        assert whole == group
        return whole

    for article_id in (early, late):
        clock.advance(1)
        comment_on(repository, article_id, "First")
    assert orders() == [late, early]
    assert repository.articles.get(late).last_comment_at == clock()

    repository.comments.lock(late, MODERATOR, "Too heated")
    assert orders() == [early, late]
    repository.comments.unlock(late, MODERATOR, "Calm again")
    assert orders() == [late, early]
    assert problems(repository) == []


def test_the_thread_of_a_removed_article_comes_back_with_it(repository, article):
    comment = comment_on(repository, article, "Here")
    before = read(repository, article)
    repository.articles.remove(article, MODERATOR, "Spam")

    for call in (
        lambda: read(repository, article),
        lambda: repository.comments.get(comment),
        lambda: repository.comments.get_branch(comment, OLDEST),
    ):
        with pytest.raises(ArticleRemoved):
            call()
    repository.articles.restore(article, MODERATOR, "No spam")

    assert read(repository, article) == before


# Reading


def test_every_read_and_every_change_takes_one_round_trip(repository, article, wire):
    comment, comments = comment_on(repository, article, "Warm"), repository.comments
    read(repository, article)
    comments.cast(comment, ALICE, Choice.VOTE)
    comments.edit(comment, BOB, "Warmer")
    for call in (
        lambda: comment_on(repository, article, "Reply", parent=comment),
        lambda: read(repository, article, reader=ALICE),
        lambda: comments.get_branch(comment, CommentOrder.BEST),
        lambda: comments.get_article(article, CommentOrder.BEST, reader=ALICE),
        lambda: comments.get(comment),
        lambda: comments.cast(comment, ALICE, Choice.OPPOSE),
        lambda: comments.edit(comment, BOB, "Warmest"),
    ):
        with wire.counted():
            call()
        assert wire.trips == 1


def test_a_members_comments_are_listed_newest_first(repository, clock):
    articles, said = [post(repository, number) for number in range(5)], []
    for article in articles:
        said.append(comment_on(repository, article, f"On {article}"))
        comment_on(repository, article, "Mine", ALICE)
        clock.advance(1)
    repository.comments.remove(said[0], MODERATOR, "Spam")
    repository.articles.remove(articles[1], MODERATOR, "Spam")

    assert [comment.id for comment in repository.comments.list_by(BOB)] == said[::-1]
    assert list(repository.comments.list_by(MALLORY)) == []


def test_the_pages_of_a_member_hold_each_comment_once(repository, clock):
    articles, posted = [post(repository, number) for number in range(5)], []
    for number in range(60):
        posted.append(comment_on(repository, articles[number * 7 % 5], f"Comment {number}"))
        clock.advance(1)

    pages = [repository.comments.get_page_by(BOB, number) for number in (1, 2, 3)]

    assert [len(comments) for comments, _ in pages] == [25, 25, 10]
    assert [has_next for _, has_next in pages] == [True, True, False]
    assert [comment.id for comments, _ in pages for comment in comments] == posted[::-1]
    assert repository.comments.get_page_by(ALICE) == ([], False)
    for number in (0, 4):
        with pytest.raises(PageNotFound):
            repository.comments.get_page_by(BOB, number)
    with pytest.raises(PageTooDeep):
        repository.comments.get_page_by(BOB, 401)


def test_the_newest_comments_are_those_of_a_feed(repository, clock, monkeypatch):
    """All since a moment, and the newest few in any case, of open and of locked discussions."""
    monkeypatch.setattr("articles.repository.comments.reading.LEAST_IN_FEED", 3)
    monkeypatch.setattr("articles.repository.comments.reading.MOST_IN_FEED", 9)
    articles, posted = [post(repository, number) for number in range(5)], []
    for number in range(40):
        clock.advance(10)
        posted.append((clock(), comment_on(repository, articles[number * number % 5], f"Comment {number}")))
    repository.comments.lock(articles[1], MODERATOR, "Too heated")
    for _, comment in posted[5:40:6]:
        repository.comments.remove(comment, MODERATOR, "Spam")
    shown = [each for n, each in enumerate(reversed(posted)) if (39 - n) % 6 != 5]

    def newest(since, article_id=None):
        found = repository.comments.list_newest(since=since, article_id=article_id)
        return [(comment.posted_at, comment.id) for comment in found]

    for back in (0, 2, 5, 8, 30):
        since = clock() - 10 * back
        wanted = max(3, sum(at >= since for at, _ in shown))
        assert newest(since) == shown[: min(9, wanted)]
        for article_id in articles:
            own = [each for each in shown if article_of(each[1]) == article_id]
            assert newest(since, article_id) == own[: min(9, max(3, sum(at >= since for at, _ in own)))]
    comment_on(repository, articles[0], "x" * 5000)
    assert len(newest(0)) == 4


def test_an_article_is_read_with_its_text_the_readers_choice_and_its_comments(repository, article):
    repository.votes.cast(article, ALICE, Choice.OPPOSE)
    repository.members.save(ALICE, article, wanted=True)
    comment_on(repository, article, "A comment")

    read_alone = repository.articles.get(article, ALICE, with_text=True)
    thread_alone = repository.comments.get_thread(article, CommentOrder.NEWEST, reader=ALICE)

    found = repository.comments.get_article(article, CommentOrder.NEWEST, reader=ALICE)
    assert found[:2] == (read_alone, thread_alone)
    assert (read_alone.choice, read_alone.saved, len(thread_alone.comments)) == (Choice.OPPOSE, True, 1)


def test_a_removed_article_is_read_without_comments_and_an_unknown_one_not_at_all(repository, article):
    comment_on(repository, article, "A comment")
    repository.articles.remove(article, MODERATOR, "spam")

    removed, thread, token, _ = repository.comments.get_article(article, CommentOrder.BEST)

    assert (removed.removed, thread, token()) == ("spam", None, "")
    with pytest.raises(ArticleNotFound):
        repository.comments.get_article(article + 1, CommentOrder.BEST)


def test_the_token_of_an_article_changes_with_what_its_page_shows_but_not_with_views(repository, article):
    other = post(repository, 2)
    comments, tokens = repository.comments, set()

    def is_new():
        found = comments.get_states([article, other])
        assert found[other] == unchanged
        tokens.add(found[article])
        return len(tokens)

    unchanged = comments.get_states([other])[other]
    assert is_new() == 1
    repository.pageviews.record(article, Visit("0" * 16))
    assert is_new() == 1
    repository.votes.cast(article, ALICE, Choice.OPPOSE)
    assert is_new() == 2
    comment = comment_on(repository, article, "A comment")
    assert is_new() == 3
    comments.cast(comment, ALICE, Choice.VOTE)
    assert is_new() == 4
    comments.edit(comment, BOB, "Another text")
    assert is_new() == 5


def test_the_token_is_read_with_the_first_part_whoever_reads_it(repository, article):
    for number in range(13):  # too many for one page: most of them are long as HTML
        comment_on(repository, article, f"Comment {number}" + " @alice" * 60 * number)
    comments = repository.comments

    def token(order=CommentOrder.BEST, **options):
        return comments.get_article(article, order, **options)[2]()

    repository.votes.cast(article, ALICE, Choice.VOTE)
    for comment in comments.get_thread(article, CommentOrder.BEST).comments[:2]:
        comments.cast(comment.id, ALICE, Choice.VOTE)
    assert token() == token(reader=ALICE) == comments.get_states([article])[article]
    assert token(CommentOrder.NEWEST) == ""
    assert token(part=ThreadPart(start=1)) == token(part=ThreadPart(size=2)) == ""


def test_an_article_that_is_removed_logged_or_unknown_has_no_token(repository, article):
    edited = post(repository, 4)
    repository.articles.edit(edited, Actor(ALICE, "alice"), "Edited", "https://example.org/e", moderator=False)
    removed = post(repository, 2)
    repository.articles.remove(removed, MODERATOR, "spam")
    locked = post(repository, 3)
    repository.comments.lock(locked, MODERATOR, "off-topic")

    assert list(repository.comments.get_states([edited, removed, locked, 999, article])) == [article]
    assert [repository.comments.get_article(one, CommentOrder.BEST)[2]() for one in (edited, locked)] == ["", ""]
