"""Cursors: lists that change while a client reads them, and requests for what follows that are not valid."""

import random
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import quote

import pytest

from accounts.models import AboutFlag, HeldPost, LegalNotice, Statement
from accounts.models.law import Act
from articles.api import search
from articles.api.documentation import document, operations
from articles.api.protocol import cursors
from articles.domain.articles import Choice
from articles.domain.errors import ArticlesError
from articles.domain.flags import FlagReason
from articles.domain.lists import Order
from articles.domain.members import UserId
from articles.repository import Repository
from articles.web.groups import set_visibility
from tests import extras
from tests.caller import Caller, error_of, with_token
from tests.cast import ALICE, BOB, MODERATOR
from tests.contract import name_of
from tests.factories import actor, comment_on, imported, member, post, view, vote
from tests.rules import SEED
from tests.store_state import set_clock

CHANGES = 60
"""During a walk through all lists. With one at each step, none would end: the lists grow as they are read."""

GROUPS = ("&group=python", "&group=python%2Bweb")
ARTICLES = [f"articles?order={order}" for order in Order]
ARTICLES += [f"articles?order={order}{group}" for order in ("score", "time") for group in GROUPS]
ARTICLES += ["articles?order=points&range=month", "search?q=title", "search?q=title&order=time"]
ARTICLES += ["users/alice/articles", "me/saved", "me/voted", "me/following", "hot?range=all&limit=5"]

LINK = "https://example.org/again"
ARTICLES += [f"posted-before?link={LINK}"]

WHOLE = {
    "list_groups": "groups",
    "list_bans": "bans",
    "list_group_bans": "bans",
    "list_sweeps": "sweeps",
    "list_notes": "notes",
    "list_blocked_hosts": "hosts",
    "list_rules": "rules",
    "list_followed_groups": "groups",
    "list_hidden": "groups, members, hosts, words, articles",
    **extras.joined("API_WHOLE_LISTS"),
}
"""Lists of which one response has all, by operation."""

FACTS = {
    "read_article": "groups, merged",
    "read_group": "moderators",
    "read_me": "permissions",
    "read_member": "invited, vouched_for_by",
    "explain_ranking": "groups, decay, history",
    "search": "doubts",
    "search_comments": "doubts",
    "list_changes": "changes",  # with a cursor of their own
    "read_inbox": "bans, moderation",
    "read_posted": "newest",
    "read_poster": "newest",
    "read_author": "newest",
    **extras.joined("API_FACTS"),
}
"""Lists that are facts about what was asked for, a look at its newest, or no list, by operation."""


