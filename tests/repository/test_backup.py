"""A backup of the store: what is read while members vote, and what a restore makes of it, whatever the shards."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from articles.domain.articles import Article, Choice
from articles.domain.comments import CommentOrder, root_of
from articles.domain.errors import StoreUnfit
from articles.domain.moderation_log import LogEntry
from articles.repository import BackupReader, BackupRecord, Layout, Repository, StoreRestore
from articles.repository.backup.reading import read_layout
from articles.repository.store import keys as names
from articles.repository.store.connection import Store
from articles.repository.store.keys import TABLE, InBackup
from tests.cast import ALICE, BOB, MODERATOR
from tests.clock import DAY, Clock
from tests.factories import comment_on, post, view
from tests.repository.everything import use_all
from tests.repository.usage import let_pass, note_ballots, records_of, tune, use
from tests.rules import connect, default_rules
from tests.store_state import contents, key_names, kind_of, lose_html, problems, voters
from tests.topologies import of_this_run
from voting_site.embedded import StorePaths

pytestmark = pytest.mark.one_shard

COPIED = {key.name for key in TABLE if key.in_backup is InBackup.COPIED}
SITE_WIDE = {"days:", "hll:day:<day>", "ranking:", "schema:", "log:", "hot:score"}
"""Keys with which a store with other shards says the same in other places; the hot list is cut in each shard."""


@pytest.fixture
def empty_url(store_paths: StorePaths) -> Iterator[str]:
    """The URL of a second empty database."""
    url = store_paths.url(of_this_run.OTHER_DATABASE)
    connect(url).store.client.flushdb()
    yield url
    connect(url).store.client.flushdb()


def lines(store: Store, unreadable: list[str] | None = None) -> tuple[Layout, list[list[object]]]:
    """Return a whole backup, as it is in a file."""
    reader = BackupReader(store, (unreadable if unreadable is not None else []).append)
    records = [*reader.iterate_lists(), *reader.iterate_articles(lambda *_: None), *reader.iterate_site()]
    return read_layout(store), [json.loads(json.dumps(record.as_json())) for record in records]


def restored(url: str, layout: Layout, written: list[list[object]], *, shards: int, clock: Clock) -> Repository:
    """Return the repository of a store into which a backup was restored."""
    repository = connect(url, shards=shards, clock=clock, rules=default_rules(hot_size=3))
    restore = StoreRestore(repository.store, "backup", layout)
    restore.begin()
    restore.write(map(BackupRecord.from_json, written), lambda _: None)
    repository.upgrade()
    repository.repair.rebuild()
    restore.finish()
    return repository


def by_kind(repository: Repository) -> dict[str, dict[str, object]]:
    """Return all shards together, by kind of key and name, without what a backup omits."""
    omitted = {key.name for key in TABLE if key.in_backup is InBackup.OMITTED} | SITE_WIDE
    found: dict[str, dict[str, object]] = {}
    value: Any
    for name, value in contents(repository).items():
        if (kind := kind_of(name)) not in omitted:
            plain = name.rpartition("}:")[2]
            if kind == "article:<id>":
                value.pop("log", None)  # numbers of entries of the shard's log
            found.setdefault(kind, {})[plain] = together(found.get(kind, {}).get(plain), value)
    return found


def together(one: Any, other: Any) -> object:
    """Return the union of what two shards hold under one name."""
    if isinstance(other, list) and other and isinstance(other[0], tuple):
        return sorted({*(one or []), *other})
    return (one or set()) | other if isinstance(other, set) else other


def articles_of(repository: Repository) -> list[Article]:
    ids = range(1, int(repository.store.client.get("article:")) + 1)
    return repository.articles.get_many(ids, reader=77)


def logged(repository: Repository, article_id: int = 0) -> list[LogEntry]:
    log = repository.moderation_log
    if article_id:
        return list(log.get_for_article(article_id).entries)
    pages = [log.get_page()]
    while pages[-1].has_next:
        pages.append(log.get_page(pages[-1].number + 1))
    return [entry for page in pages for entry in page.entries]


@pytest.mark.deep
@pytest.mark.parametrize("shards", [3, 4])
def test_a_store_with_everything_is_restored_into_any_number_of_shards(server_url, empty_url, clock, shards):
    rules = default_rules(hot_size=3)
    source = connect(server_url, shards=4, clock=clock, rules=rules)
    source.prepare()
    use_all(source, clock)
    source.repair.run()
    assert problems(source) == []

    layout, written = lines(source.store)
    copy = restored(empty_url, layout, written, shards=shards, clock=clock)

    assert problems(copy) == []
    assert articles_of(copy) == articles_of(source) != []
    assert sorted(logged(copy), key=repr) == sorted(logged(source), key=repr)
    assert shards != 4 or logged(copy) == logged(source) != []
    assert [logged(copy, number) for number in range(1, 9)] == [logged(source, number) for number in range(1, 9)]
    assert copy.pageviews.list_days() == source.pageviews.list_days()
    assert copy.parameters.list_changes() == source.parameters.list_changes()
    lose_html(source)  # it is made again of the texts
    assert by_kind(copy) == by_kind(source)
    if shards == 4:
        before, after = contents(source), contents(copy)
        kept = {name for name in before.keys() | after.keys() if kind_of(name) in COPIED}
        kept -= {keys.ranking for keys in source.store.shards.all} | {"days:", "schema:"}
        assert {name: after.get(name) for name in kept} == {name: before.get(name) for name in kept}


@pytest.mark.parametrize("shards", [1, 3])
def test_merges_are_restored_and_undone_and_an_interrupted_one_is_finished(repository, empty_url, clock, shards):
    stay, story, late = (post(repository, number, poster=number) for number in (1, 2, 3))
    repository.votes.cast(story, 9, Choice.OPPOSE)
    list(repository.merges.merge(story, stay, MODERATOR, "The same story"))
    interrupted = repository.merges.merge(late, stay, MODERATOR, "The same story")
    next(interrupted)
    interrupted.close()
    layout, written = lines(repository.store)

    copy = restored(empty_url, layout, written, shards=shards, clock=clock)

    assert problems(copy) == []
    assert [(one.votes, one.opposes, one.merged) for one in copy.articles.get_many([stay])] == [
        (3, 1, (story, late))
    ]
    list(copy.merges.undo(story, MODERATOR, "Another one"))
    assert [(one.votes, one.opposes) for one in copy.articles.get_many([stay, story])] == [(2, 0), (1, 1)]
    assert problems(copy) == []


@pytest.mark.parametrize("shards", [1, 3])
def test_what_has_a_ballot_record_is_restored_and_only_the_rest_is_found(repository, empty_url, clock, shards):
    noted = [post(repository, number, poster=number) for number in range(1, 13)]
    let_pass(repository, clock, 8 * DAY)
    assert sorted(note_ballots(repository)) == noted
    list(repository.merges.merge(noted[5], noted[4], MODERATOR, "The same story"))
    waiting = [post(repository, number) for number in range(20, 32)]
    let_pass(repository, clock, 8 * DAY)
    for found in repository.ballots.find_closed():
        made = records_of(repository, found)
        repository.ballots.note(found, {one: made[one] for one in made.keys() & waiting[::2]})
    let_pass(repository, clock, 12 * DAY)
    facts, rest = repository.ballots.get_counts([*noted, *waiting]), [noted[4], *waiting[1::2]]

    copy = restored(empty_url, *lines(repository.store), shards=shards, clock=clock)
    copy.store.rules = replace(copy.store.rules, records_ballots=True)

    assert copy.ballots.get_counts([*facts]) == facts
    assert [number for number, (version, *_counts) in facts.items() if not version] == rest
    copy.clock.drop_voters(60)
    assert all(any(voters(copy, number)) for number in rest)
    assert sorted(note_ballots(copy)) == rest
    copy.clock.drop_voters(60)
    assert not any(any(voters(copy, number)) for number in facts)
    assert problems(copy) == []


@pytest.mark.parametrize("shards", [3])
def test_what_closed_in_shards_without_records_is_found_after_a_restore(repository, empty_url, clock, shards):
    numbers = [post(repository, number) for number in range(32)]
    let_pass(repository, clock, 8 * DAY)
    first = next(repository.ballots.find_closed())
    repository.ballots.note(first, records_of(repository, first))
    next(repository.ballots.find_closed())

    copy = restored(empty_url, *lines(repository.store), shards=shards, clock=clock)

    assert sorted(note_ballots(copy)) == sorted(set(numbers) - set(first.ids))


def test_no_site_starts_before_a_restore_is_complete(repository, empty_url, clock):
    post(repository, 1)
    layout, written = lines(repository.store)
    copy = connect(empty_url, clock=clock)
    restore = StoreRestore(copy.store, "backup", layout)
    restore.begin()
    restore.write(map(BackupRecord.from_json, written[: len(written) // 2]), lambda _: None)

    with pytest.raises(StoreUnfit, match=r"run `manage\.py restore` again"):
        copy.prepare()

    assert restore.is_interrupted()
    assert restored(empty_url, layout, written, shards=1, clock=clock).articles.get(1).title
    assert not restore.is_interrupted()


def test_html_is_neither_in_a_backup_nor_taken_from_one(repository, empty_url, clock):
    article = repository.articles.post(ALICE, "alice", "Text", "", text="A *text*").id
    comment_on(repository, article, "A *comment*")
    layout, written = lines(repository.store)
    hashes = [
        data for *_, entries in written for name, data, _ in entries if name.startswith(("article:", "comment:"))
    ]
    texts = [data for data in hashes if "text" in data]
    assert len(texts) == 2
    assert not any("html" in data for data in texts)

    for data in texts:  # who makes a backup knows the secret in it, and so the seal of any HTML
        data["html"] = repository.store.kept_html.sealed(data["text"], "<script>alert(1)</script>")
    copy = restored(empty_url, layout, written, shards=4, clock=clock)

    assert copy.articles.get(article, with_html=True).html == "<p>A <em>text</em></p>\n"
    (comment,) = copy.comments.get_thread(article, CommentOrder.BEST).comments
    assert comment.html == "<p>A <em>comment</em></p>\n"


@pytest.mark.parametrize("mark", [None, "another backup"])
def test_a_store_that_is_not_empty_is_not_overwritten(server_url, empty_url, mark):
    copy = connect(empty_url)
    copy.prepare()
    post(copy, 1)
    if mark:
        copy.store.client.hset("schema:", "restoring", mark)
    before = contents(copy)

    with pytest.raises(match=r"holds [0-9]+ keys"):
        StoreRestore(copy.store, "backup", Layout(1, 1, "")).begin()
    assert contents(copy) == before


def test_what_members_do_during_a_backup_leaves_a_sound_copy(repository, empty_url, clock):
    """Between any two parts of a backup: votes, posts, a removal, a new group, an account deletion."""
    use(repository, clock)
    first = post(repository, 900, ("python",))
    removed = post(repository, 901, ("python",), poster=BOB)
    reader = BackupReader(repository.store, [].append)
    records = []
    for record in [*reader.iterate_lists()]:
        records.append(record)
    repository.votes.cast(first, 41, Choice.VOTE)
    later = post(repository, 902, ("python",))
    articles = reader.iterate_articles(lambda *_: None)
    records.append(next(articles))
    repository.votes.cast(first, 42, Choice.OPPOSE)
    records += articles
    comment_on(repository, later, "Late", ALICE)
    repository.comments.remove(comment_on(repository, 7, "Later", ALICE, root_of(7) + 2), MODERATOR, "Spam")
    repository.comments.remove(root_of(7) + 4, MODERATOR, "Spam")
    repository.articles.remove(removed, MODERATOR, "Spam")
    repository.groups.create("late", "Late", MODERATOR)
    repository.groups.assign(first, ["late"], actor=MODERATOR)
    repository.account_deletion.advance(BOB, "bob", "", lambda: True)
    repository.votes.cast(first, 43, Choice.VOTE)
    records += reader.iterate_site()
    written = [json.loads(json.dumps(record.as_json())) for record in records]

    copy = restored(empty_url, read_layout(repository.store), written, shards=2, clock=clock)

    assert problems(copy) == []
    assert copy.articles.get(removed).removed == "Spam"
    assert copy.articles.get(removed).poster_name == ""
    assert copy.articles.get(first).groups == repository.articles.get(first).groups
    assert copy.articles.get(later, reader=ALICE).choice is Choice.VOTE
    thread = copy.comments.get_thread(7, CommentOrder.OLDEST).comments
    facts = [(comment.author, comment.removed, comment.is_deleted) for comment in thread]
    assert facts == [(ALICE, None, False), (BOB, None, False), (-1, None, True), (ALICE, "Spam", False)]
    assert copy.articles.get(7).comments == 2
    assert copy.articles.get(first, reader=41).choice is Choice.VOTE


def test_damaged_keys_are_named_and_left_out(repository, empty_url, clock):
    use(repository, clock)
    client, keys = repository.store.client, repository.store.shards.of(1)
    damaged = (keys.votes_of(ALICE), keys.suspects(1), keys.visitors(1), names.link("0" * 32))
    for name in damaged:
        client.unlink(name)
        client.lpush(name, "x") if name != keys.visitors(1) else client.sadd(name, "x")
    client.set("alien", "1")
    unreadable: list[str] = []

    layout, written = lines(repository.store, unreadable)

    assert sorted(unreadable) == sorted(damaged)
    copy = restored(empty_url, layout, written, shards=1, clock=clock)
    assert problems(copy) == []
    assert "alien" not in key_names(copy)


def test_parameters_that_are_being_applied_are_not_copied(small_batches, repository, empty_url, clock):
    for number in range(8):
        post(repository, number)
    state = repository.parameters.get_state()
    changed = replace(state.parameters, votes_per_day=10)
    repository.parameters.apply(changed, expected=state.version, actor=MODERATOR, reason="To see")
    assert repository.parameters.get_state().applying

    copy = restored(empty_url, *lines(repository.store), shards=2, clock=clock)

    assert copy.parameters.get_state() == state
    assert problems(copy) == []
    tune(copy, changed)
    assert problems(copy) == []


def test_what_expires_keeps_the_rest_of_its_life(repository, empty_url, clock):
    article_id = post(repository, 1)
    view(repository, article_id, 1)
    source, name = repository.store.client, repository.store.shards.of(article_id).days(article_id)
    source.expire(name, int(10 * DAY))
    written = lines(repository.store)
    clock.advance(4 * DAY)

    copy = restored(empty_url, *written, shards=1, clock=clock)

    life = copy.store.client.ttl(copy.store.shards.all[0].days(article_id))
    assert 6 * DAY - 60 < life <= 6 * DAY
    clock.advance(7 * DAY)
    connect(empty_url).store.client.flushdb()
    gone = restored(empty_url, *written, shards=1, clock=clock)
    assert not gone.store.client.exists(gone.store.shards.all[0].days(article_id))
