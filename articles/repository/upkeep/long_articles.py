"""Audit and repair of articles with more voters or moderation log entries than one step reads: in batches."""

from collections.abc import Iterator, Sequence

from articles.repository.store.batches import ARTICLES_PER_CHECK, ENTRIES_PER_CHECK
from articles.repository.store.connection import Store, Value, exact_time
from articles.repository.store.keys import Keys
from articles.repository.store.scan import portions, set_members

MOST_LOOKED_AT = 1000
"""Voters and entries of the log that one step reads, with the articles: some milliseconds of the store's time."""


def check_long(store: Store, keys: Keys, article_id: int) -> Iterator[str]:
    """Yield the problems of the article's voters and log entries, each once. In batches."""
    problems = set[str]()
    for users in _voters(store, keys, article_id):
        problems.update(_run_on_voters(store, "audit/voters", keys, article_id, users))
    for numbers in _entries(store, keys, article_id):
        problems.update(store.run("audit/entries", [keys.log], [article_id, keys.prefix, *numbers]))
    yield from sorted(problems)


def repair_long(store: Store, keys: Keys, article_id: int) -> None:
    """Add the voters' choices to their lists, and drop log entries that are not about the article. In batches."""
    for users in _voters(store, keys, article_id):
        _run_on_voters(store, "repair/voters", keys, article_id, users)
    for numbers in _entries(store, keys, article_id):
        store.run("repair/entries", [keys.article(article_id), keys.log], [article_id, keys.prefix, *numbers])


def _run_on_voters(store: Store, script: str, keys: Keys, article_id: int, users: Sequence[str]) -> list[str]:
    sets = [keys.article(article_id), keys.voted(article_id), keys.oppose(article_id)]
    arguments: list[Value] = [article_id, exact_time(store.now()), keys.prefix]
    reply: list[str] = store.run(script, sets, [*arguments, *users])
    return reply


def _voters(store: Store, keys: Keys, article_id: int) -> Iterator[list[str]]:
    for voters in (keys.voted(article_id), keys.oppose(article_id)):
        yield from portions(set_members(store, voters), ENTRIES_PER_CHECK)


def _entries(store: Store, keys: Keys, article_id: int) -> Iterator[list[str]]:
    with store.commands() as client:
        numbers = client.hget(keys.article(article_id), "log")
    yield from portions((numbers or "").split(",") if numbers else (), ARTICLES_PER_CHECK)
