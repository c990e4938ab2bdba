"""A site on a cluster: where commands go, what moving slots costs, and steps that span shards."""

from collections.abc import Callable

import pytest
import redis
from redis.crc import key_slot

from articles.domain.articles import Choice
from articles.domain.errors import StoreUnavailable, StoreUnfit
from articles.domain.lists import Order
from articles.domain.ranking import Parameters
from articles.repository.store import scripts
from articles.repository.store.clients.cluster_exchange import Exchange
from articles.repository.store.scan import walk
from articles.text.searching import Hiding
from tests.cast import ALICE, MODERATOR
from tests.factories import comment_on, post, view, visit
from tests.repository.everything import use_all
from tests.repository.slot_moves import SlotMove, errors_at, forget_errors
from tests.repository.spread import KEYS, SHARDS, prepared
from tests.repository.usage import finish_tuning, hot_values, tune, warm
from tests.rules import connect
from tests.store_state import key_names, new_client, problems
from tests.topologies import binaries
from tests.topologies.cluster import Cluster
from tests.topologies.node import Node
from tests.topologies.slots import id_of


def ports(cluster: Cluster) -> set[int]:
    return {node.port for node in cluster.primaries()}


# Where commands go


def test_every_command_of_the_site_goes_to_the_node_of_its_keys(cluster, spread, clock):
    spread.store.client.get("a")
    forget_errors(cluster)

    use_all(spread, clock)

    refused = {name for node in cluster.nodes for name in errors_at(node)}
    assert refused.isdisjoint({"MOVED", "ASK", "CROSSSLOT", "TRYAGAIN", "READONLY"})
    assert problems(spread) == []


def test_a_pipeline_costs_one_exchange_with_each_node_and_replies_in_order(cluster, spread, exchanges):
    client = spread.store.client
    for number, key in enumerate(KEYS):
        client.set(key, number)

    with exchanges.counted(), client.pipeline(transaction=False) as pipe:
        for key in KEYS:
            pipe.get(key)
            pipe.incr(key)
        replies = pipe.execute()

    assert replies == [reply for number in range(SHARDS) for reply in (str(number), number + 1)]
    assert exchanges.by_port == dict.fromkeys(ports(cluster), 1)
    assert exchanges.sent_before_read


def test_an_error_in_a_pipeline_is_its_commands_own(spread):
    client = spread.store.client
    with client.pipeline(transaction=False) as pipe:
        for key in KEYS:
            pipe.set(key, "text")
        pipe.incr(KEYS[3])
        pipe.get(KEYS[4])
        *_, error, text = pipe.execute(raise_on_error=False)

    assert isinstance(error, redis.ResponseError)
    assert text == "text"


@pytest.mark.parametrize("order", Order)
def test_a_page_of_a_list_costs_two_exchanges_with_each_node(cluster, spread, exchanges, order):
    spread.groups.create("java", "Java")
    for number in range(40):
        article = post(spread, number, ("python",))
        view(spread, article, 1)
        comment_on(spread, article, "Comment")
    warm(spread, "python")

    for listing in ({}, {"slug": "python"}, {"hidden": Hiding(("java",))}, {"slugs": ("python", "java")}):
        spread.lists.get_page(order, **listing)
        with exchanges.counted():
            assert spread.lists.get_page(order, **listing).total == 40
        assert set(exchanges.by_port) == ports(cluster)
        reads_directory = bool("slugs" in listing or order is Order.HOT)
        assert max(exchanges.by_port.values()) <= 2 + reads_directory, listing
        assert sum(exchanges.by_port.values()) <= 2 * len(cluster.primaries()) + reads_directory, listing


def test_what_concerns_servers_reaches_all_of_them(cluster, spread):
    client = spread.store.client
    for key in KEYS:
        client.set(key, "value")
    nodes = cluster.primaries()

    assert client.dbsize() == sum(node.client.dbsize() for node in nodes)
    assert {key for batch in walk(spread.store) for key in batch} == key_names(spread) >= set(KEYS)
    client.script_flush()
    digests = list(map(scripts.digest, scripts.names()))
    assert not any(client.script_exists(*digests))
    spread.store.load_scripts()
    assert all(all(node.client.script_exists(*digests)) for node in nodes)
    nodes[1].client.script_flush()
    assert not any(client.script_exists(*digests)), "one node lacks them"
    client.flushdb()
    assert [node.client.dbsize() for node in nodes] == [0, 0, 0]


def test_the_site_counts_a_visitor_of_two_shards_once(spread):
    first, second, third = (post(spread, number) for number in range(3))
    assert len({spread.store.shards.of(article).prefix for article in (first, second, third)}) == 3
    for article in (first, second, third):
        view(spread, article, 1, 2)
    view(spread, third, 3)

    *_, before, today = spread.pageviews.list_days()
    assert (today.counted, today.visitors) == (7, 3)
    assert before.visitors == 0
    assert problems(spread) == []


