"""Rows to import, and what an import leaves."""

from typing import Any

from articles.repository import Repository


def row(number: int = 1, **changes: Any) -> dict[str, Any]:
    """A row that can be imported; None takes a field away."""
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
    """What an export and an import keep of all articles, in the order of time."""
    found = [
        (a.posted_at, a.link, a.title, a.poster_name, a.votes, a.opposes, a.groups, a.removed)
        for a in repository.imports.iterate()
    ]
    return sorted(found)
