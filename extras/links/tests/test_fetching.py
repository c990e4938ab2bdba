"""A fetch leaves for public addresses of the web alone, and ends whatever a server does."""

import itertools
import ssl
import tracemalloc

import pytest

from extras.links import reading
from extras.links.fetching import PageFetch
from outgoing.fetching import MOST_BYTES, NotFetched
from tests.cases import for_each
from tests.certificates import make_certificate
from tests.zoo import AGENT, PUBLIC, Zoo, answers, bomb, page, redirect, response, sends

HOST = "a.example"
LINK = f"http://{HOST}/page"
HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


def zoo_of(server, *others, **names):
    servers = {(PUBLIC, 80): server} | {((PUBLIC, 443)): server} | dict(others)
    return Zoo({HOST: [[PUBLIC]]} | names, servers)


def outcome(zoo, link=LINK, *, seconds=3.0, trust=None, **options):
    """Return the title that is found, or the code of why there is none."""
    try:
        answer, address = PageFetch(zoo.world(trust), AGENT, seconds=seconds, **options).get(link)
        return reading.read(answer.body, answer.headers["Content-Type"] or "", address).title
    except NotFetched as reason:
        return str(reason)


PRIVATE = [
    "127.0.0.1", "10.0.0.7", "172.16.0.1", "192.168.1.1", "0.0.0.0", "255.255.255.255", "224.0.0.1",
    "240.0.0.1", "169.254.169.254", "100.64.0.1", "100.100.100.200", "192.0.0.192", "198.18.0.1",
    "168.63.129.16", "192.88.99.1", "203.0.113.5", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1",
    "fd00:ec2::254", "fec0::1", "ff02::1", "100::1", "::ffff:127.0.0.1", "::ffff:93.184.216.34", "::127.0.0.1",
    "64:ff9b::7f00:1", "64:ff9b::5db8:d822", "64:ff9b:1::1", "2002:7f00:1::", "2002:5db8:d822::1",
    "2001:0:1::1", "2001:db8::1",
]  # fmt: skip


@for_each("address", PRIVATE)
def test_a_name_that_leads_to_an_address_that_is_not_public_is_not_reached(address):
    zoo = Zoo({HOST: [[address]]}, {})

    assert outcome(zoo) == "not-public"
    assert zoo.reached == []


@for_each("address", PRIVATE)
def test_a_redirect_to_an_address_that_is_not_public_is_not_followed(address):
    zoo = zoo_of(answers(redirect("http://b.example/")), **{"b.example": [[address]]})

    assert outcome(zoo) == "not-public"
    assert set(zoo.reached) == {(PUBLIC, 80)}


def test_a_name_is_resolved_once_for_each_connection_and_that_address_is_reached():
    zoo = Zoo({HOST: [[PUBLIC], ["127.0.0.1"]]}, {(PUBLIC, 80): answers(page())})

    assert outcome(zoo, robots={f"http://{HOST}": ""}) == "A title"
    assert (zoo.resolved, zoo.reached) == ([HOST], [(PUBLIC, 80)])


def test_a_name_that_becomes_private_between_two_requests_is_not_reached_again():
    zoo = Zoo(
        {HOST: [[PUBLIC], ["127.0.0.1"]]}, {(PUBLIC, 80): answers(page()), ("127.0.0.1", 80): answers(page())}
    )

    assert outcome(zoo) == "not-public"
    assert zoo.reached == [(PUBLIC, 80)]


REDIRECTS = {
    "/": "redirects",
    "file:///etc/passwd": "address",
    "data:text/html,<title>x</title>": "address",
    "javascript:alert(1)": "address",
    "ftp://b.example/": "address",
    "gopher://b.example/": "address",
    "http://user:secret@b.example/": "address",
    "http://b.example:22/": "port",
    "http://b.example:6379/": "port",
    "http://localhost/": "not-public",
    "http://printer.local/": "not-public",
    "http://2130706433/": "not-public",
    "http://0x7f.1/": "not-public",
    "//127.0.0.1/": "not-public",
    "http://[::1]/": "not-public",
    "http://[::ffff:127.0.0.1]/": "not-public",
    "http://[64:ff9b::7f00:1]/": "not-public",
    "http://[fe80::1%25eth0]/": "broken",
    "http://169.254.169.254/latest/meta-data/": "not-public",
    "http://[": "broken",
    "http://unknown.example/": "unreachable",
    "\xe4\xbd\xa0": "redirects",
}


