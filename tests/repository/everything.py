"""One use of every script, with every key it can build."""

from contextlib import suppress

from articles.domain.articles import Choice
from articles.domain.comments import CommentOrder, root_of
from articles.domain.errors import ArticleRemoved, VotingClosed
from articles.domain.flags import FlagReason
from articles.domain.lists import TOP_PERIODS, Order, Period
from articles.domain.moderation_log import Action, Actor
from articles.domain.ranking import Parameters
from articles.repository import BackupReader, Confirmation, Repository
from articles.repository.upkeep.long_articles import check_long
from articles.text.searching import Hiding
from tests import extras
from tests.cast import ALICE, BOB, CAROL, MALLORY, MODERATOR
from tests.clock import DAY, Clock
from tests.factories import (
    comment_on,
    comment_votes_from,
    imported,
    imported_comments,
    link,
    post,
    view,
    visit,
    vote_from,
)
from tests.repository.usage import let_pass, tune, use_up_limits
from tests.rules import connect

FORMER = 44  # a member whose account is deleted, and whose number is still kept with what the member posted


def use_all(repository: Repository, clock: Clock) -> None:
    """Run every script, with every key it can build."""
    for slug in ("one", "two", "three"):
        repository.groups.create(slug, slug, MODERATOR)
    ids = [post(repository, number, ("one", "two"), poster=BOB) for number in range(8)]
    repository.articles.post(BOB, "bob", "Hello", "", text="@alice", mentioned=[ALICE])
    repository.articles.withdraw(post(repository, 8, ("one",), poster=BOB), Actor(BOB, "bob"))
    for article_id in ids:
        repository.articles.edit(article_id, Actor(BOB, "bob"), "Newer", link(500 + article_id), moderator=False)
        for order in Order:
            for slug in ("one", "two"):
                repository.lists.get_page(order, slug=slug)
        for period in TOP_PERIODS.values():
            repository.lists.get_page(Order.POINTS, period=period)
        repository.lists.get_page(Order.POINTS, slugs=("one", "two"), hidden=Hiding(("three",)), shown=(ids[0],))
        for choice in (Choice.VOTE, Choice.OPPOSE, Choice.NONE):
            repository.votes.cast(article_id, 77, choice)
        vote_from(repository, article_id, 1, repository.rules.ring_accounts)
        repository.voting_rings.check(article_id, clock(), MODERATOR)
        view(repository, article_id, 1, 2)
        repository.pageviews.record(article_id, visit(2), 77)
        read(repository, article_id)
        repository.groups.assign(article_id, ["three"], ["one"], actor=MODERATOR)
        repository.changes.read_part((0, ""), 5)
        for period in (Period.DAY, Period.ALL):
            hidden = Hiding(("three",), members=(BOB,), articles=(ids[0],), read_by=77)
            repository.lists.get_page(Order.POINTS, period=period, hidden=hidden)
        repository.members.count_shown(BOB)
        repository.articles.remove(article_id, MODERATOR, "Spam")
        assert [one.removal.reason for one in repository.removed_articles.describe([article_id])] == ["Spam"]
        repository.groups.assign(article_id, ["one"], actor=MODERATOR)
        repository.repair.run()
        repository.articles.restore(article_id, MODERATOR, "No spam")
        changes = {"title": "New", "link": link(1000 + article_id), "leave": ["one"], "moderator": True}
        repository.articles.edit(article_id, MODERATOR, **changes)
        assert len(repository.moderation_log.get_for_article(article_id).entries) == 7
        repository.members.save(77, article_id, wanted=True)
        discuss(repository, clock, article_id)
        flag(repository, clock, article_id)
    for use in extras.all_of("use_store"):
        use(repository, ids[0], ["two"], ["two", "three"])
    merge(repository, ids[5], ids[0])
    with_many = repository.store.shards.of(ids[0])
    assert check_long(repository.store, with_many, ids[0]) == []
    check_long(repository.store, with_many, ids[0], "repair")
    assert repository.moderation_log.get_page(2).entries
    repository.moderation_log.note(Action.BAN, MODERATOR, "mallory", "Spam", {"scope": "both"})
    list(repository.left_out.leave_out(BOB, "user2", MODERATOR, "A ring"))
    repository.left_out.begin_probation(MALLORY)
    repository.votes.cast(ids[1], MALLORY, Choice.VOTE)
    repository.explanations.get(repository.articles.get(ids[1]))
    list(repository.left_out.end_probation(MALLORY))
    for is_last in (False, True):
        repository.account_deletion.advance(BOB, "user2", "", lambda: True, is_last=is_last)
    comment_on(repository, post(repository, 990, poster=FORMER), "Mine", FORMER)
    repository.account_deletion.advance(FORMER, f"user{FORMER}", "", lambda: True)
    repository.groups.rename("one", "First", MODERATOR)
    repository.groups.describe("one", "The *first*.", MODERATOR)
    repository.groups.merge("one", "two", MODERATOR)
    use_up_limits(repository, clock, ids[0])
    tune_and_keep_house(repository, clock)
    clock.advance(9 * DAY)
    names = repository.store.shards.of(4000)
    repository.store.client.zadd(names.order(Order.TIME), {"4000": 1})
    repository.store.client.sadd(names.group("two"), 4000)
    use_after_a_gap(repository, ids[1])
    wrong, stranger = repository.store.shards.of(ids[1]), {str(root_of(ids[1]) + 777): 1}
    repository.store.client.sadd(wrong.left_out, MALLORY)
    repository.store.client.hset(wrong.article(ids[1]), "comments", 77)
    repository.store.client.hset(wrong.flags(root_of(ids[1]) + 777), "77", "damaged")
    for name in (wrong.replies_best(root_of(ids[1])), wrong.commented(ALICE)):
        repository.store.client.zadd(name, stranger)
    assert len(list(repository.audit.run())) > 1
    repository.repair.run()
    repository.repair.rebuild()
    confirm(repository, ids[1])
    repository.store.client.delete("article:")
    repository.repair.run()
    for number in range(20_000, 20_003):
        post(repository, number, ("two",))
    reader = BackupReader(repository.store, [].append)
    assert [*reader.iterate_lists(), *reader.iterate_articles(lambda *_: None), *reader.iterate_site()]
    batch = [
        imported(
            100 * number + bool(removed), clock() - number, poster=ALICE, removed=removed, groups=("two", "new")
        )
        for number in range(8)
        for removed in (None, "Spam")
    ]
    with repository.imports.lock():
        repository.imports.add(batch)
        repository.imports.add(batch)
        for slug in ("two", "new"):
            repository.lists.get_page(Order.ACTIVE, slug=slug)
        repository.imports.add_comments([comment for one in batch for comment in imported_comments(one, clock())])
    assert [list(repository.imports.iterate_comments(article.id)) for article in repository.imports.iterate()]


