"""The URLs of stores: what they say, and which are refused."""

import pytest

from articles.domain.store_address import Topology, parse


@pytest.mark.parametrize(
    ("url", "database"),
    [
        ("redis://host", 0), ("redis://", 0), ("redis://user:secret@host:1/2", 2), ("redis://host/2?db=3", 3),
        ("rediss://host:6379?ssl_cert_reqs=none&db=1", 1), ("unix:///a/b.sock", 0),
        ("unix://user:secret@/a/b.sock?db=4", 4),
    ],
)  # fmt: skip
def test_one_server(url, database):
    address = parse(url)

    assert (address.topology, address.url, address.database) == (Topology.SERVER, url, database)
    assert (address.servers, address.service) == ((), "")


def test_sentinels_with_everything():
    address = parse(
        "sentinel+tls://user:p%40ss%2F@one:26380,10.0.0.2,[::1]:26382/my%20site"
        "?db=3&sentinel_username=watch&sentinel_password=w%26d&ssl_ca_certs=/ca.pem"
    )

    assert address.topology is Topology.SENTINEL
    assert address.servers == (("one", 26380), ("10.0.0.2", 26379), ("::1", 26382))
    assert (address.service, address.database, address.has_tls) == ("my site", 3, True)
    assert (address.username, address.password) == ("user", "p@ss/")
    assert address.options == {"sentinel_username": "watch", "sentinel_password": "w&d", "ssl_ca_certs": "/ca.pem"}


def test_a_cluster_with_everything():
    address = parse("cluster+tls://user:secret@one,two:7000,[2001:db8::1]:7001?client_name=site")

    assert address.topology is Topology.CLUSTER
    assert address.servers == (("one", 6379), ("two", 7000), ("2001:db8::1", 7001))
    assert (address.service, address.database, address.has_tls) == ("", 0, True)
    assert (address.username, address.password) == ("user", "secret")
    assert address.options == {"client_name": "site"}


def test_sentinels_and_a_cluster_need_no_password_and_no_tls():
    sentinel, cluster = parse("sentinel://host/site"), parse("cluster://host")

    for address in (sentinel, cluster):
        assert (address.username, address.password, address.has_tls, address.options) == ("", "", False, {})
    assert (sentinel.servers, cluster.servers) == ((("host", 26379),), (("host", 6379),))


def test_a_password_may_stand_alone():
    assert parse("cluster://:secret@host").password == "secret"
    assert parse("sentinel://:a%3Ab@host/site").password == "a:b"


def test_options_that_every_kind_of_store_takes():
    for url in ("rediss://host", "sentinel+tls://host/site", "cluster+tls://host"):
        assert parse(f"{url}?client_name=site&socket_keepalive=1&ssl_check_hostname=0&ssl_cert_reqs=optional").url


def test_the_scheme_may_be_in_capitals():
    assert parse("REDISS://Host/2").url == "rediss://Host/2"


REFUSED = [
    "", "host", "http://host", "sentinel:host/site", "cluster", "redis+tls://host", "clusters://host",
    # one server
    "redis://host:port", "redis://host:0", "redis://host:65536", "redis://host/x", "redis://host?db=x",
    "redis://host?db=-1", "unix://", "unix://?db=0", "unix://relative/path",
    "redis://host?decode_responses=0", "redis://host?sentinel_password=x", "redis://host?socket_timeout=1",
    "redis://a,b:6379", "redis://a:1,b:2", "unix:///store.sock?socket_keepalive=1",
    # TLS, without it or unlike it
    "redis://host?ssl_cert_reqs=none", "unix:///store.sock?ssl_ca_certs=/ca",
    "rediss://host?ssl_cert_reqs=some", "sentinel://host/site?ssl_check_hostname=0",
    "cluster://host?ssl_ca_path=/ca", "cluster+tls://host?ssl_x=1",
    # sentinels
    "sentinel://host", "sentinel://host/", "sentinel:///site", "sentinel://host/site/2", "sentinel://a b/site",
    "sentinel://host,/site", "sentinel://,host/site", "sentinel://host:0/site", "sentinel://host:65536/site",
    "sentinel://host:port/site", "sentinel://::1/site", "sentinel://host:/site", "sentinel://host/site?db=x",
    "sentinel://host/site?db=-1", "sentinel://host/site?socket_timeout=1", "sentinel://host/site?password=x",
    "sentinel://host/site?sentinel_db=1", "sentinel://host/site?db", "sentinel://u:p@/site",
    # a cluster
    "cluster://", "cluster://host/0", "cluster://host/site", "cluster://host?db=1",
    "cluster://host,", "cluster://host:70000", "cluster://host:0", "cluster://[::1",
    "cluster://host?sentinel_password=x", "cluster://host?read_from_replicas=1", "cluster://host:1:2",
]  # fmt: skip


@pytest.mark.parametrize("url", REFUSED)
def test_any_other_url_is_refused(url):
    with pytest.raises(ValueError, match=r".+"):
        parse(url)
