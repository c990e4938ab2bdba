"""Rows to import, and the articles an import creates."""

from typing import Any

from articles.repository import Repository


def row(number: int = 1, **changes: Any) -> dict[str, Any]:
    """Return a row that can be imported; a field given as None is omitted."""
    fields = {
        "title": f"Article {number}",
        "link": f"https://example.org/{number}",
        "poster": f"poster{number % 3}",
        "time": 1_700_000_000 + 60 * number,
        "votes": number,
        "comments": 0,
        "groups": ["python"],
    }
    return {name: value for name, value in (fields | changes).items() if value is not None}


def contents(repository: Repository) -> list[tuple[Any, ...]]:
    """Return the fields of all articles that survive an export and an import, in order of time."""
    found = [
        (a.posted_at, a.link, a.title, a.poster_name, a.votes, a.opposes, a.groups, a.removed)
        for a in repository.imports.iterate()
    ]
    return sorted(found)
