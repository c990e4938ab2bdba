"""The model of how large the site gets: its fits, what it computes, and that docs/scaling.md says the same."""

import math
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from bench.load_model import client, figures, report, spread
from bench.load_model.day import Day, fit_exponent, read_day, shares, zipf
from bench.load_model.mix import KEPT, PAGES, REPLAYED
from bench.load_model.model import Cost, Costs, Sample, fit, memory, proportional, renders
from bench.load_model.plan import Load, Machines, plan, sum_of_powers
from bench.load_model.traffic import Sent, Traffic
from bench.site.cases import request
from bench.site.content import Content

PAGE = (Path(__file__).parents[2] / "docs" / "scaling.md").read_text("utf-8")


def sample(articles, shards=1, *, list_ms=0.5):
    """A site on which a list takes some time for each shard."""
    fresh = dict.fromkeys(REPLAYED, Cost(5.0, list_ms, 10, 2, 6000))
    fresh["front page"] = fresh["front page, member"] = Cost(5.0, list_ms + 0.02 * (shards - 1), 10, 2, 6000)
    kept = dict.fromkeys(KEPT, Cost(0.1, 0.0, 0, 0, 6000))
    return Sample(articles, shards, fresh, kept, 400 + 1e6 / articles)


SAMPLES = [
    sample(100),
    sample(10_000),
    sample(1_000_000),
    sample(10_000, 16),
]
COSTS, MEMORY = Costs(SAMPLES), memory(SAMPLES, read=500, vote=100)
DAY = Day(shares([1.0] * 12 + [2.0] * 12), 1.0, "")


def planned(articles=1_000_000, votes=10.0, pages=1_000.0, machines=None, **more):
    return plan(Load(articles, votes, pages, **more), COSTS, MEMORY, DAY, machines or Machines())


# Shards and nodes


def test_the_shards_of_each_node_follow_from_the_slots_of_their_tags():
    assert spread.shards_by_node(16, 3) == [6, 4, 6]
    assert spread.shards_by_node(48, 3) == [17, 15, 16]
    assert spread.shards_by_node(1, 3).count(1) == 1


