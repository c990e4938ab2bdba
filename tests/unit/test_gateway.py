"""From the web server's request to the application and back, without a server."""

import asyncio
import json
import threading
import time
from io import BytesIO

import pytest

from articles.api.protocol.problems import MEANINGS
from articles.domain.refusals import REFUSED_BY_SERVER
from articles.operation import ARRIVED_AT
from tests.unit.rsgi import Headers, Protocol, Scope
from voting_site.serving.workers import bodies, environ, gateway as gateways, worker
from voting_site.serving.workers.environ import CHUNK_BYTES
from voting_site.serving.workers.gateway import Gateway, PasswordForms


def echo(variables, start_response):
    """Answer with the body."""
    start_response("200 OK", [("X-Text", "caf\u00e9")])
    return [variables["wsgi.input"].read()]


def answer(scope, protocol, application=echo, patience=30.0):
    served = []
    gateway = Gateway(
        application, threads=1, patience=patience, body_bytes=100, served=lambda: served.append(protocol.status)
    )
    asyncio.run(gateway.__rsgi__(scope, protocol))
    assert served == [protocol.status]
    return protocol


def post(length=None):
    how = ("transfer-encoding", "chunked") if length is None else ("content-length", str(length))
    return Scope(Headers([("host", "localhost"), how]), method="POST")


def test_a_body_is_read_before_the_application_runs():
    assert answer(post(5), Protocol([b"he", b"llo"])).content == b"hello"
    assert answer(post(), Protocol([b"he", b"llo"])).content == b"hello"


def test_the_application_learns_when_the_request_began_to_wait_for_a_thread():
    seen = []

    def look(variables, start_response):
        seen.append(variables[ARRIVED_AT])
        return echo(variables, start_response)

    before = time.monotonic()
    answer(post(5), Protocol([b"hello"]), application=look)

    assert before <= seen[0] <= time.monotonic()


def test_no_more_of_a_body_is_read_than_shows_that_it_is_too_long():
    assert len(answer(post(), Protocol([b"x" * 80] * 1000)).content) == 101
    assert answer(post(10**9), Protocol([b"x" * 80])).content == b""


def test_a_slow_body_is_answered_with_408():
    async def slow():
        protocol = Protocol([b"x"], asyncio.Event())
        gateway = Gateway(echo, threads=1, patience=0.01, body_bytes=100, served=lambda: None)
        await gateway.__rsgi__(post(5), protocol)
        return protocol

    protocol = asyncio.run(slow())

    assert protocol.status == 408
    assert ("Connection", "close") in protocol.headers


@pytest.fixture
def fifty_bytes_at_once(monkeypatch):
    monkeypatch.setattr(bodies, "SHORT_BODY", 0)
    monkeypatch.setattr(bodies, "BYTES_AT_ONCE", 50)


@pytest.mark.usefixtures("fifty_bytes_at_once")
def test_bodies_have_a_common_limit_of_memory():
    protocol = answer(post(), Protocol([b"x" * 40, b"x" * 40]))

    assert protocol.status == 503
    assert ("Retry-After", "5") in protocol.headers


@pytest.mark.usefixtures("fifty_bytes_at_once")
def test_memory_of_bodies_is_given_back():
    async def several():
        gateway = Gateway(echo, threads=1, patience=30, body_bytes=100, served=lambda: None)
        statuses = []
        for chunk in (b"x" * 40, b"x" * 60, b"x" * 40):
            await gateway.__rsgi__(post(), protocol := Protocol([chunk]))
            statuses.append(protocol.status)
        return statuses

    assert asyncio.run(several()) == [200, 503, 200]


def test_short_bodies_are_read_however_many_long_ones_are_unfinished(monkeypatch):
    monkeypatch.setattr(bodies, "SHORT_BODY", 10)
    monkeypatch.setattr(bodies, "BYTES_AT_ONCE", 30)

    async def concurrently():
        gateway = Gateway(echo, threads=1, patience=30, body_bytes=100, served=lambda: None)
        endless = asyncio.create_task(gateway.__rsgi__(post(90), Protocol([b"x" * 40], asyncio.Event())))
        await asyncio.sleep(0)
        short, long = Protocol([b"x" * 6, b"x" * 4]), Protocol([b"x" * 11])
        for protocol in (short, long):
            await gateway.__rsgi__(post(), protocol)
        endless.cancel()
        return short.status, long.status

    assert asyncio.run(concurrently()) == (200, 503)


