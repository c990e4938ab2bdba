"""The changes of the site, and mirrors that follow them."""

import builtins
import io
import random
import re
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.conf import settings as site_settings

from articles.domain.articles import Choice
from articles.domain.errors import ArticlesError
from articles.repository import Repository, changes as changes_of_stores
from articles.web.groups import merge, set_visibility
from tests.caller import Caller, error_of
from tests.cast import ALICE, BOB, MODERATOR
from tests.factories import actor, comment_on, post, vote
from tests.rules import SEED

RECIPE = re.search(
    r"^## Mirror a group$.*?^```python\n(.*?)^```$",
    Path(site_settings.BASE_DIR, "docs", "api.md").read_text("utf-8"),
    re.DOTALL | re.MULTILINE,
)[1]
FIRST_PART = RECIPE.partition("while log :=")[0]

NO_CHANGES = ("pv", "uv", "comments", "last_comment_at", "score")
"""Fields of an article that change without being changes."""

ROUNDS, STEPS = 6, 12


class Enough(Exception):
    """The mirror has followed the site for long enough."""


def mirrored(caller: Caller, code: str, sleep=lambda _seconds, _mirror: None):
    """Run the program of the documentation, or its part, for the group python; return its copy."""

    def open_address(address):
        return io.BytesIO(caller.get(address.removeprefix("https://site/api/")).content)

    mirror: dict = {}
    stubs = {
        "sys": SimpleNamespace(argv=["mirror.py", "https://site", "python"]),
        "time": SimpleNamespace(sleep=lambda seconds: sleep(seconds, mirror)),
        "urllib": SimpleNamespace(request=SimpleNamespace(urlopen=open_address)),
    }

    def imported(name, *rest):
        return stubs.get(name.partition(".")[0]) or builtins.__import__(name, *rest)

    mirror["__builtins__"] = vars(builtins) | {"__import__": imported}
    with suppress(Enough):
        exec(code, mirror)
    return mirror["articles"]


def shown(copy):
    """Return what a mirror shows: the articles, and the comments on each that have a text."""
    return {
        number: (
            {name: value for name, value in article.items() if name not in NO_CHANGES},
            {
                one: (comment["text"], comment["parent"], comment["author"], comment["edited_at"])
                for one, comment in comments.items()
                if comment and comment["text"] is not None
            },
        )
        for number, (article, comments) in copy.items()
    }