# What is refused at the start


def test_one_shard_on_a_cluster_is_refused(cluster):
    with pytest.raises(StoreUnfit, match=r"^On a cluster .* set STORE_SHARDS to 16 or more\.$"):
        connect(cluster.url).prepare()


def test_a_cluster_with_other_keys_is_refused(cluster):
    client = new_client(cluster.url)
    client.flushdb()
    for key in KEYS:
        client.set(key, "value")

    with pytest.raises(StoreUnfit, match="holds 16 keys that are not this site's"):
        connect(cluster.url, shards=SHARDS).prepare()


# Slots that move


def test_a_new_place_of_a_slot_is_learnt_from_the_first_refusal(cluster, spread, exchanges):
    client, key = spread.store.client, KEYS[0]
    client.set(key, "value")
    move = SlotMove.begin(cluster, key)
    move.finish()
    forget_errors(cluster)

    with exchanges.counted():
        assert client.get(key) == "value"
    assert exchanges.by_port == {move.source.port: 1, move.target.port: 1}
    with exchanges.counted():
        assert client.get(key) == "value"
    assert exchanges.by_port == {move.target.port: 1}
    assert errors_at(move.source) == {"MOVED": 1}


def test_a_pipeline_follows_only_what_was_refused(cluster, spread, exchanges):
    client = spread.store.client
    for key in KEYS:
        client.set(key, 0)
    move = SlotMove.begin(cluster, KEYS[5])
    move.finish()

    with exchanges.counted(), client.pipeline(transaction=False) as pipe:
        for key in KEYS:
            pipe.incr(key)
        assert pipe.execute() == [1] * SHARDS
    assert exchanges.by_port[move.target.port] == 2
    assert sum(exchanges.by_port.values()) == 4


def test_a_key_that_has_left_its_slot_is_read_at_its_new_place(cluster, spread, exchanges):
    client, gone, left = spread.store.client, "{s1}:gone", "{s1}:left"
    client.set(gone, "gone")
    client.set(left, "left")
    move = SlotMove.begin(cluster, gone)
    move.carry(gone)

    for _ in range(2):
        with exchanges.counted():
            assert client.get(gone) == "gone"
        assert exchanges.by_port == {move.source.port: 1, move.target.port: 1}
        assert client.get(left) == "left"
    with client.pipeline(transaction=True) as pipe:
        pipe.append(gone, "!")
        pipe.get(gone)
        assert pipe.execute() == [5, "gone!"]
    move.finish()
    assert (client.get(gone), client.get(left)) == ("gone!", "left")


def everything_in(move: SlotMove) -> dict[str, object]:
    """Return the keys of a slot at both nodes, as the server itself dumps them."""
    dumps = {}
    for node in (move.source, move.target):
        for key in node.run("CLUSTER", "GETKEYSINSLOT", move.slot, 10_000):
            with node.client.pipeline(transaction=False) as pipe:
                pipe.execute_command("ASKING")
                pipe.execute_command("DUMP", key, NEVER_DECODE=[])
                dumps[node.port, key] = pipe.execute()[1]
    return dumps


def test_while_a_shard_is_moved_key_by_key_nothing_is_written_to_it(cluster, spread):
    article = post(spread, 1, ("python",))
    for voter in (11, 12, 13):
        spread.votes.cast(article, voter, Choice.VOTE)
    view(spread, article, 1)
    warm(spread, "python")
    attempts: list[Callable[[], object]] = [
        lambda: spread.votes.cast(article, 14, Choice.VOTE),
        lambda: spread.votes.cast(article, 11, Choice.OPPOSE),
        lambda: spread.pageviews.record(article, visit(2)),
        lambda: spread.articles.remove(article, MODERATOR, "Spam"),
    ]
    move = SlotMove.begin(cluster, spread.store.shards.of(article).article(article))

    while keys := move.keys_left():
        for attempt in attempts:
            before = everything_in(move)
            with pytest.raises(StoreUnavailable):
                attempt()
            assert everything_in(move) == before
        move.carry(*keys[::2])
    move.finish()

    assert problems(spread) == []
    assert spread.articles.get(article).votes == 4
    assert spread.votes.cast(article, 14, Choice.VOTE).votes == 5
    for attempt in attempts:
        attempt()
    assert problems(spread) == []


