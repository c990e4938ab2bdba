"""What pages show: their text, and lists of articles."""

import re
from html import unescape

from tests.factories import browser_of, post_as
from tests.store_state import set_clock


def text_of(user, path: str) -> str:
    """Return what a page says to a member, without markup."""
    return unescape(" ".join(re.sub(r"<[^>]+>", " ", browser_of(user).get(path).text).split()))


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
