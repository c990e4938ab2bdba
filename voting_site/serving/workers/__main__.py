"""python -m voting_site.serving.workers <address> <listening descriptors> <patience in seconds>

Started by `web_server.py`. The address only names the process in lists of processes.
"""

import os
import resource
import sys

import django

from articles.operation import metric_files


def _raise_limit_of_files() -> None:
    """Allow as many open files, and so connections, as the system lets this process have."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "voting_site.settings")
    _raise_limit_of_files()
    metric_files.reserve_for_this_process()  # before any metric is defined
    django.setup(set_prefix=False)  # before any model is imported
    from voting_site.serving.workers import site

    site.serve(descriptors=list(map(int, sys.argv[2].split(","))), patience=float(sys.argv[3]))
