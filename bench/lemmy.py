#!/usr/bin/env python3
"""Processor time of a page of articles for apps (Lemmy's API), beside the same page of the site's own API.

    python -m bench.lemmy [--articles N]

Uses a temporary store and temporary accounts. Both are asked in turn through all middleware, as a reader and as a
member with a token, 25 articles each; prints the median in milliseconds, and the ratio.
"""

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

from bench.feeds import fill
from bench.lib.stores import empty_store

ROUNDS = 300
PATHS = {"own": "/api/articles", "apps": "/api/v3/post/list?limit=25"}


def measure(token: str) -> dict[str, float]:
    """Return the median time of each, in milliseconds."""
    from django.core.handlers.wsgi import WSGIHandler
    from django.test import RequestFactory

    handler, answers = WSGIHandler(), []
    headers = {"authorization": f"Bearer {token}"} if token else {}
    times: dict[str, list[float]] = {name: [] for name in PATHS}
    for _round in range(ROUNDS):
        for name, path in PATHS.items():
            environ = RequestFactory(headers=headers).get(path, HTTP_HOST="localhost").environ
            began = time.process_time()
            handler(environ, lambda status, _headers: answers.append(status))
            times[name].append(1000 * (time.process_time() - began))
    assert {*answers} == {"200 OK"}, {*answers}
    return {name: statistics.median(taken) for name, taken in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--articles", type=int, default=10_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        own = {"DATA_DIR": folder, "RATE_LIMITS": "off", "LEMMY_API": "on"}
        os.environ |= {"DJANGO_SETTINGS_MODULE": "voting_site.settings"} | own
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        with empty_store(Path(folder)) as repository:
            from accounts.models import Token, User

            User.objects.bulk_create(
                User(pk=n, username=f"member{n}", canonical_name=f"member{n}") for n in range(1, 1001)
            )
            fill(repository, arguments.articles, a_day=300)
            token = Token.objects.issue(User.objects.get(pk=1), "bench")[1]
            print("| who | own API, ms | apps, ms | ratio |\n| --- | --- | --- | --- |")
            for who, sent in (("a reader", ""), ("a member with a token", token)):
                found = measure(sent)
                print(f"| {who} | {found['own']:.2f} | {found['apps']:.2f} | {found['apps'] / found['own']:.2f} |")


if __name__ == "__main__":
    main()