def test_a_failure_of_the_application_is_logged_and_answered(caplog):
    def fail(_variables, _start_response):
        raise KeyError("a fault")

    assert answer(Scope(), Protocol(), fail).status == 500
    assert "a fault" in caplog.text


def test_a_long_response_is_sent_in_parts_and_closed():
    class Content:
        closed = False

        def __iter__(self):
            yield from [b"x" * 1000] * 2000

        def close(self):
            self.closed = True

    content = Content()

    def application(_variables, start_response):
        start_response("200 OK", [])
        return content

    protocol = answer(Scope(), Protocol(), application)

    assert protocol.content == b"x" * 2_000_000
    assert len(protocol.content) > 2 * CHUNK_BYTES
    assert content.closed


def test_a_header_that_the_server_cannot_send_is_sent_as_far_as_it_can():
    assert answer(Scope(), Protocol()).headers == [("X-Text", "caf?")]


def test_the_variables_come_from_the_request_alone(monkeypatch):
    monkeypatch.setenv("HTTP_X_FORWARDED_PROTO", "https")
    headers = Headers(
        [
            *[("host", "localhost"), ("script-name", "/evil"), ("x_forwarded_for", "192.0.2.9")],
            *[("x-forwarded-for", "192.0.2.7"), ("x-forwarded-for", "192.0.2.8"), ("content-type", "text/plain")],
        ]
    )

    variables = environ.of(Scope(headers, path="/caf\u00e9/", client="[::1]:40000"), b"")

    assert (variables["SCRIPT_NAME"], variables["wsgi.url_scheme"]) == ("", "http")
    assert variables["HTTP_X_FORWARDED_FOR"] == "192.0.2.7,192.0.2.8"
    assert variables["PATH_INFO"].encode("latin-1").decode() == "/caf\u00e9/"
    assert variables["REMOTE_ADDR"] == "::1"
    assert (variables["SERVER_NAME"], variables["SERVER_PORT"]) == ("127.0.0.1", "8000")
    assert variables["CONTENT_TYPE"] == "text/plain"
    assert "HTTP_X_FORWARDED_PROTO" not in variables
    assert isinstance(variables["wsgi.input"], BytesIO)
    in_chunks = Scope(Headers([("host", "localhost"), ("transfer-encoding", "chunked")]))
    assert environ.of(in_chunks, b"body")["CONTENT_LENGTH"] == "4"


@pytest.mark.parametrize(
    ("scope", "status"),
    [
        (Scope(), None), (Scope(query_string="x" * 4_000), None), (Scope(query_string="x" * 4_090), 414),
        (Scope(path="/" + "\u4e2d" * 400), None), (Scope(path="/" + "\u4e2d" * 500), 414),
        (Scope(Headers([("host", "a"), ("x", "y" * 40_000)])), 431),
        (Scope(Headers([("host", "a"), *[(f"x-{n}", "") for n in range(100)]])), 431),
        (Scope(Headers([])), 400),
        (Scope(Headers([("host", "a"), ("host", "b")])), 400),
        (Scope(Headers([]), http_version="1.0"), None),
    ],
)  # fmt: skip
def test_requests_that_are_too_long_or_name_no_host_are_refused(scope, status):
    refusal = environ.refusal_of(scope)

    assert (refusal and refusal[0]) == status


def refused(scope):
    """Return the answer to a request that never reaches the application."""
    protocol = Protocol()
    gateway = Gateway(pytest.fail, threads=1, patience=30.0, body_bytes=100, served=lambda: None)
    asyncio.run(gateway.__rsgi__(scope, protocol))
    return protocol


