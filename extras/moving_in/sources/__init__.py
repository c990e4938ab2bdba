"""The formats of other sites, a module each: how it fills the staging tables, and how its addresses are read."""

import re
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from extras.moving_in.models import Kind
from extras.moving_in.staging import Staging

FORMATS = ("lobsters", "lemmy", "reddit", "hackernews", "lines", "feed", "site")
"""Names of formats, and of their modules here."""


class BadSource(Exception):
    """The source cannot be read; the text is a sentence for the operator."""


class OldAddress(NamedTuple):
    """A kind of address of a source: a pattern of the path with its query, whose group is the old id.

    The first that matches the whole is taken.
    """

    kind: Kind
    pattern: re.Pattern[str]
    feed: str = ""
    """For the address of a feed of it: the form that its readers know, `rss`, `atom` or `json`."""


def old_addresses(*rows: tuple[Kind, str, str]) -> tuple[OldAddress, ...]:
    """Return kinds of addresses from their parts, with the pattern as text."""
    return tuple(OldAddress(kind, re.compile(pattern), feed) for kind, pattern, feed in rows)


class Format(NamedTuple):
    """How sites of one software are read."""

    fill: Callable[[str, Staging, Mapping[str, Any], Callable[[int], object]], None]
    """Receives the source (a file, a folder or an address), where its rows go, the command's options, and what is
    told how many more rows were read. Raises BadSource."""

    addresses: tuple[OldAddress, ...] = ()
    lists: Mapping[str, str] = {}
    """Addresses of lists, by their paths there: a path here, such as `/newest/`."""

    arguments: Callable[[ArgumentParser], object] = lambda _parser: None
    """Adds the command's options that this format alone has."""

    is_like_here: bool = False
    """Whether its addresses could be this site's own: only on the source's host they are old ones."""

    instead: Callable[[str, Mapping[str, Any]], str] = lambda _source, _options: ""
    """Does what these options ask for instead of an import, and returns what to print; "" if they ask for none.
    Raises BadSource."""


def format_of(name: str) -> Format:
    """Return one of `FORMATS`."""
    found = import_module(f"extras.moving_in.sources.{name}").FORMAT
    assert isinstance(found, Format)  # nosec B101 - a module of this folder
    return found