class Lists:
    """A site with more than two pages in every list, which can be shaken while a client reads it."""

    def __init__(self, store: Repository) -> None:
        self.store = store
        for slug in ("python", "web"):
            store.groups.create(slug, slug.title())
        past = store.store.now() - 86400
        rows = [imported(n, past, title="Some title", poster=ALICE, poster_name="alice") for n in range(3)]
        store.imports.add(rows)  # at the same time
        self.articles = [1, 2, 3, *(self.post(n) for n in range(12))]
        for number in self.articles:
            store.groups.assign(number, ["python", "web"][: 1 + number % 2], actor=MODERATOR)
            store.members.save(BOB, number, wanted=True)
            vote(store, number, number % 4)
            view(store, number, *range(2 + number % 5))
        self.first = self.articles[5]
        self.comments = [self.comment(n) for n in range(14)]
        self.replies = [self.comment(n, parent=self.comments[0]) for n in range(12)]
        for n, comment in enumerate(self.comments):
            self.elect(comment, n % 3)
            store.flags.set(comment, 5000 + n, FlagReason.SPAM)
        others = [*self.articles[:5], *self.articles[6:]]
        self.elsewhere = {number: comment_on(store, number, "Elsewhere") for number in others}
        for number in self.articles[:-2]:
            store.votes.cast(number, BOB, Choice.VOTE)
        past -= 30 * 86400
        again = [imported(50 + n, past + n * 3 * 86400, title=f"Again {n}", link=LINK) for n in range(12)]
        store.imports.add(again)
        self.gone = [comment_on(store, self.articles[1], f"Gone {n}") for n in range(12)]
        for comment in self.gone:
            store.comments.remove(comment, MODERATOR, "Spam")
        self.removed = [self.post(100 + n) for n in range(12)]
        for number in self.removed:
            store.articles.remove(number, MODERATOR, "Spam")
        for n in range(6):
            for change in (store.comments.lock, store.comments.unlock):
                change(self.first, MODERATOR, f"No. {n}")

    def post(self, number: int) -> int:
        return self.store.articles.post(ALICE, "alice", f"Some title {number}", f"https://example.org/{number}").id

    def comment(self, number: int, parent: int | None = None) -> int:
        return comment_on(self.store, self.first, f"Some words {number}", BOB, parent)

    def elect(self, comment: int, votes: int, first: UserId = 9000) -> None:
        for user in range(first, first + votes):
            self.store.comments.cast(comment, user, Choice.VOTE)

    def on(self, article: int) -> set[int]:
        """Return an article and the comments on it, which come and go with it."""
        return {article, self.elsewhere.get(article, 0), *(self.gone if article == self.articles[1] else ())}

    def change(self, rng: random.Random, number: int) -> set[int]:
        """Change something at random; return what was removed, restored or deleted, with comments on it."""
        store, article, comment = self.store, rng.choice(self.articles), rng.choice(self.comments)
        kinds = ("post", "vote", "oppose", "view", "comment", "reply", "elect", "flag")
        with suppress(ArticlesError):  # of what is removed
            match rng.choice([*kinds, "remove", "restore", "remove comment", "restore comment", "delete comment"]):
                case "post":
                    self.articles.append(self.post(1000 + number))
                    store.groups.assign(self.articles[-1], ["python", "web"], actor=MODERATOR)
                    store.members.save(BOB, self.articles[-1], wanted=True)
                case "vote" | "oppose" as choice:
                    vote(store, article, rng.randint(1, 9), Choice(choice))
                case "view":
                    view(store, article, *range(100 * number, 100 * number + rng.randint(1, 30)))
                case "comment":
                    self.comments.append(self.comment(1000 + number))
                case "reply":
                    self.comment(1000 + number, parent=self.comments[0])
                case "elect":
                    self.elect(comment, rng.randint(1, 9), first=20_000 + 10 * number)
                case "flag":
                    store.flags.set(comment, 30_000 + number, FlagReason.SPAM)
                case "remove" if article != self.first:
                    store.articles.remove(article, MODERATOR, f"Spam {number}")
                    return self.on(article)
                case "restore":
                    article = rng.choice([*self.articles, *self.removed])
                    store.articles.restore(article, MODERATOR, f"No spam {number}")
                    return self.on(article)
                case "remove comment":
                    store.comments.remove(comment, MODERATOR, f"Spam {number}")
                    return {comment}
                case "restore comment":
                    comment = rng.choice([*self.comments, *self.gone])
                    store.comments.restore(comment, MODERATOR, f"No spam {number}")
                    return {comment}
                case "delete comment" if comment != self.comments[0]:
                    store.comments.delete(comment, BOB)
                    return {comment}
        return set()


@pytest.fixture
def shards() -> int:
    return 1


@pytest.fixture
def small_pages(settings, shards, monkeypatch) -> None:
    settings.STORE_SHARDS, settings.ARTICLES_PER_PAGE = max(shards, settings.STORE_SHARDS), 5
    monkeypatch.setattr(search, "MOST_OF_LINK", 5)


@pytest.fixture
def lists(small_pages, site_store, alice, bob, carol) -> Lists:
    bob.followed_groups = "python,web"
    bob.save()
    return Lists(site_store)


def readers(lists: Lists) -> dict[str, Callable[[dict], list[object]]]:
    """Return the paths of lists of more than one response, with what tells their entries from each other."""
    found = dict.fromkeys(ARTICLES, lambda page: [row["id"] for row in page["articles"]])
    for parent, path in (
        (None, f"articles/{lists.first}/comments"),
        (lists.comments[0], f"comments/{lists.comments[0]}/replies"),
    ):
        for order in ("best", "newest", "oldest"):
            found[f"{path}?size=5&order={order}"] = lambda page, parent=parent: [
                row["id"] for row in page["comments"] if row["parent"] == parent
            ]
    found["search/comments?q=words"] = lambda page: [row["id"] for row in page["comments"]]
    found["log"] = found[f"articles/{lists.first}/log"] = lambda page: [
        (row["action"], row["reason"], row["article_id"], str(row["details"])) for row in page["entries"]
    ]
    found["queue"] = lambda page: [(row["comment"] or row["article"])["id"] for row in page["entries"]]
    found["removed/comments"] = lambda page: [row["comment"]["id"] for row in page["comments"]]
    found["removed/articles"] = lambda page: [row["article"]["id"] for row in page["articles"]]
    found["inbox"] = lambda page: [  # a reply that is deleted, or on a removed article, tells nothing of itself
        row["comment"]["id"] if row["comment"] else (row["action"], row["article_id"])
        for row in page["notices"]
        if row["kind"] == "moderation" or row["comment"]
    ]
    return found


