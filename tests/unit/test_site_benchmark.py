"""The benchmark of the whole site: what it reads from its client, its medians and its tables."""

import gzip
import io
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bench.site import runs
from bench.site.cases import Case
from bench.site.figures import Run, figures
from bench.site.load import Load, printed, read_response
from bench.site.report import table
from bench.site.runs import Contender
from bench.site.usage import StoreCounters

PRINTED = """Running 2s test @ http://127.0.0.1:8000/
  2 threads and 16 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    74.05ms   11.33ms 101.40ms   71.23%
    Req/Sec   107.50     21.07   140.00     65.00%
  430 requests in 2.00s, 3.41MB read
Requests/sec:    214.73
Transfer/sec:      1.70MB
load requests=430 microseconds=2002500 p50=74210 p99=101400 refused=30 failures=32
"""


def run(rate: float, *, p50: float = 1.0, seconds: int = 2, **used: float) -> Run:
    load = Load(int(rate * seconds), seconds, p50, 2 * p50)
    return Run(load, counters=StoreCounters(commands=load.requests * 80, round_trips=load.requests * 2), **used)


def contender(peer: str, page: str, articles: int = 0) -> Contender:
    return Contender(peer, Case(page, [b""]), articles)


def cells(line: str) -> list[str]:
    return line.strip("| ").split(" | ")


def test_the_load_is_read_from_what_wrk_prints():
    load = printed(PRINTED)

    assert (load.requests, load.refused, load.failures, load.p50, load.p99) == (430, 30, 32, 74.21, 101.4)
    assert load.unanswered == 16
    assert load.rate == pytest.approx(400 / 2.0025)


def test_a_run_of_wrk_without_a_result_is_an_error():
    with pytest.raises(ValueError, match="no result"):
        printed("unable to connect to 127.0.0.1:8000 Connection refused")


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n", 302),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 200),
    ],
)
def test_a_response_is_read_to_its_end(sent, status):
    stream = io.BytesIO(sent + b"next")

    assert read_response(stream) == (status, False)
    assert stream.read() == b"next"


def test_the_figures_are_medians_and_the_spread_is_that_of_the_extremes():
    result = figures([run(100, p50=9), run(400, p50=5), run(200, p50=7)])

    assert (result.rate, result.slowest, result.fastest, result.p50) == (200, 100, 400, 7)
    assert result.spread == pytest.approx(0.75)
    assert (result.commands, result.round_trips) == (80, 2)


def test_what_the_server_does_for_unanswered_requests_counts_as_theirs():
    result = figures(
        [Run(Load(84, 1, 1, 2, unanswered=16), counters=StoreCounters(commands=200, round_trips=100))]
    )

    assert (result.rate, result.commands, result.round_trips) == (84, 2, 1)


def test_cpu_time_is_that_of_one_request():
    result = figures([run(100, seconds=2, web_cpu=1.6, store_cpu=0.1)])

    assert (result.web_ms, result.store_ms) == pytest.approx((8, 0.5))


def test_the_table_compares_each_page_with_the_bare_view():
    results = {
        contender("hello", "hello"): figures([run(4000, share=1)]),
        contender("hello", "hello, member"): figures([run(1000, share=0.25)]),
        contender("site", "front page", 1000): figures(
            [run(200, share=0.4), run(200, share=0.5), run(200, share=2)]
        ),
        contender("site", "front page, member", 1000): figures([run(200, share=0.1)]),
    }

    columns, _rule, hello, _of_members, front, member = table.all_figures(results).splitlines()

    shares = dict(zip(cells(columns), cells(front), strict=True))
    assert shares["× hello"] == "0.500"
    assert shares["articles"] == "1,000"
    assert shares["round trips"] == "2.0"
    assert shares["× hello, member"] == "–"
    assert dict(zip(cells(columns), cells(member), strict=True))["× hello, member"] == "0.400"
    assert dict(zip(cells(columns), cells(hello), strict=True))["× hello"] == "1.00"


def test_a_page_is_compared_with_the_bare_view_just_before_and_after(monkeypatch):
    bare, page = contender("hello", "hello"), contender("site", "front page", 1000)
    rates = iter([1000, 100, 3000, 2000, 300, 4000])
    monkeypatch.setattr(runs, "run_once", lambda *_: run(next(rates)))
    server = runs.Server(0, list)

    done = runs.Rounds(bare, {bare: server, page: server}, rounds=2, seconds=2).run(float("inf"))

    assert [one.share for one in done[page]] == [0.05, 0.1]
    assert [one.share for one in done[bare]] == [1, 1]


def test_no_round_begins_that_would_end_too_late(monkeypatch):
    bare, page = contender("hello", "hello"), contender("site", "front page", 1000)
    monkeypatch.setattr(runs, "run_once", lambda *_: run(100))
    server = runs.Server(0, list)

    done = runs.Rounds(bare, {bare: server, page: server}, rounds=5, seconds=2).run(0.0)

    assert {one: len(of) for one, of in done.items()} == {bare: 1, page: 1}


class Pages(BaseHTTPRequestHandler):
    """Answers /page with a packed page after one refusal, and sends everyone else to the login."""

    refusals = 1

    def do_GET(self):
        self.send_response(302)
        self.send_header("Location", "/login/")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self):
        type(self).refusals, refused = 0, self.refusals
        content = gzip.compress(b"Log out")
        self.send_response(503 if refused else 200)
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        """Print nothing."""


@pytest.fixture
def pages():
    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield runs.Server(server.server_port, list)
        server.shutdown()
        thread.join()