@pytest.mark.nodes
def test_a_server_that_moves_whole_slots_takes_votes_meanwhile(tmp_path, clock):
    with Cluster(tmp_path / "store", binaries.valkey(), primaries=2, replicas_of_each=0) as cluster:
        repository = prepared(cluster, clock)
        article = post(repository, 1)
        key = repository.store.shards.of(article).article(article)
        source = cluster.owner_of(key)
        target = next(node for node in cluster.primaries() if node is not source)
        voters = iter(range(1000, 100_000))

        def vote_until(owner: Node) -> None:
            while cluster.owner_of(key) is not owner:
                repository.votes.cast(article, next(voters), Choice.VOTE)

        slot = key_slot(key.encode())
        source.run("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", slot, slot, "NODE", id_of(target))
        vote_until(target)
        votes = repository.votes.cast(article, next(voters), Choice.VOTE).votes

        assert votes == next(voters) - 1000 + 1, "the poster's own, and one for each voter"
        assert problems(repository) == []


@pytest.mark.parametrize("is_finished", [False, True])
def test_every_key_is_scanned_while_they_move(cluster, spread, is_finished):
    names = [f"{{s2}}:{number}" for number in range(100)]
    for name in names:
        spread.store.client.set(name, 1)
    first, *_, last = sorted(cluster.primaries(), key=lambda node: node.address)
    if cluster.owner_of(names[0]) is not last:
        SlotMove.begin(cluster, names[0], last).finish()
    move, seen = SlotMove.begin(cluster, names[0], first), set()

    for batch in walk(spread.store):
        seen.update(batch)
        if left := move.keys_left():  # from a node that has not been scanned to one that has
            move.finish() if is_finished else move.carry(*left)
    assert seen >= set(names)
    move.finish()


# Steps that span shards


class Interrupted(Exception):
    """A process is killed here."""


def interrupt(monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    """End the process before its exchange number `at`, from 0, that consists of transactions."""
    run, left = Exchange.run, [at]

    def run_until(self, units):
        if units[0].is_transaction:
            if not left[0]:
                raise Interrupted
            left[0] -= 1
        return run(self, units)

    monkeypatch.setattr(Exchange, "run", run_until)


def test_the_first_shard_comes_last_in_what_spans_shards(spread, monkeypatch):
    run, transactions = Exchange.run, list[set[str]]()

    def note(self, units):
        if units[0].is_transaction:
            transactions.append({unit.key.partition("}")[0] for unit in units})
        return run(self, units)

    monkeypatch.setattr(Exchange, "run", note)
    spread.hot.rescore()

    others, first = transactions
    assert first == {"{s0"}
    assert others == {f"{{s{shard}" for shard in range(1, SHARDS)}


@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("changed", [Parameters(votes_per_day=50), Parameters(alpha=7)])
def test_parameters_that_some_shards_have_are_completed(spread, monkeypatch, changed, at):
    for number in range(20):
        view(spread, post(spread, number), 1)
    tune(spread, Parameters(votes_per_day=200, alpha=3))
    with monkeypatch.context() as patch:
        interrupt(patch, at)
        with pytest.raises(Interrupted):
            tune(spread, changed)
    client = spread.store.client
    versions = [client.hget(keys.ranking, "version") for keys in spread.store.shards.all]
    assert set(versions[1:]) == ({"3"} if at else {"2"})
    assert versions[0] == "2"
    assert spread.parameters.get_state().applying

    finish_tuning(spread)

    assert {client.hget(keys.ranking, "version") for keys in spread.store.shards.all} == {"3"}
    assert spread.parameters.get_current() == changed
    assert [change.version for change in spread.parameters.list_changes()] == [3, 2, 1]
    assert problems(spread) == []


@pytest.mark.parametrize("at", [0, 1])
def test_a_hot_list_that_some_shards_have_rescored_is_rescored_again(spread, clock, monkeypatch, at):
    for number in range(20):
        view(spread, post(spread, number), 1)
    spread.hot.rescore()
    clock.advance(3600)
    with monkeypatch.context() as patch:
        interrupt(patch, at)
        with pytest.raises(Interrupted):
            spread.hot.rescore()

    assert spread.hot.is_stale(spread.hot.get_refreshed_at()), "the first shard says so, which comes last"
    assert spread.hot.refresh()
    values = hot_values(spread)
    spread.hot.rescore()
    assert hot_values(spread) == values
    assert problems(spread) == []


def test_on_a_cluster_the_page_of_an_article_waits_for_no_other_shard(spread, exchanges):
    number = post(spread, 1)
    spread.articles.get(number)
    with exchanges.counted(), spread.inbox.counting(ALICE, 0) as unread:
        spread.articles.get(number)
        assert len(exchanges.by_port) == 1
        assert unread.count is None
        spread.lists.get_page(Order.SCORE, reader=ALICE)
    assert unread.count == 0