def follow(caller: Caller, path: str, read: Callable[[dict], list[object]], after: str | None) -> list[object]:
    """Return the entries after a cursor, up to the last."""
    found: list[object] = []
    while after:
        page = caller.get(f"{path}{'&' if '?' in path else '?'}after={quote(after)}").json()
        assert page.get("page") is None, path
        found += read(page)
        assert len(found) == len(set(found)), f"{path} repeats"
        after = page["next_after"]
    return found


@pytest.fixture
def every(lists, alice, bob, carol) -> list[tuple[str, Callable[[dict], list[object]], Caller]]:
    """Every list, how its entries are read, and a reader of it."""
    callers = {user.username: with_token(user) for user in (alice, bob, carol)}
    who = {"inbox": "alice", "queue": "carol", "removed/articles": "carol", "removed/comments": "carol"}
    return [(path, read, callers[who.get(path, "bob")]) for path, read in readers(lists).items()]


@pytest.mark.deep
@pytest.mark.parametrize("shards", [1, 4])
def test_what_is_listed_during_a_whole_walk_is_in_it_once(lists, every):
    rng, number, touched = random.Random(SEED), 0, set[int]()
    pages = [caller.get(path).json() for path, _, caller in every]
    before = [
        read(page) + follow(caller, path, read, page["next_after"])
        for page, (path, read, caller) in zip(pages, every, strict=True)
    ]
    found = [read(page) for page, (_, read, _) in zip(pages, every, strict=True)]
    cursors_of = {n: page["next_after"] for n, page in enumerate(pages)}

    while left := [n for n, cursor in cursors_of.items() if cursor]:
        for _ in range(rng.randint(0, 2) if number < CHANGES else 0):
            number += 1
            touched |= lists.change(rng, number)
        n = rng.choice(left)
        path, read, caller = every[n]
        page = caller.get(f"{path}{'&' if '?' in path else '?'}after={quote(cursors_of[n])}").json()
        found[n] += read(page)
        assert len(found[n]) == len(set(found[n])), f"{path} repeats"
        cursors_of[n] = page["next_after"]

    for was, is_, (path, _, _) in zip(before, found, every, strict=True):
        assert [one for one in was if one not in is_ and one not in touched] == [], f"{path} skips"


def fill_tables(alice, bob, article):
    """Create a dozen rows of each kind of what moderators and members read from the accounts database."""
    for n in range(12):
        HeldPost.objects.create(author=bob, title=f"Held {n}", text="Words")
        LegalNotice.objects.create(
            address=f"/articles/{article}/", reason="illegal", explanation=f"Words {n}", name="N", email="n@e.org"
        )
        Statement.objects.create(member=bob, act=Act.REMOVAL, reason=f"Reason {n}")
        named = member(f"about{n}", about="About")
        AboutFlag.objects.create(member=named, flagger=alice, reason="spam")


@pytest.mark.parametrize(
    ("module", "path", "entries", "who"),
    [
        ("moderation.rules.held", "held", "held", "carol"),
        ("moderation.rules.held", "me/held", "held", "bob"),
        ("moderation.legal_notices", "queue/notices", "notices", "carol"),
        ("moderation.profiles", "queue/profiles", "profiles", "carol"),
        ("moderation.statements", "me/statements", "statements", "bob"),
    ],
)
def test_members_lists_continue(site_store, article, alice, bob, carol, monkeypatch, module, path, entries, who):
    monkeypatch.setattr(f"{module}.MOST_SHOWN", 5)
    fill_tables(alice, bob, article)
    caller = with_token({"bob": bob, "carol": carol}[who])

    page = caller.get(path).json()
    first = [str(row) for row in page[entries]]
    HeldPost.objects.create(author=bob, title="Held later", text="Words")
    found = first + follow(caller, path, lambda page: [str(row) for row in page[entries]], page["next_after"])

    assert len(first) == 5
    assert len(found) == len(set(found)) == 12 + (path == "held")
    assert error_of(caller.get(f"{path}?after=x")) == (400, "invalid")


