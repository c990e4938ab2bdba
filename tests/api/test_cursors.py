"""Cursors: lists that change while a client reads them, and requests for what follows that are not valid."""

from collections.abc import Callable
from urllib.parse import quote

import pytest

from articles.api.protocol import cursors
from articles.domain.articles import Choice
from articles.domain.flags import FlagReason
from articles.domain.lists import Order
from articles.domain.members import UserId
from articles.repository import Repository
from tests.caller import Caller, error_of, with_token
from tests.cast import ALICE, BOB, MODERATOR
from tests.factories import comment_on, imported, view, vote
from tests.store_state import set_clock

GROUPS = ("&group=python", "&group=python%2Bweb")
ARTICLES = [f"articles?order={order}" for order in Order]
ARTICLES += [f"articles?order={order}{group}" for order in ("score", "time") for group in GROUPS]
ARTICLES += ["articles?order=points&range=month", "search?q=title", "search?q=title&order=time"]
ARTICLES += ["users/alice/articles", "me/saved", "me/voted", "me/following"]


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

    def shake(self) -> set[int]:
        """Change the order of every list, add to each, and return what is no longer listed."""
        store, articles = self.store, self.articles
        for n in (200, 201):
            number = self.post(n)
            store.groups.assign(number, ["python", "web"], actor=MODERATOR)
            store.members.save(BOB, number, wanted=True)
            vote(store, number, 9)
            self.elect(self.comment(n), 7)
            self.comment(n, parent=self.comments[0])
        vote(store, articles[3], 6)
        view(store, articles[2], *range(50, 90))
        vote(store, articles[-1], 6, Choice.OPPOSE)
        comment_on(store, articles[4], "The last one")
        self.elect(self.comments[2], 9, first=9500)
        store.flags.set(self.comments[1], ALICE, FlagReason.SPAM)
        gone = {articles[8], articles[-2], self.comments[5], self.replies[6], self.comments[-1], self.replies[-1]}
        for number in (articles[8], articles[-2]):
            store.articles.remove(number, MODERATOR, "Off topic")
        for comment in gone - set(articles):
            store.comments.delete(comment, BOB)
        store.articles.restore(self.removed[3], MODERATOR, "It is on topic")
        return gone | {self.removed[3], self.elsewhere[articles[8]], self.elsewhere[articles[-2]]}


@pytest.fixture
def shards() -> int:
    return 1


@pytest.fixture
def small_pages(settings, shards) -> None:
    settings.STORE_SHARDS, settings.ARTICLES_PER_PAGE = max(shards, settings.STORE_SHARDS), 5


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
        after = page["next_after"]
    return found


@pytest.mark.parametrize("shards", [1, 3])
def test_no_list_repeats_or_skips_an_entry_while_it_changes(lists, alice, bob, carol):
    callers = {user.username: with_token(user) for user in (alice, bob, carol)}
    who = {"inbox": "alice", "queue": "carol", "removed/articles": "carol"}
    every = [(path, read, callers[who.get(path, "bob")]) for path, read in readers(lists).items()]
    begun = [caller.get(path).json() for path, _, caller in every]
    whole = [
        read(page) + follow(caller, path, read, page["next_after"])
        for page, (path, read, caller) in zip(begun, every, strict=True)
    ]

    gone = lists.shake()

    for page, before, (path, read, caller) in zip(begun, whole, every, strict=True):
        assert len(before) == len(set(before)) > 10, path
        found = read(page) + follow(caller, path, read, page["next_after"])
        assert len(found) == len(set(found)), f"{path} repeats"
        assert [one for one in before if one not in found and one not in gone] == [], f"{path} skips"


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


def test_responses_without_a_cursor_name_none(lists, anyone):
    by_votes, by_time = (anyone.get(f"articles?order={order}&page=2").json() for order in ("score", "time"))

    assert (by_votes["page"], by_votes["next_after"]) == (2, None), "what the first page had is not known"
    assert by_time["next_after"]
    assert anyone.get("articles?page=3").json()["next_after"] is None
    thread = anyone.get(f"articles/{lists.first}/comments?start=5&size=5").json()
    assert (thread["next_start"], thread["next_after"]) == (10, None)
    assert error_of(anyone.get(f"articles/{lists.first}/comments?start=0&after=x")) == (400, "invalid")


@pytest.mark.parametrize(("name", "most"), [("MOST_IN_ADDRESS", 60), ("MOST_SEEN", 4)])
def test_a_list_ends_where_its_cursor_would_be_too_large(lists, anyone, monkeypatch, name, most):
    monkeypatch.setattr(cursors, name, most)
    first = anyone.get("articles?group=python%2Bweb").json()

    assert (first["pages"] > 1, first["next_after"]) == (True, None)