def merge(repository: Repository, article_id: int, other: int) -> None:
    """Merge an article with a voter of its own, undo that, and merge it for good."""
    repository.votes.cast(article_id, 84, Choice.VOTE)
    for act in (
        repository.merges.merge(article_id, other, MODERATOR, "The same"),
        repository.merges.undo(article_id, MODERATOR, ""),
        repository.merges.merge(article_id, other, MODERATOR, "The same"),
    ):
        assert sum(act)
    assert not sum(repository.merges.finish())


def discuss(repository: Repository, clock: Clock, article_id: int) -> None:
    """Use comments in every way."""
    comments = repository.comments
    first = comment_on(repository, article_id, "First")
    for slug in ("two", "three"):
        repository.lists.get_page(Order.ACTIVE, slug=slug)
    reply = comment_on(repository, article_id, "Reply", ALICE, first)
    stub, top = (comment_on(repository, article_id, text) for text in ("Stub", "Top"))
    last = comment_on(repository, article_id, "Last", ALICE, stub)
    young = comment_on(repository, article_id, "@carol", mentioned=[CAROL])
    for comment, unmentioned in ((young, {CAROL: 0}), (stub, {})):
        comments.delete(comment, BOB, unmentioned=unmentioned)
    for choice in (Choice.VOTE, Choice.OPPOSE, Choice.NONE, Choice.VOTE):
        comments.cast(first, 77, choice)
        comments.cast(top, 77, choice)
        comments.cast(reply, 78, choice)
    comments.cast(reply, BOB, Choice.VOTE)
    clock.advance(1)
    comment_votes_from(repository, first, 1, repository.rules.ring_accounts)
    comments.edit(first, BOB, "Edited", mentioned=[ALICE])
    comments.remove(reply, MODERATOR, "Spam")
    repository.removed_comments.get_page()
    assert repository.redactions.list_texts(article_id)
    assert repository.redactions.redact_article(article_id, ["Reply", "Spam"], MODERATOR, "Private")
    comments.restore(reply, MODERATOR, "No spam")
    comments.lock(article_id, MODERATOR, "Too heated")
    comments.unlock(article_id, MODERATOR, "Calm again")
    remake_html(repository, article_id, first)
    for order in CommentOrder:
        comments.get_thread(article_id, order, reader=77)
        comments.get_branch(first, order, reader=77)
    assert list(comments.list_by(BOB))
    comment_on(repository, article_id, "@alice", mentioned=[ALICE])
    assert repository.inbox.get_page(BOB).notices
    with repository.inbox.counting(BOB, 0) as unread:
        repository.lists.get_page(Order.TIME, reader=BOB)
    assert unread.count
    assert comments.list_newest(since=clock())
    assert comments.list_newest(since=clock(), article_id=article_id)
    comments.delete(top, BOB)
    if article_id % 2:
        comments.delete(last, ALICE)


