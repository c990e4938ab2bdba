"""The keys that scripts touch: those in their headers, in their code, and on a store in use.

A header lists what a script may touch: the keys that it is given, and those that its code names, with the library
functions that it calls. A run that uses everything, on a real store, touches all of them and no others.
"""

import re

import pytest

from articles.domain.articles import Choice
from articles.domain.comments import root_of
from articles.domain.lists import TOP_PERIODS, Order
from articles.domain.ranking import Parameters
from articles.domain.readership import Suspicion
from articles.repository import Repository
from articles.repository.ranking import parameters
from articles.repository.store import scripts
from articles.repository.store.keys import TABLE, recognise
from articles.repository.store.schema import LAYOUT_VERSION
from articles.repository.upkeep.long_articles import check_long
from articles.text.searching import Hiding
from tests import extras
from tests.cases import for_each
from tests.cast import ALICE, BOB, CAROL, MALLORY, MODERATOR
from tests.clock import DAY, Clock
from tests.factories import comment_on, imported, link, post, view, visit, vote_from
from tests.lua_files import spelled
from tests.repository.everything import use_all
from tests.repository.usage import Touched, finish_tuning, keys_of_scripts, note_ballots, warm
from tests.rules import connect, default_rules
from tests.store_state import REPOSITORY_DATABASE, problems
from voting_site.embedded import StorePaths

pytestmark = [pytest.mark.source, pytest.mark.needs("few shards")]


def is_audit_of_shared_file(name: str) -> bool:
    """Return whether a script is an audit whose file also names keys that only the repair touches."""
    return name.startswith("audit/") and scripts.file_of(name) != name


def documented(name: str) -> str:
    """Return the documented key that a key is an example of."""
    plain = re.sub(r"^\{s\d+\}:", "", name)
    (kind,) = recognise([plain])
    assert kind, plain
    return kind.name


def documented_beginning(beginning: str) -> str:
    """Return the documented key that is spelled like this; `<` marks each variable."""
    (key,) = (key.name for key in TABLE if re.sub("<[a-z]+>", "<", key.name) == beginning)
    return key


@pytest.fixture(scope="module")
def touched(store_paths: StorePaths) -> Touched:
    """The documented keys that scripts receive, read and write while every feature is used."""
    clock = Clock()
    url, rules = store_paths.url(REPOSITORY_DATABASE), default_rules(hot_size=3)
    repository = connect(url, shards=2, rules=rules, clock=clock)
    repository.store.client.flushdb()
    with keys_of_scripts(repository) as heard, pytest.MonkeyPatch.context() as monkeypatch:
        repository.prepare()
        use_all(repository, clock)
        monkeypatch.setattr(parameters, "ARTICLES_PER_STEP", 1)
        ids = use_while_another_weight_is_applied(repository, clock)
        upgrade(repository, ids)
        mend(repository, clock, ids)
        assert problems(repository) == []
        repository.store.client.flushdb()
        read_pages_of_one_shard(connect(repository.store.client, shards=1, rules=rules, clock=clock))
    repository.store.client.flushdb()
    for keys in (heard.given, heard.read, heard.written):
        for script, names in keys.items():
            # Each script that changes anything begins by looking up a key that no shard has: its prefix.
            given = [name for name in names if not re.search(r"^\{[^}]*\}:$", name)]
            keys[script] = set(map(documented, given))
    return heard


def read_pages_of_one_shard(repository: Repository) -> None:
    """Read pages of a store with one shard, with and without the rankings that they make."""
    repository.prepare()
    for slug in ("one", "two"):
        repository.groups.create(slug, slug, MODERATOR)
    for number in range(3):
        view(repository, post(repository, number, ("one", "two")), 1)
    keys = repository.store.shards.directory
    for order in Order:
        for slug in (None, "one"):
            for hidden in (Hiding(), Hiding(), Hiding(("three",), articles=(99,))):
                repository.lists.get_page(order, slug=slug, reader=ALICE, hidden=hidden)
    for period in TOP_PERIODS.values():
        repository.store.client.delete(keys.top(period))
        repository.lists.get_page(Order.POINTS, period=period)


GROUPS = ("two", "new")


