"""Moving a site to another store while it is in use."""

import os
import random
import threading
from collections import Counter
from contextlib import contextmanager, suppress
from itertools import chain

import pytest

from articles.domain.articles import Choice
from articles.domain.comments import CommentOrder, root_of
from articles.domain.errors import ArticlesError, StoreUnavailable, StoreUnfit
from articles.domain.lists import Order
from articles.domain.ranking import Parameters
from articles.repository import MoveFailed, MoveState, Place
from articles.repository.backup.restoring import Placing, StoreRestore
from articles.repository.moving import marks
from articles.repository.moving import move as moving
from articles.repository.store.clients.guarded_connection import _Guarded
from articles.repository.store.key_table import LOG, SITE_DAYS, VISITORS_OF_DAY
from articles.repository.store.keys import Shards
from tests.cast import ALICE, BOB, CAROL, MALLORY, MODERATOR
from tests.clock import DAY
from tests.every_server import delete
from tests.factories import comment_on, link, post, view
from tests.repository.everything import use_all
from tests.repository.usage import let_pass, note_ballots, records_of, tune
from tests.rules import connect
from tests.searches import ids_found
from tests.store_state import REPOSITORY_DATABASE, client_of, problems
from tests.topologies import of_this_run

HERE, THERE = Place("unix:///here", 1), Place("unix:///there", 4)


def quiet(*_):
    """Ignore the progress."""


NEWCOMER = 14
"""A member whose probation ends during the move."""


def whole_move(here, there, progress=quiet):
    """Move the site; nothing is wrong with the copy."""
    move = here.move_to(there)
    assert move.copy(progress) == []
    move.switch(HERE, THERE, progress)


def tune_votes(store, votes_per_day):
    """Let moderators choose so many votes per day."""
    tune(store, Parameters(votes_per_day=votes_per_day))


ON_A_CLUSTER = 16
"""Shards of the one of two stores that is the cluster, where this run has one; the other is a single server."""

SHARDS = [(1, 4), (4, 1), (4, 3)]
if of_this_run.NAME == of_this_run.CLUSTER:
    SHARDS = [(4, ON_A_CLUSTER), (ON_A_CLUSTER, 4)]


def databases(shards):
    """Return the databases of two stores, given by their numbers of shards."""
    numbers = [REPOSITORY_DATABASE, of_this_run.OTHER_DATABASE]
    return numbers[::-1] if shards[1] == ON_A_CLUSTER else numbers


one_way = pytest.mark.parametrize("stores", SHARDS[:1], ids="{0[0]} to {0[1]} shards".format, indirect=True)
"""Run a test that does not depend on the numbers of shards with one pair of them."""


@pytest.fixture(params=SHARDS, ids="{0[0]} to {0[1]} shards".format)
def stores(request, store_paths, clock):
    """A prepared store, and an empty one with another number of shards."""
    urls = [store_paths.url(database) for database in databases(request.param)]
    for url in urls:
        client_of(url).flushdb()
    here, there = (connect(url, shards=count, clock=clock) for url, count in zip(urls, request.param, strict=True))
    here.prepare()
    yield here, there
    for url in urls:
        client_of(url).flushdb()


def change_everything(store, ids):
    """Change articles, lists, groups and the log in every way that readers and moderators have."""
    store.votes.cast(ids[0], ALICE, Choice.VOTE)
    store.votes.cast(ids[0], BOB, Choice.NONE)
    store.votes.cast(ids[1], ALICE, Choice.OPPOSE)
    list(store.left_out.count_again(CAROL, "carol", MODERATOR, "Honest"))
    list(store.left_out.leave_out(ALICE, "alice", MODERATOR, "A ring"))
    list(store.left_out.end_probation(NEWCOMER))
    store.left_out.begin_probation(MALLORY)
    store.articles.edit(ids[2], MODERATOR, "Hedgehogs", link(901), moderator=True)
    store.articles.remove(ids[3], MODERATOR, "Spam")
    store.articles.restore(ids[4], MODERATOR, "No spam")
    store.groups.create("late", "Late", MODERATOR)
    store.groups.assign(ids[5], ["late"], ["one"], actor=MODERATOR)
    store.groups.rename("two", "Second", MODERATOR)
    store.members.save(ALICE, ids[1], wanted=False)
    store.members.save(ALICE, ids[6], wanted=True)
    view(store, ids[6], 1, 2)
    first, *_, last = store.comments.list_by(BOB)
    comment_on(store, ids[0], "Late", ALICE, last.id)
    store.comments.cast(last.id, ALICE, Choice.VOTE)
    store.comments.remove(last.id, MODERATOR, "Spam")
    store.comments.delete(first.id, BOB)
    return [*ids, post(store, 950, ("late",), poster=CAROL)]


