import pytest

from articles.configuration.kinds import BadSetting
from articles.web.client_address import Proxies, client_address
from voting_site.configuration.variables import VARIABLES

BY_NAME = {variable.name: variable for variable in VARIABLES}


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "0.0.0.0"), ("::1", "::1"), ("[::1]", "::1"), ("::", "::"),
        ("2001:DB8:0:0::1", "2001:db8::1"), ("Localhost", "localhost"),
        ("news.example.org.", "news.example.org"),
    ],
)  # fmt: skip
def test_a_host_is_a_name_or_an_address(text, host):
    assert BY_NAME["HOST"].parse(text) == host


NO_HOSTS = (
    "https://news.example.org", "news.example.org:8000", "[::1]:8000", "news.example.org/path", "user@host",
    "*", "*.example.org", "exa mple.org", "under_score.example.org", "-a.example.org", "a..b", ".", "例子.测试",
    "10.1", "256.0.0.1", "1.2.3.4.5", "[localhost]", "[::1", "fe80::1%eth0", "a" * 64, ":::",
)  # fmt: skip


@pytest.mark.parametrize("text", NO_HOSTS)
def test_an_invalid_host_is_refused(text):
    with pytest.raises(BadSetting, match=r"HOST='.* is not a host"):
        BY_NAME["HOST"].parse(text)


@pytest.mark.parametrize("text", [text for text in NO_HOSTS if text != "*"])
def test_a_host_that_no_request_can_name_is_not_an_allowed_host(text):
    with pytest.raises(BadSetting, match=r"ALLOWED_HOSTS='.* is not a list of hosts"):
        BY_NAME["ALLOWED_HOSTS"].parse(f"good.example.org,{text}")


def test_allowed_hosts_are_normalised_as_in_requests():
    parse = BY_NAME["ALLOWED_HOSTS"].parse

    assert parse("News.example.org., ::1,[2001:DB8::1],10.0.0.7,") == [
        "news.example.org", "[::1]", "[2001:db8::1]", "10.0.0.7"
    ]  # fmt: skip
    assert parse("*,.Example.org") == ["*", ".example.org"]
    assert parse("") == []


def test_django_accepts_every_allowed_host(rf, settings):
    settings.ALLOWED_HOSTS = BY_NAME["ALLOWED_HOSTS"].parse("News.Example.org.,2001:DB8::1,.sub.example")

    for asked in ("news.example.org", "NEWS.example.org.:8000", "[2001:db8::1]:8000", "a.sub.example"):
        assert rf.get("/", headers={"Host": asked}).get_host() == asked


def test_trusted_proxies_can_be_any_address_or_network():
    names = BY_NAME["TRUSTED_PROXIES"].parse("[::1], ::ffff:10.0.0.1,UNIX,192.0.2.0/24,::ffff:198.51.100.0/120")

    assert names == ["::1/128", "10.0.0.1/32", "unix", "192.0.2.0/24", "198.51.100.0/24"]
    proxies = Proxies.named(names)
    assert str(client_address("10.0.0.1", "203.0.113.9", proxies)) == "203.0.113.9"
    assert str(client_address("198.51.100.7", "203.0.113.9", proxies)) == "203.0.113.9"


@pytest.mark.parametrize("text", ["localhost", "10.0.0.1/8", "10.0.0.0/33", "[10.0.0.1", "https://10.0.0.1"])
def test_an_invalid_network_is_refused_as_a_proxy(text):
    with pytest.raises(BadSetting, match="TRUSTED_PROXIES"):
        BY_NAME["TRUSTED_PROXIES"].parse(text)