@pytest.mark.parametrize("shards", [4, 8, 12, 16, 32, 48, 64])
def test_any_multiple_of_four_spreads_evenly_over_four_nodes(shards):
    assert spread.shards_by_node(shards, 4) == [shards // 4] * 4


def test_each_of_three_nodes_has_an_even_share_of_48_shards_within_a_tenth():
    shares = [count / 48 * 3 for count in spread.shards_by_node(48, 3)]
    assert all(0.9 <= share <= 1.1 for share in shares)


def test_shards_that_are_moved_by_hand_differ_by_one_at_most():
    assert spread.even_share(16, 3) == 6 / 16
    assert spread.even_share(48, 3) == 16 / 48
    assert spread.even_share(5, 8) == 1 / 5


def test_the_page_shows_the_table_of_shards():
    assert spread.table() in PAGE


# A day


def test_the_day_has_figures_without_the_data(tmp_path):
    day = read_day(None)

    assert read_day(tmp_path) == day
    assert len(day.hours) == 24
    assert sum(day.hours) == pytest.approx(1)
    assert 1.5 < day.peak < 1.7


def test_the_figures_of_the_day_are_those_of_the_data(shared_dir):
    day, figures_of_it = read_day(shared_dir / "data"), read_day(None)

    assert day.hours == figures_of_it.hours
    assert day.exponent == pytest.approx(figures_of_it.exponent, abs=0.005)


def test_the_exponent_of_zipfs_law_is_recovered_from_counts():
    assert fit_exponent([round(1e6 / rank**0.8) for rank in range(1, 500)]) == pytest.approx(0.8, abs=0.001)
    assert zipf(3, 1.0) == pytest.approx([6 / 11, 3 / 11, 2 / 11])


@pytest.mark.parametrize("exponent", [0.94, 1.0])
def test_the_sum_of_many_ranks_is_that_of_the_law(exponent):
    exact = sum(rank**-exponent for rank in range(10_001, 100_001))

    assert sum_of_powers(100_000, exponent) - sum_of_powers(10_000, exponent) == pytest.approx(exact, rel=0.001)


def test_a_day_sends_more_in_its_busy_hours_and_never_the_same_vote_twice():
    content = Content(1000, [f"s{n}" for n in range(200)], [], ["cookie"], list(range(1, 201)), 0.0)

    sent = list(Traffic(content, DAY, "day").day(DAY.hours, 6_000, 24.0))

    assert 5_500 < len(sent) < 6_500
    assert [one.due for one in sent] == sorted(one.due for one in sent)
    assert 1.7 < sum(one.due >= 12 for one in sent) / sum(one.due < 12 for one in sent) < 2.3
    assert {one.kind for one in sent} == set(REPLAYED)
    votes = [one.content for one in sent if one.kind == "vote"]
    assert len(votes) == len(set(votes)) > 300


def test_a_vote_of_one_phase_is_not_repeated_in_another():
    content = Content(1000, [f"s{n}" for n in range(200)], [], ["cookie"], list(range(1, 201)), 0.0)

    first, second = (
        {one.content for one in Traffic(content, DAY, seed).alone("vote", 1_000, 2.0)} for seed in ("alone", "day")
    )

    assert first
    assert not first & second


def test_the_shares_of_pages_add_up():
    assert sum(PAGES.values()) == pytest.approx(1)
    assert set(KEPT) <= set(PAGES)


# Costs


def test_a_fit_recovers_a_line_and_is_never_negative():
    points = [(articles, 2.0 + 0.001 * articles) for articles in (1_000, 10_000, 100_000)]

    assert fit(points, proportional) == pytest.approx((2.0, 0.001))
    assert fit([(1, 3.0), (10, 2.0)], math.log)[1] == 0
    assert fit([(1, 0.1), (10, 10.0)], proportional)[0] == 0


def test_costs_at_the_measured_sizes_are_those_that_were_measured():
    for one in SAMPLES:
        for kind in ("front page", "search"):
            expected, cost = one.fresh[kind], COSTS.fresh(kind, one.articles, one.shards)
            assert (cost.web_ms, cost.store_ms) == pytest.approx((expected.web_ms, expected.store_ms), rel=0.001)


def test_a_list_grows_with_the_shards():
    assert COSTS.fresh("front page", 1e9).store_ms == pytest.approx(0.5)
    assert COSTS.fresh("front page", 1e6, 48).store_ms == pytest.approx(0.5 + 47 * 0.02)
    noisy = replace(SAMPLES[3], fresh={**SAMPLES[3].fresh, "vote": Cost(9.0, 9.0)})
    assert Costs([*SAMPLES[:3], noisy]).fresh("vote", 1e6, 48).store_ms == pytest.approx(0.5), "one shard's work"


def test_a_page_is_rendered_once_a_second_by_each_process_at_most():
    assert renders([0.001], 2) == pytest.approx(0.001, rel=0.01)
    assert renders([1e6], 2) == pytest.approx(2, rel=0.01)
    assert renders([10.0], 2) < renders([10.0], 8) < 10


def test_a_page_that_is_read_often_costs_little():
    seldom = COSTS.of_rates({"front page": 1.0}, [1.0], 2, 1e5, 1)
    often = COSTS.of_rates({"front page": 1000.0}, [1.0], 2, 1e5, 1)

    assert seldom.web_ms > 3
    assert often.web_ms < 120


def test_memory_is_a_fixed_part_and_one_for_each_article():
    assert MEMORY.of_articles(1e8) == pytest.approx(400e8 + 1e6)


# Machines


def test_a_small_site_is_one_machine_of_each_kind():
    small = planned(articles=1_000, pages=100.0)

    assert (small.web_nodes, small.primaries, small.shards) == (1, 1, 1)


def test_more_votes_need_more_nodes_and_more_memory_for_voters():
    few, many = planned(), planned(votes=5_000.0)

    assert many.primaries > few.primaries == 1
    assert many.shards > many.primaries
    assert many.votes_gb == pytest.approx(500 * few.votes_gb)
    assert many.price > few.price
    assert many.votes_gb == pytest.approx(5_000 / DAY.peak * 86400 * 9 * 100 / 1e9)


def test_a_cluster_has_at_least_three_nodes():
    plans = [planned(votes=votes) for votes in range(0, 4_000, 200)]

    assert {1, 3} < {of.primaries for of in plans}
    assert 2 not in {of.primaries for of in plans}


def test_requests_that_are_sent_by_address_share_kept_pages():
    by_address = planned(pages=50_000.0)
    anywhere = planned(pages=50_000.0, by_address=False)

    assert anywhere.web_cores > 1.2 * by_address.web_cores


def test_prices_are_arguments():
    dear = Machines(core_price=40.0, gb_price=6.0)

    assert planned(machines=dear).price == pytest.approx(2 * planned().price)


# What was measured, and the page


def test_a_file_of_figures_is_read_as_it_was_written(tmp_path):
    written = replace(figures.load(), samples=SAMPLES)
    figures.save(written, tmp_path / "figures.json")

    assert figures.load(tmp_path / "figures.json") == written


def test_the_page_shows_the_tables_of_the_figures():
    measured, day = figures.load(), read_day(None)

    assert report.plans(measured, day, Machines()) in PAGE
    assert report.memories(measured).partition("\n\n")[0] in PAGE
    assert report.costs(measured.samples[1:2]) in PAGE
    assert report.checks(measured.checks) in PAGE


def test_the_model_predicts_the_days_that_were_measured():
    for check in figures.load().checks:
        assert check.failures == 0
        for figure in ("web_ms", "store_ms", "commands", "bytes"):
            assert 0.6 < getattr(check.predicted, figure) / getattr(check.measured, figure) < 1.6


# The client


class Closing(BaseHTTPRequestHandler):
    """Answers /last with its connection's last answer, closes the connection of /cut without one, refuses /no."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.close_connection = self.path in ("/last", "/cut")
        if self.path != "/cut":
            self.send_response(403 if self.path == "/no" else 200)
            self.send_header("Content-Length", "0")
            if self.path == "/last":
                self.send_header("Connection", "close")
            self.end_headers()

    def log_message(self, *_):
        """Print nothing."""


def test_requests_fail_if_they_are_refused_or_cut_and_not_if_they_are_the_last_of_a_connection():
    with ThreadingHTTPServer(("127.0.0.1", 0), Closing) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        sent = [Sent(0.0, path, request(path)) for path in ("/", "/last", "/cut", "/no") for _ in range(20)]
        answers = client.send(server.server_port, sent)
        server.shutdown()
        thread.join()

    assert {path: (len(of.latencies), of.failures) for path, of in answers.items()} == {
        "/": (20, 0),
        "/last": (20, 0),
        "/cut": (20, 20),
        "/no": (20, 20),
    }
