#!/usr/bin/env python3
"""Votes a second while 1,000 deliveries of webhooks a minute are sent, beside none.

    python -m bench.webhooks [--rounds N]

Votes go through all middleware, as members with tokens send them. Another process adds deliveries and sends them,
as housekeeping does, over loopback to a third one. Rounds of ten seconds with and without deliveries take turns;
prints the medians and their ratio. Uses a temporary store and temporary accounts.
"""

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.feeds import fill
from bench.lib.stores import empty_store

A_SECOND, SECONDS = 17, 10
MEMBERS, ARTICLES = 50, 2000

RECEIVE = """
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()
    def log_message(self, *_):
        pass
server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_address[1], flush=True)
server.serve_forever()
"""

DELIVER = f"""
import sys, time
import django; django.setup()
from accounts.models import Delivery, Webhook
from tasks import OUT, work_off
from webhooks import sending
webhook = Webhook.objects.get()
for _line in sys.stdin:
    began = time.monotonic()
    for second in range({SECONDS}):
        for _ in range({A_SECOND}):
            sending.test(webhook)
        work_off(OUT)
        time.sleep(max(0, began + second + 1 - time.monotonic()))
    print(Delivery.objects.filter(state="done").count(), flush=True)
"""
"""Adds and sends deliveries for some seconds, for each line."""


def voting(tokens: list[str]) -> "itertools.chain[float]":
    """Cast votes without end; yield the time after each."""
    from django.core.handlers.wsgi import WSGIHandler
    from django.test import RequestFactory

    handler = WSGIHandler()
    for number, token in itertools.product(range(1, ARTICLES + 1), tokens):
        request = RequestFactory(headers={"authorization": f"Bearer {token}"}).put(
            f"/api/articles/{number}/vote",
            json.dumps({"choice": "vote"}),
            "application/json",
            HTTP_HOST="localhost",
        )
        answers = list[str]()
        handler(request.environ, lambda status, _headers, said=answers: said.append(status))
        assert answers == ["200 OK"], answers
        yield time.monotonic()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        own = {"DATA_DIR": folder, "RATE_LIMITS": "off", "WEBHOOK_HOSTS": "127.0.0.1", "LOG_LEVEL": "ERROR"}
        os.environ |= {"DJANGO_SETTINGS_MODULE": "voting_site.settings"} | own
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        with empty_store(Path(folder)) as repository:
            print(measure(repository, arguments.rounds))


def measure(repository: object, rounds: int) -> str:
    from accounts.models import Token, User, Webhook

    User.objects.bulk_create(
        User(pk=n, username=f"member{n}", canonical_name=f"member{n}") for n in range(1, MEMBERS + 1)
    )
    tokens = [Token.objects.issue(one, "bench")[1] for one in User.objects.all()]
    fill(repository, ARTICLES, a_day=ARTICLES)
    options = {"text": True, "stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    receiver = subprocess.Popen([sys.executable, "-c", RECEIVE], **options)
    port = receiver.stdout.readline().strip()
    facts = {"form": "standard", "events": "article.posted", "since": time.time()}
    Webhook.objects.add(None, f"http://127.0.0.1:{port}/", "127.0.0.1", **facts)
    deliverer = subprocess.Popen([sys.executable, "-c", DELIVER], **options)
    try:
        rates: dict[bool, list[float]] = {False: [], True: []}
        votes, delivered = voting(tokens), 0
        for _round, sends in itertools.product(range(rounds), (False, True)):
            if sends:
                deliverer.stdin.write("\n")
                deliverer.stdin.flush()
            began = next(votes)
            count = sum(1 for _at in itertools.takewhile(lambda at, end=began + SECONDS: at < end, votes))
            rates[sends].append(count / SECONDS)
            if sends:
                delivered = int(deliverer.stdout.readline())
    finally:
        for one in (receiver, deliverer):
            one.kill()
            one.wait()
    without, beside = (statistics.median(rates[sends]) for sends in (False, True))
    return (
        f"votes a second: {without:.0f} without, {beside:.0f} with {60 * A_SECOND:,} deliveries a minute "
        f"({delivered:,} arrived): {beside / without:.2f} ×"
    )


if __name__ == "__main__":
    main()
