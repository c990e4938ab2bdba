"""What readers do not get to see changes nothing: every answer is the same as that of a site without it."""

import re
from itertools import product
from time import time
from types import SimpleNamespace
from uuid import UUID

import pytest
from django.db import transaction
from django.test import Client

from articles.configuration.choices import closed_groups
from articles.domain.articles import Choice
from articles.domain.lists import without_groups
from articles.web import wiring
from articles.web.groups import set_visibility
from tests import extras
from tests.clock import Clock
from tests.factories import actor, comment_on, post_as, view
from tests.pages.telling import addresses, asked
from tests.store_state import set_clock, skip_number

pytestmark = pytest.mark.deep

SLUG = "zyxslug"
SHOWN, EVERY = 12, 3  # articles that everyone sees, and after how many of them comes one that is hidden


class Site:
    """A site at the beginning of its time; with what is hidden, or without it but with the same numbers."""

    def __init__(self, store, start, members, *, hides: bool):
        self.store, self.clock, self.hides = store, Clock(start), hides
        for one in (self.store, wiring.patient_repository()):
            set_clock(one, self.clock)
        self.alice, self.bob, self.carol = members

    def fill(self, committing):
        """Post and discuss articles in two groups, and between them what only members see."""
        for slug in ("python", "redis"):
            self.store.groups.create(slug, slug.title(), actor(self.carol))
        if self.hides:
            self.store.groups.create(SLUG, "Zyxgroup", actor(self.carol))
            self.store.groups.describe(SLUG, "Zyxdescription", actor(self.carol))
            with committing(execute=True):
                set_visibility(SLUG, actor(self.carol), "Zyxreason", is_closed=True)
        self.since = Client().get("/api/changes").json()["next_since"]
        for number in range(SHOWN):
            self.clock.advance(3600)
            slugs = [["python"], ["redis"], ["python", "redis"], []][number % 4]
            self._post(f"Title {number}", f"https://example.org/{number}", slugs, number)
            if number % EVERY == 0:
                self._hide(f"Zyxtitle {number}", f"https://example.org/zyx{number}", [SLUG, *slugs], number)
        self.clock.advance(120)

    def _post(self, title, link, slugs, number):
        poster = (self.alice, self.bob)[number % 2]
        article = post_as(self.store, poster, title, link, slugs, text=f"A text {number}")
        for voter in range(900, 900 + number % 5):
            self.store.votes.cast(article.id, voter, Choice.OPPOSE if voter % 4 == 0 else Choice.VOTE)
        view(self.store, article.id, *range(number % 6))
        comment = comment_on(self.store, article.id, f"{title} discussed @alice", self.bob.pk)
        comment_on(self.store, article.id, "An answer", self.alice.pk, parent=comment)
        if number % 3 == 0:
            self.store.comments.lock(article.id, actor(self.carol), "Too long")
            self.store.articles.edit(article.id, actor(self.carol), f"{title} edited", link, moderator=True)
        return article.id

    def _hide(self, *facts):
        """Post what is hidden: the last of it joins a group, and another is removed."""
        if not self.hides:
            return skip_number(self.store)
        article = self._post(*facts)
        if facts[-1] == EVERY:
            self.store.articles.remove(article, actor(self.carol), "Spam")
        return article

    def answers(self):
        with without_groups(closed_groups()):  # as housekeeping does
            self.store.history.record()
        return {path: masked(path, asked(path)) for path in every_address()} | {"changes": self._changes()}

    def _changes(self):
        """Return what a mirror reads that follows from the site's beginning: all parts."""
        since, parts = self.since, []
        while not parts or parts[-1]["has_next"]:
            part = Client().get(f"/api/changes?since={since}").json()
            since = part.pop("next_since")
            for change in part["changes"]:
                del change["time"]  # that of the server
            parts.append(part)
        return parts


