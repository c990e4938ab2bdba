#!/usr/bin/env python3
"""Ballot records: time to make them, bytes a ballot, and a recount by tools/verify_ballots.py over HTTP.

    python -m bench.ballots [--articles N] [--votes N]

Makes `--articles` small articles and one with `--votes` votes, closes them, and records them. Uses a temporary
store and database.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from wsgiref.simple_server import WSGIRequestHandler, make_server

from tqdm import tqdm

from bench.lib.stores import repository_at
from voting_site.embedded import StorePaths, Supervisor

DAY = 86400
VOTES_OF_SMALL = 10


class Quiet(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def fill(repository: object, articles: int, votes: int) -> None:
    """Post the articles, and let accounts vote on them."""
    from accounts.models import User
    from articles.domain.articles import Choice

    User.objects.bulk_create(
        (User(pk=n, username=f"member{n}", canonical_name=f"member{n}") for n in range(1, votes + 1)),
        batch_size=500,
    )
    for number in tqdm(range(articles + 1), desc="articles", leave=False):
        link = f"https://example.org/{number}"
        article = repository.articles.post(number % votes + 1, "member", f"Article {number}", link, ()).id
        for n in range(votes if number == articles else VOTES_OF_SMALL):
            voter = (number * 7 + n) % votes + 1
            repository.votes.cast(article, voter, Choice.OPPOSE if n % 5 == 4 else Choice.VOTE)


def at(repository: object, days_ago: int) -> None:
    """Let the store's clock show a time before now: days must have ended for those who recount."""
    then = time.time() - days_ago * DAY
    repository.store._clock = lambda: then
    repository.clock.accept()


def measure(repository: object, articles: int) -> None:
    from django.core.handlers.wsgi import WSGIHandler

    from integrity.ballots import Record
    from integrity.models import BallotRecord
    from integrity.recording import record_closed

    at(repository, 2)
    began = time.perf_counter()
    made = record_closed(repository, 3600)
    took = time.perf_counter() - began
    assert made == articles + 1, made
    at(repository, 0)
    record_closed(repository, 60)
    sizes = {row.article_id: len(row.ballots) for row in BallotRecord.objects.all()}
    largest = max(sizes, key=sizes.get)
    record = Record.unpacked(bytes(BallotRecord.objects.get(article_id=largest).ballots))
    ballots = sum(json.loads(head)["ballots"] for head in BallotRecord.objects.values_list("head", flat=True))
    print(f"{made:,} records with {ballots:,} ballots made in {took:.1f} s: {1000 * took / made:.1f} ms a record")
    print(
        f"largest: {len(record.ballots):,} ballots, {sizes[largest] / len(record.ballots):.1f} bytes each; ",
        end="",
    )
    small = [size for article, size in sizes.items() if article != largest]
    print(f"small ones: {sum(small) / len(small):.0f} bytes each")
    began = time.perf_counter()
    found = Record.unpacked(bytes(BallotRecord.objects.get(article_id=largest).ballots))
    found.path(found.find(record.ballots[-1].commitment) or 0)
    print(f"proof of a ballot in the largest: {1000 * (time.perf_counter() - began):.0f} ms")

    with make_server("127.0.0.1", 0, WSGIHandler(), handler_class=Quiet) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        began = time.perf_counter()
        script = [sys.executable, "tools/verify_ballots.py", f"http://127.0.0.1:{server.server_port}"]
        print(subprocess.run(script, capture_output=True, text=True, check=True).stdout.strip())
        print(f"recounted in {time.perf_counter() - began:.1f} s")
        server.shutdown()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--articles", type=int, default=1_000)
    parser.add_argument("--votes", type=int, default=20_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        os.environ |= {"DJANGO_SETTINGS_MODULE": "voting_site.settings", "DATA_DIR": folder, "LIMITS": "off"}
        os.environ |= {"LOG_LEVEL": "ERROR", "ALLOWED_HOSTS": "127.0.0.1"}
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        supervisor = Supervisor(StorePaths(Path(folder)))
        supervisor.start(30)
        try:
            repository = repository_at(StorePaths(Path(folder)))
            repository.prepare()
            at(repository, 10)
            fill(repository, arguments.articles, arguments.votes)
            measure(repository, arguments.articles)
        finally:
            supervisor.stop()


if __name__ == "__main__":
    main()
