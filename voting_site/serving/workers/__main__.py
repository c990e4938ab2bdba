"""python -m voting_site.serving.workers <address> <listening descriptors> <patience in seconds> <gate>

Started by `web_server.py`. The address only names the process in lists of processes. The gate is a pipe: the
site is served once there is something to read from it.
"""

import os
import resource
import sys
from importlib import import_module

import django
from django.conf import settings

from articles.operation import metric_files


def _raise_limit_of_files() -> None:
    """Allow as many open files, and so connections, as the system lets this process have."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _is_let_serve(gate: int) -> bool:
    """Wait until the site is prepared. Return False if the launcher has given up."""
    with open(gate, "rb", buffering=0) as pipe:
        return bool(pipe.read(1))


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "voting_site.settings")
    _raise_limit_of_files()
    metric_files.reserve_for_this_process()  # before any metric is defined
    django.setup(set_prefix=False)  # before any model is imported
    import_module(settings.ROOT_URLCONF)  # all views and the API, which takes most of the time
    if _is_let_serve(int(sys.argv[4])):
        from voting_site.serving.workers import site

        site.serve(descriptors=list(map(int, sys.argv[2].split(","))), patience=float(sys.argv[3]))