def test_every_list_continues_or_is_whole():
    """Of a new list that does not fit into one response, clients would otherwise see only the beginning."""
    for path, method, operation in operations(document()):
        if method != "get":
            continue
        schema = document()["components"]["schemas"][
            name_of(operation["responses"]["200"]["content"]["application/json"]["schema"])
        ]
        lists = {name for name, one in schema["properties"].items() if one.get("type") == "array"}
        name = operation["operationId"]
        lists -= {one for table in (WHOLE, FACTS) for one in table.get(name, "").split(", ")}
        parameters = {one["name"] for one in operation["parameters"]}
        goes_on = "after" in parameters and "next_after" in schema["properties"]
        assert goes_on is (len(lists) == 1), f"{path}: {lists}"
        assert goes_on or "page" not in parameters, path


def test_a_list_names_the_address_of_what_follows(lists, bob):
    caller = with_token(bob)

    def after(answer):
        return answer.headers.get("Link", "").removeprefix("<").removesuffix('>; rel="next"')

    answer, ids, path = caller.get("articles?order=score&group=python&page=1"), [], ""
    while True:
        ids += [row["id"] for row in answer.json()["articles"]]
        path = after(answer)
        assert bool(path) is bool(answer.json()["next_after"])
        if not path:
            break
        answer = caller.get(f"articles{path}")

    assert "group=python" in caller.get("articles?group=python")["Link"]
    assert sorted(ids) == sorted(lists.articles)


@pytest.mark.parametrize("shards", [1, 3])
def test_a_list_by_time_is_in_its_order_with_cursors(lists, bob):
    path, caller = "articles?order=time", with_token(bob)
    first = caller.get(path).json()

    ids = [row["id"] for row in first["articles"]]
    ids += follow(caller, path, lambda page: [row["id"] for row in page["articles"]], first["next_after"])

    listed = lists.store.lists.get_page(Order.TIME, size=100).articles
    assert ids == [article.id for article in listed]


@pytest.mark.parametrize("path", ["articles", "articles?order=time", "me/saved", "log", "search?q=title", "queue"])
def test_a_cursor_is_for_one_list_and_one_day(lists, carol, path):
    caller, sign = with_token(carol), "&" if "?" in path else "?"
    for n in lists.articles:
        lists.store.members.save(carol.pk, n, wanted=True)
    cursor = quote(caller.get(path).json()["next_after"])

    assert caller.get(f"{path}{sign}after={cursor}").status_code == 200
    for wrong in (cursor[:-1], cursor[1:], cursor + "A", "", "x", ":", "%00", "é", "😀", "a:b:c", "9" * 3000):
        assert error_of(caller.get(f"{path}{sign}after={wrong}")) == (400, "invalid"), wrong
    for more in ("&page=1", "&page=2"):
        assert error_of(caller.get(f"{path}{sign}after={cursor}{more}")) == (400, "invalid")
    assert error_of(caller.get(f"me/following?after={cursor}")) == (400, "invalid")
    set_clock(lists.store, lists.store.store.now() + 26 * 3600)
    assert error_of(caller.get(f"{path}{sign}after={cursor}")) == (400, "invalid")


@pytest.mark.parametrize(("name", "most"), [("MOST_IN_ADDRESS", 60), ("MOST_SEEN", 4)])
def test_a_list_ends_where_its_cursor_would_be_too_large(lists, anyone, monkeypatch, name, most):
    monkeypatch.setattr(cursors, name, most)
    first = anyone.get("articles?group=python%2Bweb").json()

    assert (first["pages"] > 1, first["next_after"]) == (True, None)


@pytest.mark.parametrize("path", ["articles?order=time", "articles?order=score", "hot?range=all&limit=5"])
def test_a_cursor_from_before_does_not_open_a_group_that_is_for_members_now(
    small_pages, site_store, anyone, carol, settings, tmp_path, django_capture_on_commit_callbacks, path
):
    settings.DATA_DIR = tmp_path
    site_store.groups.create("python", "Python")
    site_store.groups.create("inner", "Inner")
    inside = {post(site_store, n, ("inner",)) for n in range(8)}
    outside = {post(site_store, n, ("python",)) for n in range(8, 16)}
    for number in inside | outside:
        view(site_store, number, number, 100 + number)
    site_store.hot.rescore()
    page = anyone.get(path).json()
    had = {row["id"] for row in page["articles"]}
    with django_capture_on_commit_callbacks(execute=True):
        set_visibility("inner", actor(carol), "", is_closed=True)

    rest = follow(anyone, path, lambda page: [row["id"] for row in page["articles"]], page["next_after"])

    assert set(rest) == outside - had
    assert not inside & set(rest)
