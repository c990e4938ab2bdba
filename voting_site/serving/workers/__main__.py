"""python -m voting_site.serving.workers <address> <listening descriptors> <patience in seconds> <modes>

Started by `web_server.py`. The address only names the process in lists of processes. Modes are `prepare` and
`housekeeping`. When the site is served, a line is written to the standard input, a socket.
"""

import os
import resource
import sys
from contextlib import suppress

import django
from django.urls import resolve

from articles.operation import metric_files


def _raise_limit_of_files() -> None:
    """Allow as many open files, and so connections, as the system lets this process have."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _say_that_it_serves() -> None:
    with suppress(OSError):  # the launcher has ended
        os.write(sys.stdin.fileno(), b"\n")


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "voting_site.settings")
    _raise_limit_of_files()
    metric_files.take_number()  # before any metric is defined
    django.setup(set_prefix=False)  # before any model is imported
    resolve("/healthz")  # imports all views and builds the API, once before the forks
    from voting_site.serving.workers import site

    _, _, descriptors, patience, *modes = sys.argv
    site.serve(
        list(map(int, descriptors.split(","))),
        float(patience),
        _say_that_it_serves,
        prepares="prepare" in modes,
        runs_housekeeping="housekeeping" in modes,
    )
