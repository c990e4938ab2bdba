"""Audit and repair of articles with more voters or moderation log entries than one step reads: in batches."""

from itertools import chain

from articles.repository.store.batches import ARTICLES_PER_CHECK, ENTRIES_PER_CHECK
from articles.repository.store.connection import Store, Value, exact_time
from articles.repository.store.findings import Verb
from articles.repository.store.keys import Keys
from articles.repository.store.scan import portions, ranked, set_members

MOST_LOOKED_AT = 1000
"""Voters and entries of the log that one step reads, with the articles: some milliseconds of the store's time."""


def check_long(store: Store, keys: Keys, article_id: int, verb: Verb = "audit") -> list[str]:
    """Return the problems of the article's voters and log entries, each once; or repair them. In batches."""
    problems, sets = set[str](), [keys.article(article_id), keys.voted(article_id), keys.oppose(article_id)]
    for users in chain(*(portions(set_members(store, voters), ENTRIES_PER_CHECK) for voters in sets[1:])):
        arguments: list[Value] = [article_id, exact_time(store.now()), keys.prefix, *users]
        problems.update(store.run(f"{verb}/voters", sets, arguments))
    with store.commands() as client:
        entries_about = client.hget(keys.article(article_id), "log")
    for numbers in portions(entries_about.split(",") if entries_about else (), ARTICLES_PER_CHECK):
        problems.update(store.run(f"{verb}/entries", [keys.log], [article_id, keys.prefix, *numbers]))
    for entries in portions(ranked(store, keys.brought(article_id)), ENTRIES_PER_CHECK):
        arguments = [article_id, keys.prefix, *(part for entry in entries for part in entry)]
        problems.update(store.run(f"{verb}/brought", [keys.article(article_id)], arguments))
    return sorted(problems)
