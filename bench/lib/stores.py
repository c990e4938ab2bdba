"""Stores to measure: the embedded server with its real settings."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from articles.repository import Repository, connect
from articles.text.kept_html import KeptHtml
from articles.wiring import rules
from voting_site.configuration.variables import defaults
from voting_site.embedded import StorePaths, Supervisor


def repository_at(paths: StorePaths, shards: int = 1) -> Repository:
    """Return a repository on the running store of these paths, without limits.

    A site makes the HTML of its texts again, unless its SECRET_KEY is empty.
    """
    without_limits, kept_html = replace(rules(defaults()), limits={}), KeptHtml("", private_links=False)
    return connect(paths.url(0), rules=without_limits, kept_html=kept_html, shards=shards)


@contextmanager
def empty_store(folder: Path, shards: int = 1, config: Mapping[str, str] | None = None) -> Iterator[Repository]:
    """Yield a repository on a new store in the folder; `config` overrides settings of the server."""
    paths = StorePaths(folder)
    supervisor = Supervisor(paths, config=dict(config or {}))
    supervisor.start(30)
    try:
        repository = repository_at(paths, shards)
        repository.prepare()
        yield repository
    finally:
        supervisor.stop()


@contextmanager
def passing_store(shards: int = 1, config: Mapping[str, str] | None = None) -> Iterator[Repository]:
    """Yield a repository on a new store in a temporary folder."""
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as folder,
        empty_store(Path(folder), shards, config) as repository,
    ):
        yield repository
