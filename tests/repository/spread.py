"""A store that is spread over the nodes of a cluster."""

from articles.repository import Repository
from tests.clock import Clock
from tests.rules import connect
from tests.topologies.cluster import Cluster

SHARDS = 16
KEYS = [f"{{s{shard}}}:key" for shard in range(SHARDS)]


def prepared(cluster: Cluster, clock: Clock, **options) -> Repository:
    """Return an empty repository whose shards are spread over the nodes."""
    repository = connect(cluster.url, shards=SHARDS, clock=clock, **options)
    repository.store.client.flushdb()
    repository.prepare()
    return repository
