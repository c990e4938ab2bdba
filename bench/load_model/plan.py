"""The machines for a load, and their price. Pure functions."""

import math
from dataclasses import dataclass
from types import MappingProxyType

from bench.load_model.day import Day
from bench.load_model.mix import PAGES
from bench.load_model.model import Costs, Memory
from bench.load_model.spread import even_share

SHARDS = (1, 16, 32, 48, 64, 96, 128, 192)
"""Numbers of shards that are tried; one needs no cluster."""

_RANKED = 3_000
"""Articles whose reads are counted one by one: no process keeps a page of the others until its next reader."""


@dataclass(frozen=True, slots=True)
class Load:
    """The load of the busiest hour. `days_of_votes`: how long a vote's voter is kept."""

    articles: float
    votes: float
    """Votes a second."""

    pages: float
    """Page views a second."""

    posts_per_vote: float = 0.0001
    days_of_votes: float = 9.0
    read: float = 0.5
    """The share of the articles that were read in the last 90 days."""

    by_address: bool = True
    """Whether the proxy sends all requests for an address to one web node, so that only it keeps the page."""


@dataclass(frozen=True, slots=True)
class Machines:
    """What can be rented, and how much of it is used. Prices in dollars a month.

    On-demand list prices of general-purpose machines at the large providers are 16 to 25 for a core, and 2 to 3.5
    for a GB; other providers ask for a third.
    """

    used: float = 0.6
    web_cores: int = 8
    web_gb: int = 8
    store_cores: int = 2
    """One for the store's thread, one for syncing and rewriting its file."""

    store_gb: int = 64
    replicas: int = 1
    core_price: float = 20.0
    gb_price: float = 3.0
    rewriting: float = 1.5
    """Factor of the data's memory that has to be available while the file is rewritten."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a load needs. `primaries` is 0 if no number of shards is enough; the figures are those of one shard."""

    web_cores: float
    web_nodes: int
    store_threads: float
    shards: int
    primaries: int
    articles_gb: float
    votes_gb: float
    gigabits: float
    """Gigabits a second to readers."""

    price: float

    @property
    def store_gb(self) -> float:
        return self.articles_gb + self.votes_gb


def plan(load: Load, costs: Costs, memory: Memory, day: Day, machines: Machines) -> Plan:
    """Return the cheapest machines for the load."""
    plans = [_with(shards, load, costs, memory, day, machines) for shards in SHARDS]
    possible = [each for each in plans if each.primaries]
    return min(possible or plans[:1], key=lambda each: (each.price, each.shards))


def _with(shards: int, load: Load, costs: Costs, memory: Memory, day: Day, machines: Machines) -> Plan:
    weights = _weights(load.articles, day.exponent)
    rates = {kind: share * load.pages for kind, share in PAGES.items()}
    rates |= {"vote": load.votes, "post": load.votes * load.posts_per_vote}
    cores = 1.0
    for _ in range(20):  # more processes render more often: until both agree
        workers = max(2.0, min(cores, machines.web_cores) if load.by_address else cores)
        needed = costs.of_rates(rates, weights, workers, load.articles, shards)
        before, cores = cores, needed.web_ms / 1000 / machines.used
        if math.isclose(before, cores, rel_tol=0.001):
            break
    threads = needed.store_ms / 1000
    parts = (
        memory.of_articles(load.articles) + load.read * load.articles * memory.read,
        load.votes / day.peak * 86400 * load.days_of_votes * memory.vote,
    )
    articles_gb, votes_gb = (part / 1e9 for part in parts)
    primaries = _primaries(shards, threads, articles_gb + votes_gb, machines)
    web_nodes = max(1, math.ceil(cores / machines.web_cores))
    node = machines.store_cores * machines.core_price + machines.gb_price * _gb(
        (articles_gb + votes_gb) * (even_share(shards, primaries) if primaries else 1), machines
    )
    web = machines.web_cores * machines.core_price + machines.web_gb * machines.gb_price
    return Plan(
        web_cores=cores,
        web_nodes=web_nodes,
        store_threads=threads,
        shards=shards,
        primaries=primaries,
        articles_gb=articles_gb,
        votes_gb=votes_gb,
        gigabits=needed.bytes * 8 / 1e9,
        price=web_nodes * web + primaries * (1 + machines.replicas) * node,
    )


def _weights(articles: float, exponent: float) -> list[float]:
    """Return the shares of the most read articles."""
    ranked = min(int(articles), _RANKED)
    head = [rank**-exponent for rank in range(1, ranked + 1)]
    total = sum(head) + sum_of_powers(articles, exponent) - sum_of_powers(ranked, exponent)
    return [weight / total for weight in head]


def sum_of_powers(last: float, exponent: float) -> float:
    """Return about the sum of rank^-exponent up to a last rank, by its integral."""
    if math.isclose(exponent, 1.0):
        return math.log(last)
    return float((last ** (1 - exponent) - 1) / (1 - exponent))


def _primaries(shards: int, threads: float, gigabytes: float, machines: Machines) -> int:
    """Return the fewest nodes of which none has more than it can take; 0 if there is no such number."""
    for nodes in range(1, shards + 1):
        if nodes == 2:
            continue  # a cluster needs three
        share = even_share(shards, nodes)
        if share * threads <= machines.used and share * gigabytes * machines.rewriting <= machines.store_gb:
            return nodes
    return 0


def _gb(data: float, machines: Machines) -> float:
    """Return the memory of a machine for so much data: the next power of two."""
    return 2.0 ** max(1, math.ceil(math.log2(max(data * machines.rewriting, 0.1))))


RATES = MappingProxyType({"small": (10.0, 1_000.0), "medium": (1_000.0, 10_000.0), "large": (10_000.0, 100_000.0)})
"""Votes and page views a second of the loads in the table."""
