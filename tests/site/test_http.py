"""What the web server makes of HTTP: bytes in, bytes out, through real sockets."""

import http.client
import json
import socket
from contextlib import closing

import pytest

HOST = b"Host: localhost\r\n"
MOST_BYTES = 1_000_000


@pytest.fixture(scope="module")
def site(module_start):
    """A site with articles, for all tests here."""
    site = module_start()
    site.wait_until_up()
    return site


def exchange(site, request):
    """Send exactly these bytes; return everything that comes until the connection is closed."""
    with socket.create_connection(("127.0.0.1", site.port), timeout=60) as link:
        link.sendall(request)
        parts = []
        while part := link.recv(65536):
            parts.append(part)
    return b"".join(parts)


def status_of(site, request):
    return int(exchange(site, request).split(b" ", 2)[1])


def get(path, *headers):
    return b"".join([b"GET ", path, b" HTTP/1.1\r\n", HOST, b"Connection: close\r\n", *headers, b"\r\n"])


def test_a_connection_serves_several_requests(site):
    with closing(http.client.HTTPConnection("127.0.0.1", site.port, timeout=60)) as link:
        link.request("GET", "/healthz")
        assert link.getresponse().read() == b"alive\n"
        peer = link.sock.getsockname()
        link.request("GET", "/healthz")
        assert link.getresponse().read() == b"alive\n"
        assert link.sock.getsockname() == peer


def test_head_has_the_length_and_no_body(site):
    head, _, body = exchange(site, get(b"/").replace(b"GET", b"HEAD")).partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 200")
    assert body == b""
    assert b"transfer-encoding" not in head.lower()


def test_a_client_that_expects_100_continue_gets_it(site):
    with socket.create_connection(("127.0.0.1", site.port), timeout=60) as link:
        head = b"POST /api/views HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\nContent-Length: 16\r\n"
        link.sendall(head + b"Expect: 100-continue\r\nConnection: close\r\n\r\n")
        assert link.recv(1000).startswith(b"HTTP/1.1 100")
        link.sendall(b'{"articleId": 1}')
        assert link.recv(1000).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    "headers",
    [
        b"Content-Length: 5\r\nContent-Length: 6\r\n", b"Content-Length: -1\r\n", b"Content-Length: 1_0\r\n",
        b"Content-Length: x\r\n", b"Transfer-Encoding: identity\r\n",
        b"Transfer-Encoding: chunked, identity\r\n", b"No-Colon\r\n", b"Two Words: x\r\n",
        b"Space : x\r\n", b"Nul: a\0b\r\n",
    ],
)  # fmt: skip
def test_an_ambiguous_request_is_refused_and_its_connection_closed(site, headers):
    answer = exchange(site, b"POST /healthz HTTP/1.1\r\n" + HOST + headers + b"\r\nxxxxx" + get(b"/healthz"))

    assert answer.startswith(b"HTTP/1.1 400")
    assert answer.count(b"HTTP/1.1") == 1


def in_chunks(site, *chunks):
    """Send a JSON body without a length to the API; return the status and what it says."""
    headers = {"Content-Type": "application/json"}
    with closing(http.client.HTTPConnection("127.0.0.1", site.port, timeout=60)) as link:
        link.request("POST", "/api/views", iter(chunks), headers, encode_chunked=True)
        answer = link.getresponse()
        return answer.status, json.loads(answer.read())


def test_a_body_in_chunks_is_read_and_limited_as_any_other(site):
    whole = b'{"articleId": 1' + b" " * (MOST_BYTES - 16) + b"}"
    assert len(whole) == MOST_BYTES

    status, view = in_chunks(site, b'{"article', b'Id": 1', b"}")
    assert (status, view["reason"]) == (200, "bot")
    assert in_chunks(site, whole[:7], whole[7:])[0] == 200
    for chunks, expected in (((whole, b" "), (413, "body-too-large")), ((b"articleId=1",), (400, "invalid-json"))):
        status, answer = in_chunks(site, *chunks)
        assert (status, answer["error"]["code"]) == expected


def test_a_malformed_chunk_is_a_bad_request(site):
    head = b"POST /api/views HTTP/1.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n" + HOST

    assert status_of(site, head + b"\r\nxyz\r\n{}\r\n0\r\n\r\n") == 400


def test_a_length_beside_chunks_does_not_hide_a_request(site):
    both = b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"
    answer = exchange(site, b"POST /healthz HTTP/1.1\r\n" + HOST + both + b"\r\n0\r\n\r\n" + get(b"/healthz"))

    assert answer.count(b"HTTP/1.1") <= 2
    assert b"HTTP/1.1 5" not in answer