def in_use(store, ids):
    """Return what members and readers see."""
    articles = store.articles.get_many(ids, ALICE)
    lists = {order: [one.id for one in store.lists.get_page(order).articles] for order in Order}
    groups = {group.slug: (group.title, group.articles) for group in store.groups.list_all()}
    entries = store.moderation_log.get_page(1).entries  # all of one moment: their order is that of the shards
    log = sorted((entry.action, entry.article_id, entry.reason) for entry in entries)
    found = ids_found(store, "hedgehogs")
    saved = [number for number, _ in store.members.iterate_saved(ALICE)]
    votes = sorted(number for number, _ in store.members.iterate_choices(ALICE, Choice.VOTE))
    threads = [thread_of(store, article) for article in articles]
    return articles, lists, groups, log, found, saved, votes, threads


def thread_of(store, article):
    """Return the comments of an article that is not removed."""
    return article.removed is None and store.comments.get_thread(article.id, CommentOrder.BEST, reader=ALICE)


@pytest.fixture
def used(stores, clock):
    """The ids of articles in the first of the stores, one of them removed."""
    here, _ = stores
    for slug in ("one", "two"):
        here.groups.create(slug, slug, MODERATOR)
    ids = [post(here, number, ("one", "two"), poster=BOB) for number in range(12)]
    for number in range(4):
        top = comment_on(here, ids[number], "Top")
        here.comments.cast(comment_on(here, ids[number], "Reply", BOB, top), CAROL, Choice.VOTE)
    here.articles.remove(ids[4], MODERATOR, "Spam")
    here.members.save(ALICE, ids[1], wanted=True)
    here.votes.cast(ids[7], CAROL, Choice.VOTE)
    list(here.left_out.leave_out(CAROL, "carol", MODERATOR, "A ring"))
    here.left_out.begin_probation(NEWCOMER)
    list(here.left_out.go_on(NEWCOMER))
    return ids


