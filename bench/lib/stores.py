"""Stores to measure: the embedded server with its real settings."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from articles.repository import Repository, connect
from articles.text.kept_html import KeptHtml
from articles.web.wiring import rules
from voting_site.configuration.variables import defaults
from voting_site.embedded import StorePaths, Supervisor


def repository_at(paths: StorePaths) -> Repository:
    """Return a repository on the running store of these paths, without limits.

    A site makes the HTML of its texts again, unless its SECRET_KEY is empty.
    """
    without_limits, kept_html = replace(rules(defaults()), limits={}), KeptHtml("", private_links=False)
    return connect(paths.url(0), rules=without_limits, kept_html=kept_html, shards=1)


@contextmanager
def empty_store(folder: Path) -> Iterator[Repository]:
    """Yield a repository on a new store in the folder."""
    paths = StorePaths(folder)
    supervisor = Supervisor(paths)
    supervisor.start(30)
    try:
        repository = repository_at(paths)
        repository.prepare()
        yield repository
    finally:
        supervisor.stop()