@pytest.mark.parametrize(
    ("request_line", "headers", "status"),
    [
        (b"/?" + b"x" * 70_000, b"", 414), (b"/?" + b"x" * 5_000, b"", 414),
        (b"/" + b"%C3%A9" * 700, b"", 414), (b"/api/groups?" + b"x" * 4_094, b"", 414),
        (b"/api/groups?" + b"x" * 4_000, b"", 400), (b"/", b"Long: " + b"x" * 64_000 + b"\r\n", 431),
        (b"/", b"Long: " + b"x" * 200_000 + b"\r\n", 431),
        (b"/", b"".join(b"X-%d: 1\r\n" % n for n in range(101)), 431),
        (b"/", b"Cookie: " + b"; ".join(b"c%d=1" % n for n in range(5_000)) + b"\r\n", 431),
        (b"/?" + b"&".join(b"p%d=1" % n for n in range(10_000)), b"", 414),
    ],
)  # fmt: skip
def test_over_long_requests_are_refused_and_the_workers_stay(site, request_line, headers, status):
    assert status_of(site, get(request_line, headers)) == status
    assert status_of(site, get(b"/healthz")) == 200


@pytest.mark.parametrize(
    ("query", "headers", "status", "code"),
    [
        (b"?q=" + b"x" * 5_000, b"", 414, "address-too-long"),
        (b"", b"Long: " + b"x" * 40_000 + b"\r\n", 431, "headers-too-large"),
    ],
)
def test_over_long_requests_of_the_api_are_answered_with_its_error(site, query, headers, status, code):
    answer = exchange(site, get(b"/api/search" + query, headers))

    assert answer.startswith(b"HTTP/1.1 %d " % status)
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"] == code


def test_a_form_with_ten_thousand_fields_is_refused(site):
    body = b"&".join(b"p%d=1" % n for n in range(10_000))
    head = get(b"/login/", b"Content-Type: application/x-www-form-urlencoded\r\n").replace(b"GET", b"POST")[:-2]

    assert 400 <= status_of(site, head + b"Content-Length: %d\r\n\r\n" % len(body) + body) < 500


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (b"/%FF%FE/", 404), (b"/articles/%2F/", 404), (b"/a\xff/", 404), (b"/%00/", 404), (b"//", 301),
        (b"/../etc/passwd", 404), (b"/%C2%A0/", 404), (b"http://localhost/healthz", 200),
    ],
)  # fmt: skip
def test_odd_addresses_are_answered(site, path, status):
    assert status_of(site, get(path)) in (status, 400 if status == 404 else status)


def test_an_unknown_host_is_refused_however_it_is_sent(site):
    other = b"Host: evil.example\r\n"
    assert status_of(site, get(b"/").replace(HOST, other)) == 400
    assert status_of(site, get(b"http://evil.example/")) in (200, 400)
    assert status_of(site, get(b"/").replace(HOST, b"")) == 400
    assert status_of(site, get(b"/").replace(HOST, other + HOST)) == 400
    assert status_of(site, b"GET /healthz HTTP/1.0\r\n\r\n") == 200, "that version has none"


@pytest.mark.parametrize(
    "header",
    [
        b"X_Forwarded_For: 192.0.2.1\r\n",
        b"Script_Name: /evil\r\n",
        b"SCRIPT-NAME: /evil\r\n",
        b"Remote-Addr: 192.0.2.1\r\n",
    ],
)
def test_no_header_becomes_a_variable_of_the_server(site, header):
    answer = exchange(site, get(b"/metrics", header))

    assert answer.startswith(b"HTTP/1.1 200"), "the reader is still this machine, without a proxy"
    assert b"/evil" not in exchange(site, get(b"/", header))


def test_a_repeated_header_is_joined(site):
    languages = b"Accept-Language: zh-hans\r\nAccept-Language: en;q=0.1\r\n"

    assert b'lang="zh-' in exchange(site, get(b"/", languages))


def test_a_long_response_is_sent_whole(site):
    status, page = site.get("/api/openapi.json")

    assert status == 200
    assert json.loads(page)["paths"]


def test_logs_stay_single_lines_whatever_a_client_sends(site):
    exchange(site, get(b"/api/none%0Aforged"))
    exchange(site, b"\x16\x03\x01\x02\x00\x01\xfc\r\n\r\n")

    assert "\nforged" not in site.told()
    assert "Traceback" not in site.told()
