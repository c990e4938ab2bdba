"""Requests through the real web server."""

import http.client
import json
import socket

import pytest

TOO_LARGE = 1_000_001


@pytest.fixture(scope="module")
def port(module_start):
    """The port of a site with demo articles, for all tests here."""
    site = module_start()
    site.wait_until_up()
    return site.port


def send_in_chunks(port, path, chunks):
    """Send a POST request without a content length; return its status and problem (or object)."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("POST", path, iter(chunks), {"Content-Type": "application/json"}, encode_chunked=True)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def test_a_chunked_body_is_read(port):
    status, view = send_in_chunks(port, "/api/views", [b'{"article', b'Id": 1', b"}"])

    assert (status, view["reason"]) == (200, "bot")


def test_a_chunked_body_has_the_same_size_limit_as_any_other(port):
    at_most = b'{"articleId": 1' + b" " * (TOO_LARGE - 17) + b"}"
    assert len(at_most) == TOO_LARGE - 1

    assert send_in_chunks(port, "/api/views", [at_most[:7], at_most[7:]])[0] == 200
    status, problem = send_in_chunks(port, "/api/views", [at_most, b" "])
    assert (status, problem["error"]["code"]) == (413, "body-too-large")


def test_a_chunked_body_must_be_json_too(port):
    status, problem = send_in_chunks(port, "/api/views", [b"articleId=1"])

    assert (status, problem["error"]["code"]) == (400, "invalid-json")


def test_a_malformed_chunk_is_a_bad_request(port):
    assert (
        raw(port, b"POST /api/views HTTP/1.1\r\nTransfer-Encoding: chunked\r\n", b"xyz\r\n{}\r\n0\r\n\r\n") == 400
    )


def test_an_address_longer_than_the_documented_limit_is_refused(port):
    assert raw(port, b"GET /api/groups?" + b"x" * 4094 + b" HTTP/1.1\r\n") == 414
    assert raw(port, b"GET /api/groups?" + b"x" * 4000 + b" HTTP/1.1\r\n") == 400


def raw(port, head, body=b""):
    """Send exactly these bytes; return the status of the response."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(
            head + b"Host: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n" + body
        )
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        return answer.status