@for_each("target, expected", REDIRECTS.items())
def test_a_redirect_leaves_the_web_nowhere(target, expected):
    zoo = zoo_of(answers(redirect(target)))

    assert outcome(zoo) == expected
    assert set(zoo.reached) == {(PUBLIC, 80)}


def test_five_redirects_are_followed_and_six_are_not():
    for count, expected in ((5, "A title"), (6, "redirects")):
        paths = {f"/{step}": redirect(f"/{step + 1}", "301 Moved") for step in range(count)} | {
            f"/{count}": page()
        }
        assert outcome(zoo_of(answers(paths)), f"http://{HOST}/0") == expected


def _drip(connection_bytes=HTML + b"\r\n<title>A dri"):
    yield connection_bytes
    yield from itertools.repeat(b".")


def _endless(part=b"<p>" * 20_000):
    yield HTML + b"\r\n<title>Endless</title>"
    yield from itertools.repeat(part)


SERVERS = {
    "closes at once": (sends([b""]), "broken"),
    "is no web server": (sends([b"SSH-2.0-OpenSSH_9.9\r\n"]), "broken"),
    "redirects without an address": (answers(response(b"", status="302 Found")), "status"),
    "is missing": (answers({}), "status"),
    "fails": (answers(response(b"", status="500 Oops")), "status"),
    "refreshes by meta": (
        answers(response(b"<meta http-equiv=refresh content='0;url=http://127.0.0.1/'><title>Stays</title>")),
        "Stays",
    ),
    "sends endless headers": (sends(itertools.chain([HTML], itertools.repeat(b"X: y\r\n" * 10))), "broken"),
    "sends a long header": (sends(itertools.chain([HTML, b"X: "], itertools.repeat(b"y" * 10_000))), "broken"),
    "continues without end": (sends(itertools.repeat(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)), "broken"),
    "has no end": (sends(_endless()), "Endless"),
    "ends early": (answers(page("Early", "Content-Length: 5000")), "Early"),
    "ends late": (answers(page("Late title", "Content-Length: 11")), "Late"),
    "has no number as length": (answers(page("Odd", "Content-Length: -5")), "Odd"),
    "has broken chunks": (answers(response(b"zz\r\n<title>x</title>", "Transfer-Encoding: chunked")), "broken"),
    "breaks after a chunk": (
        answers(response(b"15\r\n<title>Chunky</title>\r\nzz\r\n", "Transfer-Encoding: chunked")),
        "Chunky",
    ),
    "sends a gzip bomb": (answers(response(bomb(200_000_000), "Content-Encoding: gzip")), "A bomb"),
    "sends broken gzip": (answers(response(b"\x1f\x8b\x08broken", "Content-Encoding: gzip")), "broken"),
    "packs twice": (answers(page("Twice", "Content-Encoding: gzip, gzip")), "broken"),
    "packs as nobody asked": (answers(page("Br", "Content-Encoding: br")), "broken"),
    "has 40 MB of title": (sends(itertools.chain([HTML + b"\r\n<title>"], [b"long " * 200_000] * 40)), "long"),
    "sends a picture": (answers(response(b"\x89PNG", kind="image/png")), ""),
}


@for_each("server", SERVERS)
def test_a_hostile_server_is_read_to_a_bound(server):
    serve, expected = SERVERS[server]
    zoo = zoo_of(serve)

    found = outcome(zoo)

    assert found == expected or (expected == "long" and found.startswith("long long") and len(found) <= 1_000)
    assert set(zoo.reached) == {(PUBLIC, 80)}


@pytest.mark.deep
def test_a_gzip_bomb_is_not_unpacked_beyond_the_bound():
    zoo = zoo_of(answers(response(bomb(100_000_000), "Content-Encoding: gzip")))
    tracemalloc.start()
    try:
        assert outcome(zoo) == "A bomb"
        assert tracemalloc.get_traced_memory()[1] < 10 * MOST_BYTES
    finally:
        tracemalloc.stop()


def test_a_page_that_drips_is_used_as_far_as_it_arrived():
    assert outcome(zoo_of(sends(_drip(), pause=0.02)), seconds=0.3).startswith("A dri.")


