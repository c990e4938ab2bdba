"""Moving a site to another store while it is in use."""

import threading

import pytest

from articles.domain.articles import Choice
from articles.domain.discussion.comments import CommentOrder
from articles.domain.errors import ArticlesError, StoreUnavailable, StoreUnfit
from articles.domain.lists import Order
from articles.domain.ranking import Parameters
from articles.repository import MoveFailed, MoveState, Place
from articles.repository.backup.restoring import StoreRestore
from articles.repository.moving import marks
from articles.repository.moving import move as moving
from articles.searching import read_query
from tests.cast import ALICE, BOB, CAROL, MODERATOR
from tests.clock import DAY
from tests.factories import comment_on, link, post, view
from tests.repository.everything import use_all
from tests.rules import connect
from tests.store_state import REPOSITORY_DATABASE, client_of, problems
from tests.topologies import of_this_run

HERE, THERE = Place("unix:///here", 1), Place("unix:///there", 4)


def quiet(_step, _done, _total):
    """Ignore the progress."""


ON_A_CLUSTER = 16
"""Shards of the one of two stores that is the cluster, where this run has one; the other is a single server."""

SHARDS = [(1, 4), (4, 1), (4, 3)]
if of_this_run.NAME == of_this_run.CLUSTER:
    SHARDS = [(4, ON_A_CLUSTER), (ON_A_CLUSTER, 4)]


@pytest.fixture(params=SHARDS, ids="{0[0]} to {0[1]} shards".format)
def stores(request, store_paths, clock):
    """A prepared store, and an empty one with another number of shards."""
    databases = [REPOSITORY_DATABASE, of_this_run.OTHER_DATABASE]
    if request.param[1] == ON_A_CLUSTER:
        databases.reverse()
    urls = [store_paths.url(database) for database in databases]
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
    found = [one.id for one in store.search.get_page(read_query("hedgehogs")).articles]
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
    with pytest.raises(StoreUnfit, match="being restored"):
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


def test_a_failed_switch_leaves_the_site_on_its_store(stores, used, monkeypatch):
    here, there = stores
    move = here.move_to(there)
    move.copy(quiet)
    there.store.client.zadd(there.store.shards.of(400).order(Order.TIME), {"400": 1})

    with pytest.raises(MoveFailed, match="not complete"):
        move.switch(HERE, THERE, quiet)

    assert here.moves.get_state() is MoveState.COPYING
    assert here.votes.cast(used[0], ALICE, Choice.VOTE)
    with pytest.raises(StoreUnfit, match="being restored"):
        there.prepare()


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


def test_a_cancelled_move_leaves_no_marks(stores, used):
    here, there = stores
    here.move_to(there).copy(quiet)

    assert here.moves.cancel()
    assert not here.moves.cancel()
    assert here.moves.get_state() is MoveState.NONE


def test_a_store_that_holds_something_is_not_overwritten(stores, used):
    here, there = stores
    there.store.client.set("other", 1)

    with pytest.raises(StoreUnfit, match="holds 1 keys"):
        here.move_to(there).copy(quiet)
    assert there.store.client.get("other") == "1"


def test_no_move_begins_while_parameters_are_applied(stores, used):
    here, there = stores
    state = here.parameters.get_state()
    begun = Parameters(votes_per_day=state.parameters.votes_per_day + 7)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(type(here.parameters), "advance", lambda *_: False)
        here.parameters.apply(begun, expected=state.version, actor=MODERATOR, reason="")

    with pytest.raises(MoveFailed, match="parameters"):
        here.move_to(there).copy(quiet)