@pytest.mark.parametrize(
    ("scope", "status", "code"),
    [
        (Scope(path="/api/groups", query_string="x" * 4_090), 414, "address-too-long"),
        (Scope(Headers([("host", "a"), ("x", "y" * 40_000)]), path="/api/groups"), 431, "headers-too-large"),
        (Scope(Headers([]), path="/api/groups"), 400, "bad-request"),
    ],
)
def test_under_the_api_the_servers_own_answers_are_its_errors(scope, status, code):
    protocol = refused(scope)

    error = json.loads(protocol.content)["error"]
    assert (protocol.status, error["code"]) == (status, code)
    assert error["message"].endswith(".")
    assert ("Content-Type", "application/json") in protocol.headers
    assert ("Connection", "close") in protocol.headers


def test_the_servers_own_answers_are_in_the_clients_language():
    languages = Headers([("host", "a"), ("accept-language", "xx, zh-CN;q=0.9, en;q=0.1")])

    protocol = refused(Scope(languages, query_string="x" * 4_090))

    assert protocol.content.decode() == "地址过长。\n"


def test_other_origins_can_read_the_servers_own_answers():
    for path, is_open in (("/api/articles", True), ("/feeds/newest.atom", True), ("/newest/", False)):
        headers = refused(Scope(path=path, query_string="x" * 4_090)).headers

        assert (("Access-Control-Allow-Origin", "*") in headers) is is_open, path


def test_every_answer_of_the_server_has_a_code_of_the_api():
    assert set(REFUSED_BY_SERVER.values()) <= {code for meaning in MEANINGS.values() for code in meaning.codes}


def password_form():
    scope = post(1)
    scope.path = "/login/"
    return scope


def test_pages_do_not_wait_behind_passwords():
    hashed = threading.Event()

    def application(variables, start_response):
        if variables["PATH_INFO"] == "/login/":
            assert hashed.wait(60)
        return echo(variables, start_response)

    async def several():
        forms = PasswordForms(1)
        gateway = Gateway(
            application, threads=1, patience=30, body_bytes=100, served=lambda: None, password_forms=forms
        )
        logins = [asyncio.create_task(gateway.__rsgi__(password_form(), Protocol([b"x"]))) for _ in range(5)]
        while forms.waiting < 5:
            await asyncio.sleep(0)  # let them come as far as they can
        await gateway.__rsgi__(Scope(), page := Protocol())
        waiting = forms.waiting
        hashed.set()
        await asyncio.gather(*logins)
        return page.status, waiting, forms.waiting

    assert asyncio.run(several()) == (200, 5, 0)


def test_too_many_waiting_passwords_are_refused_at_once(monkeypatch):
    monkeypatch.setattr(gateways, "MOST_WAITING", 0)
    forms = PasswordForms(1)
    gateway = Gateway(
        pytest.fail, threads=1, patience=30, body_bytes=100, served=lambda: None, password_forms=forms
    )

    asyncio.run(gateway.__rsgi__(password_form(), protocol := Protocol([b"x"])))

    assert protocol.status == 503
    assert ("Retry-After", "5") in protocol.headers
    assert b"Many people are logging in right now." in protocol.content


@pytest.mark.parametrize(
    ("path", "method", "checks"),
    [
        *((path, "POST", True) for path in ("/login/", "/signup/", "/login/second/", "/password/")),
        *((path, "POST", True) for path in ("/login/confirm/", "/password/reset/MQ/set-password/")),
        ("/logout/", "POST", True),
        *((path, "GET", False) for path in ("/login/", "/login/second/", "/settings/")),
        *((path, "POST", False) for path in ("/post/", "/articles/1/vote/", "/nowhere", "*", "", "/api/me")),
    ],
)
def test_forms_with_passwords_are_known_by_their_view(path, method, checks):
    assert gateways.checks_password(Scope(path=path, method=method)) == checks


def test_a_worker_has_as_many_threads_for_passwords_as_may_hash_at_once(monkeypatch, settings):
    made = []

    def gateway(_application, *, password_forms, **_options):
        made.append(password_forms)
        raise InterruptedError

    settings.PASSWORD_HASHES_AT_ONCE = 3
    monkeypatch.setattr(worker, "Gateway", gateway)
    with pytest.raises(InterruptedError):
        worker.Worker(echo, None, 30.0, -1, 0, 0).run()

    assert [forms.pool._max_workers for forms in made] == [3]