def remake_html(repository: Repository, article_id: int, comment_id: int) -> None:
    """Read an article and a comment whose HTML is not there, as in the store of an earlier version."""
    keys = repository.store.shards.of(article_id)
    repository.articles.edit(article_id, MODERATOR, f"New {article_id}", "", text="A *text*", moderator=True)
    for name in (keys.article(article_id), keys.comment(comment_id)):
        assert repository.store.client.hdel(name, "html")
    assert repository.articles.get(article_id, with_html=True).html == "<p>A <em>text</em></p>\n"
    assert repository.comments.get(comment_id).html


def use_after_a_gap(repository: Repository, article_id: int) -> None:
    """Use comments of an article that has given out many numbers to none, as after an import."""
    top = comment_on(repository, article_id, "Before the gap", ALICE)
    keys = repository.store.shards.of(article_id)
    repository.store.client.hincrby(keys.article(article_id), "comment_ids", 1100)
    repository.comments.remove(top, MODERATOR, "Spam")
    repository.comments.restore(top, MODERATOR, "No spam")
    assert repository.comments.list_newest(since=0, article_id=article_id)
    repository.comments.delete(top, ALICE)


def flag(repository: Repository, clock: Clock, article_id: int) -> None:
    """Use flags in every way; leave open ones by bob, and by others on a comment that is deleted."""
    flags = repository.flags
    for comment_id in (comment_on(repository, article_id, f"Flagged {number}", ALICE) for number in range(3)):
        for member in (BOB, MALLORY):
            flags.set(comment_id, member, FlagReason.SPAM, "It sells pills")
        flags.take_back(comment_id, MALLORY)
        match comment_id % 3:
            case 0:
                flags.remove(comment_id, MODERATOR, "Spam")
            case 1:
                repository.comments.delete(comment_id, ALICE)
    for subject in (root_of(article_id), root_of(article_id) + 1):
        for member in (CAROL, MALLORY):
            flags.set(subject, member, FlagReason.OFF_TOPIC)
        flags.keep(subject, clock(), "It fits")
    assert repository.inbox.get_page(CAROL).notices
    flags.set(root_of(article_id), 77, FlagReason.SPAM)
    repository.articles.remove(article_id, MODERATOR, "Spam")
    repository.articles.restore(article_id, MODERATOR, "No spam")
    flags.set(root_of(article_id), BOB, FlagReason.WITHDRAWAL)


def confirm(repository: Repository, article_id: int) -> None:
    """Have the server confirm a change."""
    confirming = connect(
        repository.store.client, shards=repository.store.shards.count, confirmation=Confirmation()
    )
    with suppress(ArticleRemoved, VotingClosed):
        confirming.votes.cast(article_id, 77, Choice.NONE)


def read(repository: Repository, article_id: int) -> None:
    """Read the hot list and the explanation of an article's rank."""
    for slug in (None, "one"):
        repository.lists.get_page(Order.HOT, slug=slug)
    repository.lists.get_page(Order.HOT, since=0, reader=BOB)
    repository.store.client.delete(repository.store.shards.of(article_id).group_order(Order.SCORE, "two"))
    repository.explanations.get(repository.articles.get(article_id))


def tune_and_keep_house(repository: Repository, clock: Clock) -> None:
    for votes_per_day in (50, 200):
        repository.previews.get(Order.SCORE, Parameters(votes_per_day=votes_per_day + 1), 3)
        repository.previews.get(Order.HOT, Parameters(alpha=7), 3)
        tune(repository, Parameters(votes_per_day=votes_per_day))
    entries = repository.redactions.list_entries(clock())
    tuned = next(entry for entry in entries if entry.action is Action.TUNE)
    assert repository.redactions.redact_entries(clock(), [tuned.reason], MODERATOR, "Private")
    repository.hot.rescore()
    repository.account_ids.note(repository.account_ids.reserve(4, 1))
    with repository.lease.acquire() as turn:
        assert turn is not None
        assert turn.renew()
    repository.history.record()
    let_pass(repository, clock, 91 * DAY)
    repository.clock.advance()
    assert repository.clock.drop_voters(60) > 0
    kept = repository.archive.get_counters(repository.archive.list_due(100))
    assert repository.archive.store(kept) == len(kept) > 0
    for one in kept:
        repository.archive.restore(one.article_id, one)