def test_a_server_that_says_nothing_is_slow():
    assert outcome(zoo_of(sends([b""], pause=0.5)), seconds=0.2) == "slow"
    assert outcome(zoo_of(sends(itertools.repeat(b"H"), pause=0.01)), seconds=0.2) == "slow"


def test_at_most_a_megabyte_is_read():
    sent = []

    def counted():
        for part in _endless():
            sent.append(len(part))
            yield part

    assert outcome(zoo_of(sends(counted()))) == "Endless"
    assert sum(sent) < MOST_BYTES + 1_000_000  # what the sockets hold is sent as well


def test_an_answer_names_the_site_and_brings_no_cookie_back():
    server = answers({"/page": redirect("/other") + b"", "/other": page("Cookies")})
    zoo = zoo_of(server)

    assert outcome(zoo) == "Cookies"
    heads = [request.decode().lower() for request in zoo.requests]
    assert len(heads) == 3
    assert all(f"user-agent: {AGENT.lower()}" in head and f"host: {HOST}" in head for head in heads)
    assert not any(name in head for head in heads for name in ("cookie", "referer", "authorization"))


ROBOTS = {
    "User-agent: *\nDisallow: /": "robots",
    "User-agent: *\nDisallow: /pa": "robots",
    "User-agent: article-voting-site\nDisallow: /page$\n\nUser-agent: *\nAllow: /": "robots",
    "User-agent: other\nDisallow: /": "A title",
    "User-agent: *\nDisallow: /\nAllow: /page": "A title",
    "\x00\xff<html>": "A title",
}


@for_each("rules, expected", ROBOTS.items())
def test_robots_are_respected(rules, expected):
    zoo = zoo_of(answers({"/robots.txt": response(rules.encode()), "/page": page()}))

    assert outcome(zoo) == expected


def test_robots_of_each_host_are_respected_and_kept():
    there = "93.184.216.35"
    rules = answers({"/robots.txt": response(b"User-agent: *\nDisallow: /x"), "/y": page()})
    zoo = zoo_of(
        answers({"/page": redirect("http://b.example/x"), "/2": redirect("http://b.example/y")}),
        ((there, 80), rules),
        **{"b.example": [[there]]},
    )
    robots: dict[str, str] = {}

    assert outcome(zoo, robots=robots) == "robots"
    assert outcome(zoo, f"http://{HOST}/2", robots=robots) == "A title"
    assert sum(b"/robots.txt" in request for request in zoo.requests) == 2
    assert outcome(zoo_of(answers({"/robots.txt": response(b"", status="503 Busy"), "/page": page()}))) == "robots"


def test_a_host_that_was_asked_enough_is_not_asked_by_a_redirect():
    zoo = zoo_of(answers(redirect("http://b.example/")), **{"b.example": [["93.184.216.35"]]})

    assert outcome(zoo, busy={"b.example"}) == "host-busy"
    assert set(zoo.reached) == {(PUBLIC, 80)}


def test_certificates_are_verified(tmp_path):
    certificate, key = make_certificate(tmp_path, HOST)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    zoo = Zoo({HOST: [[PUBLIC]], "b.example": [[PUBLIC]]}, {(PUBLIC, 443): answers(page())}, context)
    trust = ssl.create_default_context(cafile=str(certificate))

    assert outcome(zoo, f"https://{HOST}/", trust=trust) == "A title"
    assert outcome(zoo, "https://b.example/", trust=trust) == "tls"  # of another host
    assert outcome(zoo, f"https://{HOST}/") == "tls"  # of an unknown authority


def test_the_next_address_is_tried_if_one_does_not_answer():
    zoo = Zoo({HOST: [["2606:4700::1", PUBLIC]]}, {(PUBLIC, 80): answers(page())})

    assert outcome(zoo) == "A title"
    assert zoo.reached[:2] == [("2606:4700::1", 80), (PUBLIC, 80)]


def test_a_public_address_beside_a_private_one_is_the_only_one_reached():
    zoo = Zoo({HOST: [["127.0.0.1", PUBLIC]]}, {(PUBLIC, 80): answers(page()), ("127.0.0.1", 80): answers(page())})

    assert outcome(zoo) == "A title"
    assert set(zoo.reached) == {(PUBLIC, 80)}