def test_a_copy_has_everything_and_the_changes_made_meanwhile(stores, used, clock):
    here, there = stores
    move = here.move_to(there)

    assert move.copy(quiet) == []
    ids = change_everything(here, used)
    today = int(clock() // DAY)
    salt = here.pageviews.get_salt(today)
    move.switch(HERE, THERE, quiet)

    assert in_use(there, ids) == in_use(here, ids)
    assert there.pageviews.get_salt(today) == salt, "no visitor is counted twice today"
    assert problems(there) == []


@one_way
@pytest.mark.parametrize("is_last", [False, True], ids=["its name", "its number"])
def test_an_account_loses_during_a_move_what_it_loses_in_both_stores(stores, used, is_last):
    here, there = stores
    deletion, move = here.account_deletion, here.move_to(there)
    if is_last:
        deletion.advance(BOB, "user2", "", lambda: True)

    move.copy(quiet)
    deletion.advance(BOB, "user2", "", lambda: True, is_last=is_last)
    move.switch(HERE, THERE, quiet)

    posted = [*there.articles.get_many(used), *there.comments.get_thread(used[0], CommentOrder.BEST).comments]
    assert {(one.by_deleted_member, one.former) for one in posted} == {(True, None if is_last else BOB)}
    assert there.members.count_posted(BOB) == ((0, 0) if is_last else (12, 8))
    assert problems(there) == []


def test_every_kind_of_key_is_moved(stores, clock):
    here, there = stores
    marks.note_changes(here.store)
    use_all(here, clock)

    here.move_to(there).copy(quiet)
    here.move_to(there).switch(HERE, THERE, quiet)

    assert problems(there) == []
    assert there.groups.list_all() == here.groups.list_all()
    assert there.parameters.list_changes() == here.parameters.list_changes()
    assert there.site_id == here.site_id


def test_merges_move_and_can_be_undone(stores):
    here, there = stores
    stay, story = post(here, 1), post(here, 2, poster=BOB)
    here.votes.cast(story, CAROL, Choice.OPPOSE)
    list(here.merges.merge(story, stay, MODERATOR, "The same story"))

    whole_move(here, there)

    assert [(one.votes, one.opposes, one.merged) for one in there.articles.get_many([stay])] == [(2, 1, (story,))]
    list(there.merges.undo(story, MODERATOR, "Another one"))
    assert [(one.votes, one.opposes) for one in there.articles.get_many([stay, story])] == [(1, 0), (1, 1)]
    assert problems(there) == []


def test_ballot_records_move_with_those_that_are_noted_meanwhile(stores, clock):
    here, there = stores
    numbers = [post(here, number, poster=number) for number in range(1, 25)]
    let_pass(here, clock, 8 * DAY)

    def note(articles):
        for found in here.ballots.find_closed():
            records = records_of(here, found)
            here.ballots.note(found, {one: made for one, made in records.items() if one in articles})

    note(numbers[::3])
    move = here.move_to(there)
    assert move.copy(quiet) == []
    note(numbers[1::3])
    list(here.merges.merge(numbers[3], numbers[0], MODERATOR, "The same story"))
    list(here.merges.merge(numbers[7], numbers[2], MODERATOR, "The same story"))
    facts = here.ballots.get_counts(numbers)
    move.switch(HERE, THERE, quiet)

    assert there.ballots.get_counts(numbers) == facts
    assert {facts[number][0] for number in numbers[1::3]} == {1}
    assert sorted(note_ballots(there)) == sorted([numbers[0], *numbers[2::3]])
    assert problems(there) == []
    late = post(there, 100)
    let_pass(there, clock, 8 * DAY)
    assert note_ballots(there) == [late]

    there.move_to(here).undo(THERE, HERE, quiet)

    assert note_ballots(here) == []
    assert {version for version, *_counts in here.ballots.get_counts([*numbers, late]).values()} == {1}
    assert problems(here) == []


def test_members_who_vote_throughout_lose_no_vote(stores, used):
    here, there = stores
    current, confirmed, ended = [here], {}, threading.Event()

    def vote(member):
        choices = [Choice.VOTE, Choice.OPPOSE, Choice.NONE]
        while not ended.is_set():
            for n, number in enumerate(used[:4]):
                try:
                    current[0].votes.cast(number, member, choices[n % 3])
                    confirmed[number, member] = choices[n % 3]
                    choices.append(choices.pop(0))
                except StoreUnavailable:
                    if here.moves.get_state() is MoveState.MOVED:
                        current[0] = there
                except ArticlesError:
                    pass

    threads = [threading.Thread(target=vote, args=(member,)) for member in (101, 102)]
    for thread in threads:
        thread.start()
    try:
        move = here.move_to(there)
        move.copy(quiet)
        move.switch(HERE, THERE, quiet)
        confirmed_here = len(confirmed)
    finally:
        ended.set()
        for thread in threads:
            thread.join()

    assert confirmed_here
    for (number, member), choice in confirmed.items():
        assert there.articles.get(number, member).choice is choice
    assert problems(there) == []


@one_way
def test_the_former_store_refuses_changes_and_says_where_the_site_is(stores, used):
    here, there = stores
    move = here.move_to(there)
    move.copy(quiet)
    move.switch(HERE, THERE, quiet)

    with pytest.raises(StoreUnavailable, match="being moved"):
        here.votes.cast(used[0], ALICE, Choice.VOTE)
    assert here.moves.get_state() is MoveState.MOVED
    assert here.moves.get_new_place() == THERE
    assert there.moves.get_state() is MoveState.NOTING
    assert there.moves.get_former_place() == HERE
    assert here.lists.get_page(Order.TIME).articles, "readers read on"


@one_way
@pytest.mark.parametrize("wanted", [True, False])
def test_an_article_that_is_saved_too_late_to_be_carried_is_not_confirmed(stores, used, monkeypatch, wanted):
    here, there = stores
    if not wanted:
        here.members.save(ALICE, used[6], wanted=True)
    move = here.move_to(there)
    move.copy(quiet)
    finish, during = marks.finish, []

    def save_late():
        with pytest.raises(StoreUnavailable, match="being moved"):
            here.members.save(ALICE, used[6], wanted=wanted)
        during.append(True)

    monkeypatch.setattr(marks, "finish", lambda *places: (save_late(), finish(*places))[1])
    move.switch(HERE, THERE, quiet)
    save_late()

    assert len(during) == 2
    there.members.save(ALICE, used[6], wanted=wanted)
    assert (used[6] in [number for number, _ in there.members.iterate_saved(ALICE)]) is wanted


@one_way
def test_while_changes_are_refused_only_what_has_changed_outside_the_shards_is_written(stores, used, monkeypatch):
    here, there = stores
    for member in range(101, 111):
        here.members.save(member, used[1], wanted=True)
    move = here.move_to(there)
    move.copy(quiet)
    refuse, write, written = marks.refuse_changes, StoreRestore.write_some, []

    def change_and_refuse(*facts):
        here.members.save(105, used[2], wanted=True)
        here.members.save(106, used[1], wanted=False)
        written.clear()
        refuse(*facts)

    def note(restore, records):
        records = list(records)
        written.extend(entry.name for record in records for entry in record.entries)
        write(restore, records)

    monkeypatch.setattr(marks, "refuse_changes", change_and_refuse)
    monkeypatch.setattr(StoreRestore, "write_some", note)
    move.switch(HERE, THERE, quiet)

    assert {name for name in written if name.startswith(("saved:", "link:"))} == {"saved:105"}
    for member in range(101, 111):
        assert list(there.members.iterate_saved(member)) == list(here.members.iterate_saved(member))


def test_a_site_returns_with_all_changes_since(stores, used):
    here, there = stores
    move = here.move_to(there)
    move.copy(quiet)
    move.switch(HERE, THERE, quiet)
    ids = change_everything(there, used)

    there.move_to(here).undo(THERE, HERE, quiet)

    assert in_use(here, ids) == in_use(there, ids)
    assert problems(here) == []
    assert here.votes.cast(ids[0], BOB, Choice.OPPOSE)
    assert here.moves.get_state() is MoveState.NONE
    assert there.moves.get_new_place() == HERE


@one_way
def test_search_indexes_are_built_again_after_a_move_and_after_the_return(stores, used):
    here, there = stores
    copies = [here.changes.get_copy()]

    whole_move(here, there)
    copies.append(there.changes.get_copy())
    there.move_to(here).undo(THERE, HERE, quiet)
    copies.append(here.changes.get_copy())

    assert len(set(copies)) == 3


@one_way
def test_a_confirmed_move_leaves_no_marks_and_cannot_be_undone(stores, used):
    here, there = stores
    move = here.move_to(there)
    move.copy(quiet)
    move.switch(HERE, THERE, quiet)
    there.moves.confirm()

    assert there.moves.get_state() is MoveState.NONE
    with pytest.raises(MoveFailed, match="confirmed"):
        there.move_to(here).undo(THERE, HERE, quiet)
    assert there.votes.cast(used[0], ALICE, Choice.VOTE)


@one_way
def test_a_backup_of_a_moved_site_is_restored_without_a_former_store(stores, used):
    here, there = stores
    whole_move(here, there)
    reader = there.backups.read(pytest.fail)
    records = [*reader.iterate_lists(), *reader.iterate_articles(quiet), *reader.iterate_site()]
    here.store.client.flushdb()

    restore = here.backups.restore("a backup", there.backups.get_layout())
    restore.begin()
    restore.write(records, quiet)

    assert here.moves.get_former_place() is None


@one_way
def test_an_unconfirmed_move_has_to_be_confirmed_before_the_next(stores, used):
    here, there = stores
    move = here.move_to(there)
    move.copy(quiet)
    move.switch(HERE, THERE, quiet)

    with pytest.raises(MoveFailed, match="--confirm"):
        there.move_to(here).copy(quiet)


def test_an_interrupted_copy_restarts_and_a_complete_one_continues(stores, used, monkeypatch):
    here, there = stores

    def interrupted(step, _done, _total):
        if step == moving.REBUILDING:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        here.move_to(there).copy(interrupted)
    with pytest.raises(StoreUnfit, match="being moved to this store"):
        there.prepare()
    assert here.votes.cast(used[0], ALICE, Choice.VOTE)
    assert here.move_to(there).copy(quiet) == []

    change_everything(here, used)
    steps = []
    assert here.move_to(there).copy(lambda step, *_: steps.append(step)) == []
    assert moving.COPYING not in steps
    here.move_to(there).switch(HERE, THERE, quiet)
    assert there.articles.get(used[0], ALICE).choice is Choice.VOTE
    assert problems(there) == []


@one_way
def test_a_failed_switch_leaves_the_site_on_its_store(stores, used, monkeypatch):
    here, there = stores
    move = here.move_to(there)
    move.copy(quiet)
    there.store.client.zadd(there.store.shards.of(400).order(Order.TIME), {"400": 1})

    with pytest.raises(MoveFailed, match="not complete"):
        move.switch(HERE, THERE, quiet)

    assert here.moves.get_state() is MoveState.COPYING
    assert here.votes.cast(used[0], ALICE, Choice.VOTE)
    with pytest.raises(StoreUnfit, match="being moved to this store"):
        there.prepare()


def lose_vote(store, number):
    store.client.hincrby(store.shards.of(number).article(number), "votes", -1)


def lose_voter(store, number):
    store.client.srem(store.shards.of(number).voted(number), str(CAROL))


def replace_voter(store, number):
    lose_voter(store, number)
    store.client.sadd(store.shards.of(number).voted(number), "77")


def lose_commenter(store, number):
    voters = store.shards.of(number).comment_voted(root_of(number) + 2)
    assert store.client.srem(voters, str(CAROL))


@one_way
@pytest.mark.parametrize("lose", [lose_vote, lose_voter, replace_voter, lose_commenter])
def test_the_last_check_compares_votes_and_members_choices(stores, used, lose):
    here, there = stores
    number = used[7] if lose is not lose_commenter else used[0]
    move = here.move_to(there)
    move.copy(quiet)
    lose(there.store, number)

    with pytest.raises(MoveFailed, match=r"differs: (votes|choices of members)\."):
        move.switch(HERE, THERE, quiet)
    assert here.votes.cast(used[0], ALICE, Choice.VOTE)


@one_way
def test_a_copy_is_continued_only_by_the_move_that_noted_all_changes(stores, used, store_paths, clock):
    here, there = stores
    here.move_to(there).copy(quiet)
    url = store_paths.url(databases([one.store.shards.count for one in stores])[1])
    with_other_shards = connect(url, shards=there.store.shards.count + 1, clock=clock)

    def steps_to(target):
        steps = []
        assert here.move_to(target).copy(lambda step, *_: steps.append(step)) == []
        return set(steps)

    assert moving.COPYING in steps_to(with_other_shards)
    assert moving.COPYING not in steps_to(with_other_shards)
    marks.name_move(here.store)  # a move to a third store, which has carried changes that this copy lacks
    assert moving.COPYING in steps_to(with_other_shards)


@one_way
def test_a_move_that_was_cancelled_meanwhile_does_not_end(stores, used):
    here, there = stores
    move = here.move_to(there)
    move.copy(quiet)
    assert here.moves.cancel()
    here.votes.cast(used[0], ALICE, Choice.VOTE)

    with pytest.raises(MoveFailed):
        move.switch(HERE, THERE, quiet)
    assert here.moves.get_state() is MoveState.NONE
    assert here.articles.get(used[0], ALICE).choice is Choice.VOTE


@one_way
def test_a_move_that_died_undecided_can_be_cancelled(stores, used, monkeypatch):
    here, there = stores
    move = here.move_to(there)
    move.copy(quiet)
    with monkeypatch.context() as patched:
        patched.setattr(marks, "name_place", raise_lost)
        with pytest.raises(StoreUnavailable):
            move.switch(HERE, THERE, quiet)
    with pytest.raises(StoreUnavailable):
        here.votes.cast(used[0], ALICE, Choice.VOTE)

    assert here.moves.cancel()
    assert not here.moves.cancel()
    assert here.moves.get_state() is MoveState.NONE
    assert here.votes.cast(used[0], ALICE, Choice.VOTE)


def raise_lost(_store, field, _place):
    if field == marks.MOVED_TO:
        raise StoreUnavailable("the reply was lost")


@one_way
def test_a_switch_that_died_refuses_changes_only_for_a_while(stores, used):
    here, _ = stores
    marks.note_changes(here.store)
    marks.refuse_changes(here.store, 20)
    with pytest.raises(StoreUnavailable):
        here.votes.cast(used[0], ALICE, Choice.VOTE)

    for keys in here.store.shards.all:
        here.store.client.pexpire(keys.closed, 0)  # the time is over

    assert here.votes.cast(used[0], ALICE, Choice.VOTE)
    assert marks.count_changed(here.store) > 0, "changes are noted again"


@one_way
def test_a_late_switch_is_refused(stores, used, monkeypatch):
    here, there = stores
    monkeypatch.setattr(moving, "REFUSED_SECONDS", 5)
    monkeypatch.setattr(moving, "_LEAST_LEFT", 5)
    move = here.move_to(there)
    move.copy(quiet)

    with pytest.raises(MoveFailed, match="too long"):
        move.switch(HERE, THERE, quiet)
    assert here.votes.cast(used[0], ALICE, Choice.VOTE)
    assert here.moves.get_new_place() is None


@one_way
def test_a_store_that_holds_something_is_not_overwritten(stores, used):
    here, there = stores
    there.store.client.set("other", 1)

    with pytest.raises(StoreUnfit, match="holds 1 keys"):
        here.move_to(there).copy(quiet)
    assert there.store.client.get("other") == "1"


def begin_other_parameters(store, votes_per_day):
    """Begin a change of the parameters, which another process has to complete."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(type(store.parameters), "advance", lambda *_: False)
        version = store.parameters.get_state().version
        changed = Parameters(votes_per_day=votes_per_day)
        store.parameters.apply(changed, expected=version, actor=MODERATOR, reason="To see what happens")


@one_way
@pytest.mark.parametrize(
    ("step", "change"),
    [
        *((step, begin_other_parameters) for step in (moving.COPYING, moving.CHECKING, moving.FOLLOWING)),
        (moving.REBUILDING, tune_votes),
    ],
)
def test_parameters_that_are_changed_during_a_move_rank_in_the_other_store(stores, used, step, change):
    here, there = stores
    waiting = [lambda: change(here, 60)]

    def reach(current, *_):
        if current == step and waiting:
            waiting.pop()()

    whole_move(here, there, reach)

    assert not waiting
    assert there.parameters.get_state() == here.parameters.get_state()
    assert there.parameters.advance(60)
    assert there.parameters.get_current().votes_per_day == 60
    assert problems(there) == []


@one_way
def test_parameters_that_are_changed_after_a_move_rank_in_the_store_that_the_site_returns_to(stores, used):
    here, there = stores
    whole_move(here, there)
    tune_votes(there, 60)

    there.move_to(here).undo(THERE, HERE, quiet)

    assert here.parameters.get_current().votes_per_day == 60
    assert problems(here) == []


@one_way
def test_the_hot_list_of_a_copy_is_scored_for_its_moment(stores, used, clock):
    here, there = stores
    view(here, used[1], 1, 2)
    assert here.move_to(there).copy(quiet) == []
    clock.advance(DAY)
    here.hot.refresh()

    assert here.move_to(there).copy(quiet) == []


class Killed(BaseException):
    """The end of a process: nothing that it would do afterwards reaches a store."""


@contextmanager
def process(dies_at, others):
    """Run the block as a process that dies when it sends something for that time, perhaps in the middle of it.

    `others`: what others do at which of these times. Yields a list of what was refused to them.
    """
    sent, busy, refused, send = [0], [], [], _Guarded.send_packed_command

    def send_or_die(connection, command, check_health=True):
        if busy:
            return send(connection, command, check_health)
        sent[0] += 1
        if act := others.get(sent[0]):
            busy.append(act)
            try:
                act()
            except StoreUnavailable:
                refused.append(act)
            except (ArticlesError, AssertionError):
                pass
            busy.clear()
        if dies_at is not None and sent[0] >= dies_at:
            if sent[0] == dies_at and dies_at % 2:
                data = b"".join([command] if isinstance(command, bytes) else command)
                send(connection, [data[: len(data) // 2]], False)
                connection.disconnect()
            raise Killed
        return send(connection, command, check_health)

    with pytest.MonkeyPatch.context() as patched, suppress(Killed):
        patched.setattr(_Guarded, "send_packed_command", send_or_die)
        yield refused


def copied(repository):
    """Return what a backup copies of a store, as one shard would hold it, but for sketches and moments."""
    reader, found = repository.backups.read(pytest.fail), {}
    placing = Placing(repository.store.shards.count, Shards(1))
    records = chain(reader.iterate_lists(), reader.iterate_articles(quiet), reader.iterate_site())
    for one in chain(chain.from_iterable(map(placing.place, records)), placing.place_rest()):
        known = found.get(one.key)
        if one.kind is SITE_DAYS:
            found[one.key] = Counter(known) + Counter({name: int(count) for name, count in one.data.items()})
        elif one.kind is LOG:
            found[one.key] = sorted((known or []) + one.data)
        elif one.kind is not VISITORS_OF_DAY:
            found[one.key] = (known or {}) | one.data if isinstance(one.data, dict) else one.data
    for name, fields in found.items():
        if name.startswith(("article:", "ranking:", "schema:")) and isinstance(fields, dict):
            for derived in ("log", "refreshed_at", "shards", "data"):
                fields.pop(derived, None)
    return found


def changes_of(store, ids, chance):
    """Return what readers and moderators do at some moments, by the number of the moment."""
    choice, one = chance.choice, chance.choice(ids)
    return {
        chance.randrange(1, 250): act
        for act in (
            lambda: store.votes.cast(one, choice([ALICE, BOB, CAROL]), choice(list(Choice))),
            lambda: store.articles.edit(one, MODERATOR, f"Title {one}", link(one + 5000), moderator=True),
            lambda: store.articles.remove(one, MODERATOR, "Spam"),
            lambda: store.articles.restore(one, MODERATOR, "No spam"),
            lambda: store.groups.assign(one, ["two"], ["one"], actor=MODERATOR),
            lambda: store.groups.merge("one", "two", MODERATOR),
            lambda: comment_on(store, one, "Late"),
            lambda: view(store, one, chance.randrange(1000)),
            lambda: post(store, chance.randrange(10**6), ("one",)),
            lambda: list(store.left_out.leave_out(BOB, "bob", MODERATOR, "A ring")),
            lambda: tune_votes(store, chance.randrange(20, 500)),
            lambda: begin_other_parameters(store, chance.randrange(20, 500)),
            store.hot.rescore,
        )
        if chance.random() < 0.5
    }


@pytest.mark.parametrize("seed", range(int(os.environ.get("MOVES_KILLED", "1"))))
def test_a_move_that_is_killed_anywhere_and_run_again_carries_every_change(stores, used, seed, clock, store_paths):
    """Also on the way back. MOVES_KILLED=200 tries as many sequences of deaths and changes."""
    here, there = stores
    chance = random.Random(seed)
    urls = {
        one: store_paths.url(number)
        for one, number in zip(stores, databases([one.store.shards.count for one in stores]), strict=True)
    }

    def again(store):
        return connect(urls[store], shards=store.store.shards.count, clock=clock)

    def return_home(source, target):
        source.move_to(target).undo(THERE, HERE, quiet)

    for source, target, run in ((here, there, whole_move), (there, here, return_home)):
        for dies_at in [*(int(chance.random() ** 2 * 300) + 1 for _ in range(5)), None]:
            with process(dies_at, changes_of(source, used, chance)) as refused:
                run(again(source), again(target))
            if source.moves.get_new_place():
                break
            if target.moves.get_new_place() is None:  # else a site that is started there is led here
                with pytest.raises(StoreUnfit):
                    again(target).prepare(source.site_id)
            clock.advance(chance.choice([1, 70]))
            if chance.random() < 0.5:  # later, when changes are no longer refused
                delete(source.store.client, *(keys.closed for keys in source.store.shards.all))

        target.moves.complete(source.moves)  # as a process that follows
        target.prepare(source.site_id)
        here_is, there_is = copied(source), copied(target)
        if refused:  # a post that is refused has taken a number, which is not carried, and its link
            here_is = {name: value for name, value in here_is.items() if name in there_is or "link:" not in name}
            here_is["article:"] = there_is["article:"]
        assert there_is == here_is
        assert target.parameters.get_state() == source.parameters.get_state()
        assert problems(target) == []
