"""The tests run on the topology that was chosen."""

from django.conf import settings
from django.db import connection

from articles.domain.store_address import Topology, parse
from tests.topologies import of_this_run

SCHEMES = {of_this_run.SENTINEL: Topology.SENTINEL, of_this_run.CLUSTER: Topology.CLUSTER}


def test_the_site_uses_the_store_of_this_run(site_store, store_paths):
    address = parse(settings.STORE_URL)

    assert store_paths.url(0) == settings.STORE_URL
    assert address.topology is SCHEMES.get(of_this_run.NAME, Topology.SERVER)
    assert address.url.startswith("unix:") is settings.STORE_IS_EMBEDDED
    assert settings.STORE_IS_EMBEDDED is (
        of_this_run.NAME in {of_this_run.EMBEDDED, of_this_run.ONE_SHARD, of_this_run.POSTGRES}
    )
    assert site_store.store.shards.count == of_this_run.FEWEST_SHARDS


def test_the_accounts_are_where_this_run_has_them(db):
    expected = "postgresql" if of_this_run.NAME == of_this_run.POSTGRES else "sqlite"

    assert connection.vendor == expected