def use_while_another_weight_is_applied(repository: Repository, clock: Clock) -> list[int]:
    """Use articles while rankings by both weights and all on-demand rankings exist; return their ids."""
    client, keys = repository.store.client, repository.store.shards.all
    clock.advance(DAY)
    version = repository.parameters.get_state().version
    ids = [post(repository, number, GROUPS, poster=MALLORY) for number in range(30_000, 30_006)]
    repository.parameters.apply(Parameters(votes_per_day=33), expected=version, actor=MODERATOR, reason="To see")
    assert repository.parameters.get_state().applying
    warm(repository, *GROUPS)
    repository.votes.cast(ids[0], 78, Choice.OPPOSE)
    for choice in (Choice.OPPOSE, Choice.VOTE):
        repository.comments.cast(comment_on(repository, ids[0], choice.value, ALICE), 78, choice)
    for member in (MALLORY, 78):
        act = repository.left_out.leave_out(member, "mallory", MODERATOR, "A ring")
        next(act, 0)
        assert problems(repository) == [], "an act that is not complete breaks no invariant"
        list(act)
    ids += [post(repository, number, GROUPS, poster=MALLORY) for number in range(30_006, 30_009)]
    for number in range(2):
        merge_and_undo(repository, number)
    for article in ids:
        view(repository, article, 1, 2)
        repository.pageviews.record(article, visit(3, network=4))
        repository.pageviews.record(article, visit(3, suspicion=Suspicion.BOT))
        for choice in (Choice.VOTE, Choice.OPPOSE, Choice.NONE):
            repository.votes.cast(article, 78, choice)
        repository.votes.cast(article, 79, Choice.OPPOSE)
        repository.articles.remove(article, MODERATOR, "Spam")
        repository.articles.restore(article, MODERATOR, "Not spam")
        repository.groups.assign(article, ["new"], ["two"], actor=MODERATOR)
        repository.groups.assign(article, ["two"], actor=MODERATOR)
        repository.articles.edit(article, MODERATOR, "New", link(article), leave=["new"], moderator=True)
        repository.articles.edit(article, MODERATOR, "New", link(article), join=["new"], moderator=True)
        for use in extras.all_of("use_store"):
            use(repository, article, ["two"], ["new", "two"])
    for order in Order:
        for slug in GROUPS:
            for one in keys:
                client.delete(one.group_order(order, slug))
            repository.lists.get_page(order, slugs=(slug,), hidden=Hiding(("three",)), shown=(ids[0],))
    for period in TOP_PERIODS.values():
        for one in keys:
            client.delete(one.top(period))
        repository.lists.get_page(Order.POINTS, period=period, hidden=Hiding(("three",)), shown=(ids[0],))
    with repository.imports.lock():
        repository.imports.add([imported(900 + n, clock() - 5, groups=GROUPS, poster=MALLORY) for n in range(4)])
    assert problems(repository) == []
    assert repository.account_deletion.advance(CAROL, "carol", "", lambda: True) == ""
    finish_tuning(repository)
    clock.advance(120)
    repository.hot.rescore()
    return ids


def merge_and_undo(repository: Repository, number: int) -> tuple[int, int]:
    """Merge an article into another one, undo it, and merge it again; return the ids of both."""
    into, other = (post(repository, 31_000 + 10 * number + n, GROUPS, poster=85 + n) for n in range(2))
    for member, choice in ((78, Choice.VOTE), (88, Choice.OPPOSE), (89, Choice.OPPOSE)):
        repository.votes.cast(other, member, choice)
    vote_from(repository, other, 1, repository.rules.ring_accounts)
    view(repository, other, 1)
    warm(repository, *GROUPS)
    list(repository.merges.merge(other, into, MODERATOR, "The same story"))
    list(repository.merges.undo(other, MODERATOR, "Another one"))
    list(repository.merges.merge(other, into, MODERATOR, "The same story"))
    repository.votes.cast(into, 89, Choice.NONE)
    return into, other


def mend_merges(repository: Repository, clock: Clock) -> None:
    """Damage what votes came with merged articles, repair it, and drop the voters."""
    client, store = repository.store.client, repository.store
    for number in range(100, 102):
        into, other = merge_and_undo(repository, number)
        one = store.shards.of(into)
        for verb in ("audit", "repair"):
            client.zadd(one.brought(into), {"99": other, "98": -other})
            check_long(store, one, into, verb)
        client.zadd(one.brought(into), {"99": other})
        client.zadd(one.merging, {str(into): 1})
    assert problems(repository)
    repository.repair.run()
    late, later = post(repository, 102), post(repository, 103)
    repository.votes.cast(later, 89, Choice.VOTE)
    clock.advance(30 * DAY)
    note_ballots(repository)
    list(repository.merges.merge(later, late, MODERATOR, "The same story"))
    note_ballots(repository)
    repository.clock.drop_voters(60)
    list(repository.merges.undo(later, MODERATOR, "Another one"))
    list(repository.merges.undo(other, MODERATOR, "Another one"))
    repository.repair.run()


def upgrade(repository: Repository, ids: list[int]) -> None:
    """Delete what a repair makes again and what an older version of the site did not have, and start again."""
    client, keys = repository.store.client, repository.store.shards.all
    for article in ids:
        client.hdel(repository.store.shards.of(article).article(article), "closes")
    for one in keys:
        client.delete(one.order(Order.POINTS), one.order(Order.ACTIVE), one.posted(MALLORY))
    for article in ids:
        one = repository.store.shards.of(article)
        check_long(repository.store, one, article)
        check_long(repository.store, one, article, "repair")
    problems(repository)
    repository.repair.run()
    warm(repository, *GROUPS)
    for comment in (1, 2):
        one = root_of(ids[0]) + comment
        client.hdel(repository.store.shards.of(ids[0]).comment(one), "left_out")
    client.hset("schema:", "version", LAYOUT_VERSION - 1)
    repository.store.run("schema/raise_version", ["schema:"], [LAYOUT_VERSION])