FIRST = {"slug": "redis", "slugs": "python+redis", "name": "bob", "host": "example.org"}
LISTS = (
    "/", "/newest/", "/hot/", "/top/", "/top/week/", "/discussions/",
    "/groups/python/", "/groups/python+redis/",
)  # fmt: skip
OF_MEMBERS = ("/users/alice/", "/users/alice/comments/", "/users/bob/comments/", "/moderation/")
API = (
    *(f"articles?order={order}" for order in ("score", "time", "hot", "points", "active")),
    "articles?order=points&range=day", "articles?group=python", "articles?group=python+redis&order=time",
    "users/alice/articles?x=", "log?x=", "search?q=title", "search?q=text&order=time", "search?q=points:1..9",
)  # fmt: skip
SINGLE = (
    "/search/?q=titel", "/search/?q=title", "/search/?q=zyxtitle",
    "/search/?q=title&kind=comments", "/moderation/?action=edit", "/moderation/?group=python",
    "/groups/?order=active", "/feeds/newest.json?min_points=1", "/articles/20/why/?q=text",
    "/pulse/?ids=1,2,3,4&order=score", "/posted-before/?link=https://example.org/zyx0",
)  # fmt: skip
FEEDS = tuple(path for paths in extras.all_of("FEEDS") for path in paths)  # of extras: they have the time of day
LOCAL = ("/metrics",)  # figures of the process itself, which only this machine reads


def every_address():
    values = [{"article_id": str(n), "comment_id": f"{n}000001", "number": "2"} for n in (1, 2, 3)]
    values[0] |= FIRST
    paths = {path for one in values for path in addresses(one)}
    paths |= {f"{path}?page={page}" for path, page in product((*LISTS, *OF_MEMBERS), (1, 2, 3, 4))}
    paths |= {f"/api/{path}&page={page}" for path, page in product(API, (1, 2, 3, 4))}
    return sorted((paths.union(SINGLE, *extras.all_of("READINGS"))).difference(LOCAL))


def masked(path, answer):
    """Return the answer without what differs between any two sites: their keys, and the time of day."""
    answer = re.sub(r'W/"\w{32}"', "ETAG", answer)  # a digest of the rest
    answer = re.sub(r'(since=|next_since": ?")[\w.:%-]+', r"\1CURSOR", answer)
    if path.startswith("/api/log"):  # where some group is closed, a place in the log is a time and not a number
        answer = re.sub(r'(after=|next_after": ?")[\w.:%-]+', r"\1CURSOR", answer)
    return re.sub(r"\d\d:\d\d:\d\d(\.\d+)?", "TIME", answer) if path.startswith(FEEDS) else answer


@pytest.fixture
def same_keys(monkeypatch):
    """Both sites have the same name in feeds, and name all changes in short parts; it is always the same time."""
    now = time()
    monkeypatch.setattr("articles.formatting.values.time", SimpleNamespace(time=lambda: now))
    monkeypatch.setattr("articles.repository.store.schema.uuid4", lambda: UUID(int=7))
    monkeypatch.setattr("articles.api.changes.MOST", 3)
    monkeypatch.setattr("articles.repository.changes.OVERLAP", 0.0)


def test_no_answer_differs_with_and_without_what_is_for_members(
    same_keys, new_site, settings, tmp_path, alice, bob, carol, django_capture_on_commit_callbacks
):
    settings.DATA_DIR, settings.ARTICLES_PER_PAGE = tmp_path, 5
    extras.switch_on()
    found, start = [], round(time()) + 60
    for hides in (False, True):
        accounts = transaction.savepoint()
        site = Site(new_site(), start, (alice, bob, carol), hides=hides)
        site.fill(django_capture_on_commit_callbacks)
        found.append(site.answers())
        transaction.savepoint_rollback(accounts)
    without, with_hidden = found

    assert with_hidden.keys() == without.keys()
    assert len(without["changes"]) >= SHOWN
    differing = {path: (one, with_hidden[path]) for path, one in without.items() if with_hidden[path] != one}
    assert differing == {}, sorted(differing)
