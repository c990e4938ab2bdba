"""Fills sites of several sizes, measures each, and replays a day on each."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.load_model import measuring, memory
from bench.load_model.day import Day, zipf
from bench.load_model.figures import Check, Figures
from bench.load_model.measuring import Replayed
from bench.load_model.mix import KEPT, REPLAYED
from bench.load_model.model import Cost, Costs, Sample
from bench.load_model.traffic import READ, Traffic
from bench.site.contenders import filled
from bench.site.servers import site

WORKERS = 2
"""Web processes of the site by default."""

SHARDS_OF_A_CLUSTER = 16

_PATIENT = {"STORE_TIMEOUT_MS": "5000"}
"""Settings for busy machines, where a search takes long; refused ones would not be measured."""

REQUESTS = 1500


@dataclass(frozen=True, slots=True)
class Options:
    """`seconds`: of each kind of request, and of a day. `requests`: of a day."""

    sizes: Sequence[int]
    seconds: float = 1.5
    day_seconds: float = 24.0
    requests: int = REQUESTS


def run(folder: Path, options: Options, day: Day, deadline: float) -> Figures:
    """Measure every size with one shard, and the one in the middle with several.

    No size begins after `deadline` (monotonic) less the time that the one before took; two are measured anyway.
    """
    middle = sorted(options.sizes)[(len(options.sizes) - 1) // 2]
    turns = [(size, 1) for size in sorted(options.sizes)] + [(middle, SHARDS_OF_A_CLUSTER)]
    samples, days, took = list[Sample](), list[tuple[Sample, Replayed]](), 0.0
    for articles, shards in turns:
        began = time.monotonic()
        if len(samples) > 1 and began + took > deadline:
            print(f"Not measured for want of time: {articles:,} articles on {shards} shards.")
            continue
        sample, replayed = _measure(folder / f"{articles}-{shards}", articles, shards, options, day)
        samples.append(sample)
        days.append((sample, replayed))
        took = time.monotonic() - began
    model = Costs(samples)
    return Figures(samples, memory.measure(), [_check(model, sample, replayed, day) for sample, replayed in days])


def _measure(folder: Path, articles: int, shards: int, options: Options, day: Day) -> tuple[Sample, Replayed]:
    """Measure pages rendered for each request, then kept ones, then a day."""
    own = {"STORE_SHARDS": str(shards), "WEB_WORKERS": str(WORKERS), "TICK_SECONDS": "600"} | _PATIENT
    content = filled(folder, articles, **own)
    with site(folder, **own, RECENT_PAGES="off") as server:
        resting = measuring.idle(server)
        fresh = measuring.costs(
            server, Traffic(content, day, "alone"), REPLAYED, options.seconds, resting, are_kept=False
        )
    with site(folder, **own) as server:
        resting = measuring.idle(server)
        kept = measuring.costs(
            server, Traffic(content, day, "kept", read=1), KEPT, options.seconds, resting, are_kept=True
        )
        replayed = measuring.replay(
            server, Traffic(content, day, "day"), day, options.requests, options.day_seconds
        )
    used = measuring.without(replayed.used, resting)
    sample = Sample(articles, shards, fresh, kept, content.memory_per_article)
    return sample, Replayed(used, replayed.answers, replayed.hours, replayed.seconds)


def _check(model: Costs, sample: Sample, replayed: Replayed, day: Day) -> Check:
    """Compare the model's prediction for the day with the measurement."""
    weights = zipf(min(READ, sample.articles), day.exponent)
    length, predicted = replayed.seconds / len(replayed.hours), Cost()
    for hour in replayed.hours:
        rates = {kind: count / length for kind, count in hour.items()}
        needed = model.of_rates(rates, weights, WORKERS, sample.articles, sample.shards)
        predicted += needed.times(length)
    every = [latency for answers in replayed.answers.values() for latency in answers.latencies]
    content = sum(answers.bytes for answers in replayed.answers.values())
    ordered = sorted(every)
    return Check(
        sample.articles,
        sample.shards,
        predicted,
        replayed.used.cost(1, content),
        ordered[len(ordered) // 2],
        ordered[int(0.99 * len(ordered))],
        sum(answers.failures for answers in replayed.answers.values()),
    )
