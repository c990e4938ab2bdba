"""The client address of a request."""

from ipaddress import ip_address

import pytest
from hypothesis import given, strategies as st

from articles.web.client_address import Proxies, client_address, household, neighbourhood, read_address

PROXIES = Proxies.named(["127.0.0.1", "10.0.0.0/8", "fd00::/8"])
DIRECT = Proxies.named([])


def seen(remote: str, forwarded: str = "", proxies: Proxies = PROXIES) -> str:
    return str(client_address(remote, forwarded, proxies))


@pytest.mark.parametrize("forwarded", ["", "203.0.113.9", "10.0.0.1, 203.0.113.9", "nonsense"])
def test_without_a_trusted_proxy_the_header_is_ignored(forwarded):
    assert seen("198.51.100.7", forwarded) == "198.51.100.7"
    assert seen("127.0.0.1", forwarded, DIRECT) == "127.0.0.1"


@pytest.mark.parametrize(
    ("forwarded", "client"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("1.2.3.4, 203.0.113.9", "203.0.113.9"),
        ("203.0.113.9, 10.1.2.3", "203.0.113.9"),
        ("1.2.3.4,203.0.113.9,10.9.9.9,10.1.2.3", "203.0.113.9"),
        ("10.1.1.1, 10.2.2.2", "10.1.1.1"), ("2001:db8::1, fd00::7", "2001:db8::1"),
        ("203.0.113.9:51234", "203.0.113.9"), ("[2001:db8::1]:443", "2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"), ("::ffff:203.0.113.9", "203.0.113.9"),
        ("1.2.3.4, ::ffff:10.1.2.3", "1.2.3.4"), ("fe80::1%eth0", "fe80::1"),
    ],
)  # fmt: skip
def test_behind_trusted_proxies_the_rightmost_untrusted_address_is_the_client(forwarded, client):
    assert seen("127.0.0.1", forwarded) == client


@pytest.mark.parametrize(
    ("forwarded", "client"),
    [
        ("", "127.0.0.1"),
        ("unknown", "127.0.0.1"),
        ("203.0.113.9, unknown", "127.0.0.1"),
        ("203.0.113.9, , 10.1.2.3", "10.1.2.3"),
        ("203.0.113.9, 10.1.2.3:99999999, 10.0.0.4", "10.0.0.4"),
        ("203.0.113.9, 010.1.2.3", "127.0.0.1"),
        ("203.0.113.9, 1٢.1.2.3", "127.0.0.1"),
        ("203.0.113.9; DROP, 10.1.2.3", "10.1.2.3"),
    ],
)
def test_an_unreadable_address_ends_the_search_at_the_last_valid_one(forwarded, client):
    assert seen("127.0.0.1", forwarded) == client


def test_an_ipv4_proxy_is_recognised_on_an_ipv6_socket():
    assert seen("::ffff:127.0.0.1", "203.0.113.9") == "203.0.113.9"


def test_a_unix_socket_is_trusted_only_by_name():
    assert client_address("", "203.0.113.9", PROXIES) is None
    assert seen("", "203.0.113.9", Proxies.named(["unix"])) == "203.0.113.9"
    assert client_address("", "", Proxies.named(["unix"])) is None
    assert client_address("nonsense", "203.0.113.9", Proxies.named(["unix"])) is None


@pytest.mark.parametrize("name", ["10.0.0.1/8", "10.0.0.0/33", "proxy.example", "", "::1/200", "10.0.0"])
def test_an_invalid_network_is_refused_as_a_proxy(name):
    with pytest.raises(ValueError, match=r".*"):
        Proxies.named([name])


@given(st.text(max_size=60), st.text(max_size=200))
def test_no_header_from_a_client_raises_an_error(remote, forwarded):
    found = client_address(remote, forwarded, PROXIES)

    assert found is None or read_address(str(found)) == found


@given(st.lists(st.ip_addresses(), max_size=5), st.ip_addresses(v=4, network="203.0.113.0/24"))
def test_addresses_forged_by_a_client_change_nothing(forged, client):
    forwarded = ", ".join(map(str, [*forged, client, ip_address("10.1.1.1")]))

    assert seen("127.0.0.1", forwarded) == str(client)


@pytest.mark.parametrize(
    ("address", "one", "all_"),
    [
        ("203.0.113.77", "203.0.113.77/32", "203.0.113.0/24"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64", "2001:db8:1::/48"),
    ],
)
def test_addresses_of_one_subscriber_are_grouped_together(address, one, all_):
    found = read_address(address)

    assert (household(found), neighbourhood(found)) == (one, all_)
