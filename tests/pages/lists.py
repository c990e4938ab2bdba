"""Lists of articles as a page shows them."""

import re

from tests.factories import post_as
from tests.store_state import set_clock


def rows(response) -> list[int]:
    return [int(found) for found in re.findall(r'id="article-(\d+)"', response.content.decode())]


def post_many(site_store, user, count, groups=()):
    """Post articles one second apart."""
    start, ids = site_store.store.now() - count, []
    for n in range(count):
        set_clock(site_store, start + n)
        ids.append(post_as(site_store, user, f"Title {n}", f"https://e.org/{n}", groups).id)
    return ids


def counts(site_store, article):
    """Return the votes for the article and those against it."""
    found = site_store.articles.get(article)
    return found.votes, found.opposes
