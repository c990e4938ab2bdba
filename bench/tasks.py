#!/usr/bin/env python3
"""Background tasks a second: added, and done by one worker, by two, and by two of which one is killed.

    python -m bench.tasks [--tasks N] [--postgres]

Each task writes its number into a file; all must be there at the end. Uses a temporary database: SQLite, or a
PostgreSQL server of its own.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path

NOTED = """
import os
from django_tasks import task
from tasks import MAIL

@task(queue_name=MAIL)
def note(number):
    with open(os.environ["NOTED"], "a") as noted:
        noted.write(f"{number}\\n")
"""
"""A module with a task, which a worker imports."""

WORK = """
import os, django; django.setup()
from tasks import MAIL, work_off
print("up", flush=True)
input()
print(work_off(MAIL), flush=True)
"""


def worker(environment: dict[str, str]) -> subprocess.Popen[str]:
    found = subprocess.Popen(
        [sys.executable, "-c", WORK], env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert found.stdout
    found.stdout.readline()
    return found


def run(workers: list[subprocess.Popen[str]], *, kills: bool) -> float:
    began = time.perf_counter()
    for one in workers:
        assert one.stdin
        one.stdin.write("\n")
        one.stdin.flush()
    if kills:
        time.sleep(1)
        workers.pop().send_signal(signal.SIGKILL)
    for one in workers:
        one.wait()
    return time.perf_counter() - began


def measure(number: int, folder: Path) -> None:
    from datetime import timedelta

    from django.utils import timezone
    from django_tasks_db.models import DBTaskResult

    from tasks import tidy
    from tasks.queueing import add

    os.environ |= {"NOTED": str(folder / "noted"), "PYTHONPATH": str(folder)}
    (folder / "bench_noted.py").write_text(NOTED)
    sys.path.insert(0, str(folder))
    note = import_module("bench_noted").note
    for size, kills in ((1, False), (2, False), (2, True)):
        (folder / "noted").write_text("")
        began = time.perf_counter()
        for one in range(number):
            add(note, one)
        added = number / (time.perf_counter() - began)
        done = number / run([worker({**os.environ}) for _ in range(size)], kills=kills)
        lost = DBTaskResult.objects.running().update(started_at=timezone.now() - timedelta(hours=1))
        tidy()
        run([worker({**os.environ})], kills=False)
        noted = (folder / "noted").read_text().split()
        assert {*map(int, noted)} == {*range(number)}, "a task was not done"
        print(
            f"{size} workers{', one killed' if kills else ''}: {added:,.0f} added and {done:,.0f} done a second; "
            f"{lost} were being done, {len(noted) - number} done twice"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=2000)
    parser.add_argument("--postgres", action="store_true")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        os.environ |= {"DATA_DIR": folder, "DJANGO_SETTINGS_MODULE": "voting_site.settings"}
        if options.postgres:
            from tests.postgres_server import PostgresServer
            from tests.waiting import until

            server = PostgresServer()
            stack.callback(server.stop)
            until(server.answers)
            os.environ["DATABASE_URL"] = server.url
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        measure(options.tasks, Path(folder))


if __name__ == "__main__":
    main()