class Busy:
    """A site on which much happens."""

    def __init__(self, store: Repository) -> None:
        self.store, self.rng, self.number = store, random.Random(SEED), 0
        store.groups.create("python", "Python")
        store.groups.create("web", "Web")
        self.articles, self.comments = [], []
        for _ in range(30):
            self.change("post")
            self.change("comment")

    def change(self, what: str) -> None:
        store, rng = self.store, self.rng
        self.number += 1
        article, other = (rng.choice(self.articles or [0]) for _ in range(2))
        comment, why = rng.choice(self.comments or [0]), f"Reason {self.number}"
        with suppress(ArticlesError):  # of what is removed, merged or locked
            match what:
                case "post":
                    groups = rng.choice([("python",), ("web",), ("python", "web"), ()])
                    self.articles.append(post(store, self.number, groups))
                case "edit":
                    store.articles.edit(article, MODERATOR, why, f"https://e.org/{self.number}", moderator=True)
                case "vote":
                    vote(store, article, rng.randint(1, 3), rng.choice([Choice.VOTE, Choice.OPPOSE]))
                case "remove" | "restore":
                    getattr(store.articles, what)(article, MODERATOR, why)
                case "lock" | "unlock":
                    getattr(store.comments, what)(article, MODERATOR, why)
                case "regroup":
                    one, two = rng.sample(["python", "web"], 2)
                    store.groups.assign(article, [one], [two], actor=MODERATOR)
                case "merge":
                    list(store.merges.merge(article, other, MODERATOR, why))
                case "unmerge":
                    list(store.merges.undo(article, MODERATOR, why))
                case "comment":
                    self.comments.append(comment_on(store, article, why))
                case "reply":
                    self.comments.append(comment_on(store, comment // 1_000_000, why, parent=comment))
                case "edit comment":
                    store.comments.edit(comment, BOB, why)
                case "delete comment":
                    store.comments.delete(comment, BOB)
                case "remove comment":
                    store.comments.remove(comment, MODERATOR, why)
                case "restore comment":
                    store.comments.restore(comment, MODERATOR, why)

    WHAT = (
        "post", "edit", "vote", "remove", "restore", "lock", "unlock", "regroup", "merge", "unmerge",
        "comment", "comment", "reply", "reply", "edit comment", "delete comment",
        "remove comment", "restore comment",
    )  # fmt: skip


@pytest.fixture
def shards() -> int:
    return 1


@pytest.fixture
def sharded(settings, shards) -> None:
    settings.STORE_SHARDS = max(shards, settings.STORE_SHARDS)


@pytest.fixture
def store(sharded, site_store, alice, bob) -> Repository:
    return site_store


@pytest.fixture
def at_once(monkeypatch) -> None:
    """No change comes again."""
    monkeypatch.setattr(changes_of_stores, "OVERLAP", 0.0)


def since(caller: Caller) -> str:
    return caller.get("changes").json()["next_since"]


def changed(caller: Caller, cursor: str) -> list[tuple[int, int | None]]:
    """Return the numbers of what changed since then."""
    log = caller.get(f"changes?since={cursor}").json()
    return [(one["article_id"], one["comment_id"]) for one in log["changes"]]


@pytest.mark.deep
@pytest.mark.parametrize("shards", [1, 4])
def test_a_mirror_has_what_the_site_has_whatever_happens(store, anyone, at_once):
    site, rounds = Busy(store), []

    def sleep(seconds, mirror):
        if seconds:
            assert shown(mirror["articles"]) == shown(mirrored(anyone, FIRST_PART))
            rounds.append(len(mirror["articles"]))
            if len(rounds) == ROUNDS:
                raise Enough
            for _ in range(STEPS):
                site.change(site.rng.choice(site.WHAT))

    copy = mirrored(anyone, RECIPE, sleep)

    assert len(rounds) == ROUNDS
    assert len(copy) > 5


def test_changes_come_once_in_parts_and_the_last_seconds_again(store, anyone, monkeypatch):
    begin = since(anyone)
    numbers = [post(store, n) for n in range(60)]
    first = anyone.get(f"changes?since={begin}").json()
    again = changed(anyone, first["next_since"])
    monkeypatch.setattr(changes_of_stores, "OVERLAP", 0.0)
    second = anyone.get(f"changes?since={first['next_since']}").json()

    assert [len(first["changes"]), first["has_next"]] == [50, False], "they may not be settled"
    assert again == [(n, None) for n in numbers[:50]]
    assert [second["has_next"], first["groups_changed"]] == [True, False]
    third = anyone.get(f"changes?since={second['next_since']}").json()
    found = [one["article_id"] for one in second["changes"] + third["changes"]]
    assert (found, third["has_next"]) == (numbers, False)
    last = third["next_since"]
    assert changed(anyone, last) == []
    store.votes.cast(numbers[3], BOB, Choice.VOTE)
    assert changed(anyone, last) == [(numbers[3], None)]


def test_nothing_hidden_is_told(store, anyone, as_carol, at_once):
    number, other = post(store, 1), post(store, 2)
    written = comment_on(store, number, "A secret comment")
    elsewhere = comment_on(store, other, "Another secret")
    begin = since(anyone)
    store.comments.remove(written, MODERATOR, "Spam")
    store.articles.remove(other, MODERATOR, "Spam")
    store.comments.delete(elsewhere, BOB)

    answer = as_carol.get(f"changes?since={begin}")

    assert "secret" not in answer.text
    comment, article, gone = answer.json()["changes"]
    assert (comment["comment"]["text"], comment["comment"]["removed"]) == (None, "Spam")
    assert (article["article"]["link"], article["article"]["removed"]) == (None, "Spam")
    assert (gone["comment_id"], gone["comment"]) == (elsewhere, None), "its article is removed"


def test_a_group_for_members_is_not_told(
    store, anyone, as_bob, alice, carol, at_once, settings, tmp_path, django_capture_on_commit_callbacks
):
    settings.DATA_DIR = tmp_path
    store.groups.create("python", "Python")
    store.groups.create("inner", "Inner")
    moved, before = post(store, 1, ("python",)), since(anyone)
    with django_capture_on_commit_callbacks(execute=True):
        set_visibility("inner", actor(carol), "", is_closed=True)
    assert error_of(anyone.get(f"changes?since={before}")) == (410, "changes-lost")
    begin, of_bob = since(anyone), since(as_bob)
    inside = store.articles.post(ALICE, "alice", "Inside", "https://e.org/i", ["inner"]).id
    comment_on(store, inside, "Inside")
    vote(store, inside)
    written = comment_on(store, moved, "Outside")
    assert changed(anyone, begin) == [(moved, written)]
    assert {one for one, _ in changed(as_bob, of_bob)} == {moved, inside}
    assert error_of(anyone.get(f"changes?since={of_bob}")) == (410, "changes-lost"), "it is a member's"

    store.groups.assign(moved, ["inner"], actor=MODERATOR)

    (entry,) = anyone.get(f"changes?since={begin}").json()["changes"]
    assert (entry["article_id"], entry["article"]) == (moved, None)
    begin = since(anyone)
    merge("python", "inner", actor(carol), "")
    assert error_of(anyone.get(f"changes?since={begin}")) == (410, "changes-lost"), "its articles are inside now"


def test_a_site_for_members_tells_only_them(store, anyone, as_bob, at_once, settings):
    begin = since(anyone)
    settings.READING = "members"
    number = post(store, 1)

    assert error_of(anyone.get(f"changes?since={begin}")) == (401, "login-required")
    assert error_of(anyone.get("changes")) == (401, "login-required")
    assert changed(as_bob, begin) == [(number, None)]


def test_it_says_when_groups_changed(store, anyone, carol):
    def has_changed():
        nonlocal cursor
        log = anyone.get(f"changes?since={cursor}").json()
        cursor = log["next_since"]
        return log["groups_changed"]

    store.groups.create("python", "Python")
    store.groups.create("web", "Web")
    cursor = since(anyone)
    assert not has_changed()
    post(store, 1, ("python",))
    assert not has_changed()
    for change in (
        lambda: store.groups.create("redis", "Redis"),
        lambda: store.groups.rename("redis", "Valkey", MODERATOR),
        lambda: store.groups.describe("redis", "A store", MODERATOR),
        lambda: merge("redis", "web", actor(carol), ""),
    ):
        change()
        assert [has_changed(), has_changed()] == [True, False]