def mend(repository: Repository, clock: Clock, ids: list[int]) -> None:
    """Damage everything that can be repaired, then repair it."""
    client = repository.store.client
    for article in ids:
        one = repository.store.shards.of(article)
        client.delete(one.votes_of(78), one.opposes_of(79), one.opposes_of(78))
        client.zadd(one.votes_of(81), {str(article): 1, "777777": 1})
        client.zadd(one.opposes_of(81), {str(article): 1})
        client.sadd(one.group("one"), str(article))
        client.hset(one.article(article), mapping={"log": "1,2"})
        client.delete(one.votes_of(MALLORY), one.votes_of(79), one.opposes_of(79))
        client.zadd(one.inbox(78), {"reply:777777000001": 1})
        check_long(repository.store, one, article)
        check_long(repository.store, one, article, "repair")
        client.hset(one.article(article), mapping={"log": "1,2", "title": f"Zyx{article}", "comments": "9"})
        client.hset(one.ranking, "longest_window", "1.000")
    client.hset(repository.store.shards.directory.descriptions, "lost", "Nothing.")
    warm(repository, *GROUPS)
    for one in repository.store.shards.all:
        repository.store.run("repair/group", [one.group(GROUPS[0])], [one.prefix, GROUPS[0], *ids])
    damage_comments(repository)
    client.hset(repository.store.shards.of(ids[0]).comment(root_of(ids[0]) + 1), "left_out", "9 9")
    assert problems(repository)
    repository.repair.run()
    damaged = repository.store.shards.of(ids[0]).article(ids[0])
    client.hdel(damaged, "closes")
    client.hset(damaged, "votes", "x")
    repository.repair.run()
    client.hset(damaged, "votes", "1")
    last = int(client.get("article:"))
    for n in range(1, 60):  # left by articles that are lost
        client.set(repository.store.shards.of(last + n).views(last + n), 10**n)
        client.pfadd(repository.store.shards.of(last + n).visitors(last + n), "x")
    warm(repository, *GROUPS)
    patient = connect(client, shards=2, rules=default_rules(voting_window=30 * DAY), clock=clock)
    for n in range(4):
        post(patient, 40_000 + n, GROUPS)
    with repository.imports.lock():
        repository.imports.add(
            [imported(950 + n, clock() - 5, groups=GROUPS, closes_at=clock() + 40 * DAY) for n in range(4)]
        )
    repository.repair.run()
    clock.advance(91 * DAY)
    kept = repository.archive.get_counters(repository.archive.list_due(100))
    assert repository.archive.store(kept) > 0
    for one in kept:
        repository.archive.restore(one.article_id, one)
    repository.repair.run()
    mend_merges(repository, clock)


def damage_comments(repository: Repository) -> None:
    """Damage what `discuss` left of the first articles: First 1, Reply 2, Stub 3, Last 5."""
    client = repository.store.client
    for article in (2, 4, 6):
        one, root = repository.store.shards.of(article), root_of(article)
        client.delete(one.comment(root + 5))
        client.hset(one.comment(root + 2), mapping={"parent": str(root + 77), "author": str(BOB)})
        client.zadd(one.commented(ALICE), {str(root + 1): 1})
        client.zadd(one.comment_voters, {"777777000001": 1})
        client.hset(one.article(article), "comments", 99)


@for_each("name", [name for name in scripts.names() if not is_audit_of_shared_file(name)])
def test_the_header_lists_the_keys_that_the_script_names_and_receives(touched, name):
    assert scripts.touches(name).keys() == {*map(documented_beginning, spelled(name)), *touched.given[name]}


@for_each("name", scripts.names())
def test_the_script_touches_the_listed_keys_and_no_others(touched, name):
    assert scripts.touches(name).keys() == touched.read[name] | touched.written[name]


@for_each("name", scripts.names())
def test_the_script_writes_only_the_keys_listed_as_written(touched, name):
    assert {key for key, how in scripts.touches(name).items() if how == "rw"} == touched.written[name]


@for_each("name", scripts.names())
def test_a_script_declared_read_only_writes_nothing(name):
    assert ("Reads only." in scripts.text(name) or is_audit_of_shared_file(name)) == scripts.only_reads(name)


def test_every_rank_by_key_names_its_order():
    calls = re.findall(r"\brank_by\((.*?), (.*?),", "".join(map(scripts.source, scripts.names())))

    assert {order for _, order in calls} == {"order", *(f"'{order}'" for order in (Order.HOT, Order.ACTIVE))}
