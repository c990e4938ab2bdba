"""What a store holds, key by key."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

from articles.domain.articles import ArticleId
from articles.domain.lists import Order
from articles.domain.members import UserId
from articles.repository.store.connection import Store
from articles.repository.store.keys import Keys, Shards

T = TypeVar("T")

_FORM = re.compile(r"(?P<prefix>\{s\d+\}:)?(?P<kind>[a-z]+):(?P<rest>.*)", re.DOTALL)

_ID, _SLUG, _NOTHING, _DIGEST, _DAY = r"[1-9][0-9]{0,15}", r"(?s:.+)", "", "[0-9a-f]{16}", "[0-9]{1,7}"

_OF_ARTICLES = {
    **dict.fromkeys(("article", "voted", "oppose", "days", "history"), _ID),
    "counter": f"(?:views|suspect):{_ID}",
    "hll": f"uv:{_ID}",
    "seen": f"{_ID}:{_DIGEST}",
    "burst": f"{_ID}:{_DIGEST}",
}
_OF_LISTS = dict.fromkeys(("time", "score", "points"), f"({_SLUG})?") | {
    "group": _SLUG,
    "hot": f"score(:{_SLUG})?",
}
_OF_SHARDS = {
    **dict.fromkeys(("removed", "ranking", "log", "viewed", "days", "gone"), _NOTHING),
    **dict.fromkeys(("posted", "votes", "opposes"), _ID),
    "next": "score",
    "word": r"[^\s:]+",
    "words": _NOTHING,
    "top": "day|week|month",
    "burst": _DIGEST,
    "hll": f"day:{_DAY}",
}
_DIRECTORY = dict.fromkeys(("groups", "merged", "tunings"), _NOTHING)
_OUTSIDE = {
    "article": _NOTHING,
    "schema": _NOTHING,
    "link": "[0-9a-f]{32}",
    "saved": _ID,
    "shift": _SLUG,
    "lock": "import|hot|back|tick|weight|forget",
    "tick": _NOTHING,
    "salt": _DAY,
}

_ID_IN_REST = re.compile(rf"(?:[a-z]+:)?({_ID})(?::{_DIGEST})?")
_SHORT_LIVED = ("seen", "burst")
"""They may outlive their article for some minutes."""

PER_SCAN = 1000


@dataclass(slots=True)
class Contents:
    """Ids, slugs and words found in one shard."""

    articles: set[ArticleId] = field(default_factory=set)
    mentioned: set[ArticleId] = field(default_factory=set)
    """Ids of keys about an article that are not the article."""

    groups: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    members: set[UserId] = field(default_factory=set)
    """Who voted for or opposed something, as far as lists of it are kept."""


def walk(store: Store) -> Iterator[list[str]]:
    """All keys, some hundreds at a time. A key that is there all the while is met at least once."""
    cursor = 0
    while True:
        with store.commands() as client:
            cursor, found = client.scan(cursor, count=PER_SCAN)
        yield found
        if cursor == 0:
            return


def survey(store: Store) -> tuple[dict[Keys, Contents], list[str]]:
    """What each shard holds, and the keys that no part of the site would have written."""
    shards: dict[Keys, Contents] = {keys: Contents() for keys in store.shards.all}
    kinds: dict[str, Keys] = {keys.prefix: keys for keys in store.shards.all}
    foreign: list[str] = []
    for names in walk(store):
        for name in names:
            form = _FORM.fullmatch(name)
            if form is None or not _known(form["prefix"] or "", form["kind"], form["rest"], store.shards):
                foreign.append(name)
            elif form["rest"]:
                _note(
                    shards[kinds.get(form["prefix"] or "", store.shards.directory)],
                    form["kind"],
                    form["rest"],
                )
    return shards, foreign


def _known(prefix: str, kind: str, rest: str, shards: Shards) -> bool:
    def among(forms: dict[str, str]) -> bool:
        return kind in forms and re.fullmatch(forms[kind], rest) is not None

    if among(_OF_ARTICLES):
        return shards.of(_article_of(rest)).prefix == prefix
    if among(_DIRECTORY):
        return prefix == shards.directory.prefix
    if among(_OF_LISTS) or among(_OF_SHARDS):
        return any(prefix == keys.prefix for keys in shards.all)
    return not prefix and among(_OUTSIDE)


def _article_of(rest: str) -> ArticleId:
    """The id in what follows the kind of a key about an article."""
    found = _ID_IN_REST.fullmatch(rest)
    return int(found[1]) if found else 0


def _note(contents: Contents, kind: str, rest: str) -> None:
    if kind == "article":
        contents.articles.add(int(rest))
    elif kind in _OF_ARTICLES and kind not in _SHORT_LIVED and re.fullmatch(_OF_ARTICLES[kind], rest):
        contents.mentioned.add(_article_of(rest))
    elif kind == "word":
        contents.words.add(rest)
    elif kind in ("group", "score", "time", "points"):
        contents.groups.add(rest)
    elif kind in ("votes", "opposes"):
        contents.members.add(int(rest))
    elif kind == "hot" and rest != "score":
        contents.groups.add(rest.removeprefix("score:"))


def batches(ids: Iterable[ArticleId], size: int) -> Iterator[list[str]]:
    """The ids in order, as text, in lists of at most `size`."""
    ordered = [str(article_id) for article_id in sorted(ids)]
    for at in range(0, len(ordered), size):
        yield ordered[at : at + size]


def portions(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items as they come, in lists of at most `size`."""
    waiting = iter(items)
    while portion := list(islice(waiting, size)):
        yield portion


def set_members(store: Store, key: str) -> Iterator[str]:
    """Members of a set, however large, without holding up the store. One may be met twice."""
    return _scanned(store, "sscan", key)


def ranked_members(store: Store, key: str) -> Iterator[str]:
    """The same of a sorted set, in no order."""
    return (member for member, _ in _scanned(store, "zscan", key))


def newest_since(store: Store, times: str, since: float) -> Iterator[str]:
    """Ids in a ranking by posting time that were posted at `since` or later. One may be met twice."""
    done = 0
    while True:
        with store.commands() as client:
            found = client.zrevrangebyscore(times, "+inf", f"{since:.3f}", start=done, num=PER_SCAN)
        yield from found
        done += len(found)
        if len(found) < PER_SCAN:
            return


def _scanned(store: Store, command: str, key: str) -> Iterator[Any]:
    cursor = 0
    while True:
        with store.commands() as client:
            cursor, found = getattr(client, command)(key, cursor, count=PER_SCAN)
        yield from found
        if cursor == 0:
            return


def mentioned_ids(store: Store, keys: Keys, contents: Contents) -> set[ArticleId]:
    """Every id one shard has an article, anything else about one, or a place in a ranking for."""
    found = contents.mentioned
    found |= contents.articles
    for ranking in (*map(keys.order, Order), keys.removed, keys.next_score, keys.viewed):
        found.update(map(int, ranked_members(store, ranking)))
    return found
