"""Members, their browsers, articles, votes and views, created by every test in the same way."""

from collections.abc import Iterable, Sequence
from itertools import count

from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client

from accounts.models import User
from accounts.moderators import GROUP as MODERATORS
from articles.domain.articles import Article, Choice, ImportedArticle
from articles.domain.comments import CommentId, CommentPlace, ImportedComment
from articles.domain.moderation_log import Actor
from articles.domain.readership import Suspicion, Visit
from articles.repository import Repository
from tests.cast import ALICE, BOB, IDS, name_of, password_of

_voters = count(900_000)


def reserve_ids(**_: object) -> None:
    """Reserve the lowest member ids for the cast; called after each migration, which may reset the sequence."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT setval(pg_get_serial_sequence('accounts_user', 'id'), 100)")
            return
        cursor.execute("DELETE FROM sqlite_sequence WHERE name = 'accounts_user'")
        cursor.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('accounts_user', 100)")


def member(name: str, *, moderator: bool = False, **facts: object) -> User:
    """Create an account; a member of the cast has the same id everywhere."""
    facts = {"password": password_of(name)} | ({"pk": IDS[name]} if name in IDS else {}) | facts
    assert "pk" not in facts or not User.objects.filter(pk=facts["pk"]).exists(), f"the id of {name} is taken"
    user = User.objects.create_user(name, **facts)
    if moderator:
        user.groups.add(Group.objects.get(name=MODERATORS))
    return user


def actor(user: User) -> Actor:
    """Return the member as the moderation log names them."""
    return Actor(user.pk, user.username)


def browser_of(user: User | None = None, *, strict: bool = False) -> Client:
    """Return a browser, of a member if one is given; `strict` checks the forms' tokens, as the real site does."""
    browser = Client(enforce_csrf_checks=strict)
    if user is not None:
        browser.force_login(user)
    return browser


def link(number: int) -> str:
    return f"https://example.org/{number}"


def post(repository: Repository, number: int, groups: tuple[str, ...] = (), poster: int = ALICE) -> int:
    """Post article `number` and return its id."""
    return repository.articles.post(poster, name_of(poster), f"Article {number}", link(number), groups).id


def comment_on(
    repository: Repository,
    article_id: int,
    text: str,
    user: int = BOB,
    parent: int | None = None,
    mentioned: Sequence[int] = (),
) -> int:
    """Post a comment as this member, or as bob, and return its id."""
    return repository.comments.post(article_id, user, name_of(user), text, parent=parent, mentioned=mentioned)


def discuss(repository: Repository, ids: Iterable[int]) -> None:
    """Post a comment on each of these articles, in this order."""
    for article_id in ids:
        comment_on(repository, article_id, "A comment")


def post_as(
    repository: Repository, user: User, title: str, link: str, groups: Sequence[str] = (), *, text: str = ""
) -> Article:
    """Post an article as this member."""
    return repository.articles.post(user.pk, user.username, title, link, groups, text=text)


def imported(number: int, posted_at: float, **changes: object) -> ImportedArticle:
    """Return an article by bob with 3 votes and 2 opposing votes, as an import adds it."""
    facts = {"title": f"Import {number}", "link": f"https://old.example/{number}", "poster": BOB}
    facts |= {"poster_name": "bob", "posted_at": posted_at, "votes": 3, "opposes": 2} | changes
    return ImportedArticle(**facts)  # type: ignore[arg-type]


def imported_comments(article: ImportedArticle, posted_at: float) -> list[ImportedComment]:
    """Return a reply by bob to a stub, and a reply by alice to it with 3 votes and 2 opposing votes, to import."""
    stub = CommentPlace(1, posted_at, is_stub=True)
    first = CommentPlace(2, posted_at + 1, stub)
    return [
        ImportedComment(article, first, BOB, "bob", "First"),
        ImportedComment(article, CommentPlace(4, posted_at + 2, first), ALICE, "alice", "Second", 3, 2),
    ]


def visit(visitor: int, network: int | None = None, suspicion: Suspicion | None = None) -> Visit:
    """Return a visit of visitor `visitor`, from a network where views are limited if one is given."""
    return Visit(f"{visitor:016x}", "" if network is None else f"{network:016x}", suspicion)


def view(repository: Repository, article_id: int, *visitors: int) -> None:
    """Record one view by each of these visitors, all of which count."""
    for visitor in visitors:
        assert repository.pageviews.record(article_id, visit(visitor)).counted


def vote_from(repository: Repository, article_id: int, network: int, times: int) -> None:
    """Cast votes by new accounts that have cast none before, from one network."""
    for _ in range(times):
        repository.votes.cast(article_id, next(_voters), Choice.VOTE, f"{network:016x}")


def comment_votes_from(repository: Repository, comment_id: CommentId, network: int, times: int) -> None:
    """Cast votes on a comment by new accounts that have cast none before, from one network."""
    for _ in range(times):
        repository.comments.cast(comment_id, next(_voters), Choice.VOTE, f"{network:016x}")


def vote(repository: Repository, article_id: int, times: int = 1, choice: Choice = Choice.VOTE) -> None:
    """Cast votes by members who have cast none before."""
    for _ in range(times):
        repository.votes.cast(article_id, next(_voters), choice)


def vote_by_trusted(repository: Repository, article_id: int, times: int = 5) -> None:
    """Cast votes by members who are no longer new, and unrelated."""
    for _ in range(times):
        backer = member(f"backer{next(_voters)}")
        backer.trust()
        repository.votes.cast(article_id, backer.pk, Choice.VOTE)
