"""A discussion of many comments under a crowd of readers and writers: times of answers, and exact counts.

    python -m bench.discussions.crowd [--comments N] [--readers N] [--writers N] [--seconds N]

Starts the site as its operator does, in a temporary directory. Each reader is logged in and opens the page of the
article about once a second; each writer as often posts a reply by the API. At the end the article's count and its
comments are compared with what was confirmed, and the audit runs.
"""

import argparse
import http.client
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import NamedTuple

from bench.site.processes import free_port, running

_PAUSE_SECONDS = 1.0
_START_SECONDS = 60.0


class Answer(NamedTuple):
    """The status of an answer, the seconds it took, and its content."""

    status: int
    seconds: float
    content: bytes


def ask(port: int, method: str, path: str, headers: dict[str, str], body: str | None = None) -> Answer:
    """Send a request on a new connection; status 0 if it gets no answer."""
    began = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return Answer(response.status, time.perf_counter() - began, response.read())
    except OSError:
        return Answer(0, time.perf_counter() - began, b"")
    finally:
        connection.close()


def wait_until_up(port: int) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while ask(port, "GET", "/readyz", {}).status != 200:
        if time.monotonic() > deadline:
            sys.exit("The site does not start.")
        time.sleep(0.1)


def fill(comments: int) -> list[int]:
    """Post an article and its comments, a third of them replies; return their ids."""
    from articles.wiring import patient_repository

    repo, chance = patient_repository(), random.Random(1)
    article = repo.articles.post(1, "member1", "A crowded discussion", "https://example.org/").id
    ids = list[int]()
    for number in range(comments):
        parent = chance.choice(ids) if ids and number % 3 == 0 else None
        author = number % 500 + 1
        ids.append(repo.comments.post(article, author, f"member{author}", f"Comment {number}", parent=parent))
    return ids


def crowd(count: int, act: Callable[[int], Answer], ended: Event) -> list[Answer]:
    """Let this many act until the end, each about once a second; return all answers."""

    def go_on(number: int) -> list[Answer]:
        answers = list[Answer]()
        ended.wait(_PAUSE_SECONDS * number / count)
        while not ended.is_set():
            answers.append(act(number))
            ended.wait(_PAUSE_SECONDS)
        return answers

    with ThreadPoolExecutor(count) as pool:
        return [answer for answers in pool.map(go_on, range(count)) for answer in answers]


def report(who: str, answers: Sequence[Answer], expected: int) -> None:
    seconds = sorted(answer.seconds for answer in answers)
    p50, p99, longest = (
        1000 * seconds[min(len(seconds) - 1, int(share * len(seconds)))] for share in (0.5, 0.99, 1.0)
    )
    wrong = sum(answer.status != expected for answer in answers)
    print(f"| {who} | {len(answers):,} | {wrong} | {p50:.0f} | {p99:.0f} | {longest:.0f} |")


def measure(port: int, options: argparse.Namespace) -> bool:
    """Fill the site, let the crowd in, and print the tables; return whether all counts are exact."""
    from django.test import Client

    from accounts.models import Token, User
    from articles.wiring import patient_repository

    members = [User.objects.create_user(f"crowd{n}") for n in range(options.readers + options.writers)]
    readers, writers = members[: options.readers], members[options.readers :]
    sessions, chance = list[str](), random.Random(2)
    for member in readers:
        browser = Client()
        browser.force_login(member)
        sessions.append("; ".join(f"{name}={one.value}" for name, one in browser.cookies.items()))
    tokens = [Token.objects.issue(member, "bench")[1] for member in writers]
    ids, ended = fill(options.comments), Event()
    article = ids[0] // 1_000_000

    def read(number: int) -> Answer:
        headers = {"Cookie": sessions[number], "User-Agent": "Mozilla/5.0 Firefox/140.0"}
        return ask(port, "GET", f"/articles/{article}/", headers)

    def write(number: int) -> Answer:
        body = {"text": f"{number} at {time.time_ns()}", "parent": chance.choice(ids)}
        headers = {"Authorization": f"Bearer {tokens[number]}", "Content-Type": "application/json"}
        return ask(port, "POST", f"/api/articles/{article}/comments", headers, json.dumps(body))

    with ThreadPoolExecutor(2) as pool:
        crowds = [
            pool.submit(crowd, count, act, ended) for count, act in ((len(readers), read), (len(writers), write))
        ]
        time.sleep(options.seconds)
        ended.set()
        read_answers, write_answers = (one.result() for one in crowds)
    print("| who | answers | failed | p50, ms | p99, ms | longest, ms |\n| --- | --- | --- | --- | --- | --- |")
    report(f"{options.readers} readers", read_answers, 200)
    report(f"{options.writers} writers", write_answers, 201)
    posted = [json.loads(answer.content)["id"] for answer in write_answers if answer.status == 201]
    repo = patient_repository()
    kept = {comment.id for comment in repo.comments.list_newest(since=0, article_id=article)}
    total, findings = repo.articles.get(article).comments, list(repo.audit.run())
    is_exact = total == len(ids) + len(set(posted)) == len(ids) + len(posted) and not findings
    print(
        f"\n{total:,} comments: {len(ids):,} before, {len(posted):,} confirmed. The audit finds {len(findings)}."
    )
    return is_exact and kept <= {*ids, *posted}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comments", type=int, default=5000)
    parser.add_argument("--readers", type=int, default=50)
    parser.add_argument("--writers", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=30.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        port = free_port()
        own = {"DATA_DIR": f"{folder}/data", "PORT": str(port), "DEMO": "0", "LOG_LEVEL": "WARNING"}
        own["RATE_LIMITS"] = "off"
        with running([sys.executable, "manage.py", "run"], Path(folder) / "site.log", own):
            wait_until_up(port)
            os.environ |= own | {"DJANGO_SETTINGS_MODULE": "voting_site.settings"}
            import django

            django.setup()
            sys.exit(0 if measure(port, options) else "The counts are wrong.")


if __name__ == "__main__":
    main()
