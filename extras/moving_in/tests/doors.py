"""What the tests of the core need of moving in: see `tests/extras.py`."""

from articles.domain.articles import Choice, ImportedVote
from articles.domain.comments import root_of
from extras.moving_in.models import Arrival, FollowedFeed, Kind, MovedAccount, Source
from extras.moving_in.store import MovedLog, Undoings
from tests.cast import ALICE, CAROL
from tests.factories import imported, imported_comments

NEW_MODELS = ("moving_in.MovedAccount", "moving_in.Arrival", "moving_in.Source", "moving_in.FollowedFeed")


def fill(member):
    source = Source.objects.create(name="old", format="lobsters", host="old.example")
    Arrival.objects.create(source=source, kind=Kind.MEMBER, old_id="7", new_id=str(member.pk))
    MovedAccount.objects.create(user=member, source=source, address="owner@old.example")
    FollowedFeed.objects.create(address="https://old.example/feed", member=member)


WITHOUT_PAGE = {"a file for crawlers": "articles:old_addresses"}
CRAWLED = ("old_addresses",)


def use_store(repository, article_id, slugs, more):
    """Import an article with a discussion, votes and entries of a log, which no one answers, and take it out."""
    at = repository.store.now() - 60
    voters = ImportedVote(ALICE, Choice.VOTE, at), ImportedVote(CAROL, Choice.OPPOSE, at)
    article = imported(9, at, groups=tuple(slugs), voters=voters)
    (number,) = repository.imports.add([article])
    repository.imports.add_comments(imported_comments(article, at + 1))
    log = MovedLog(repository.store)
    for one, comment in ((number, ""), (number, str(root_of(number) + 1)), (0, "")):
        part = log.part_of(one)
        facts = ("lock", at, "*", str(one), comment, "Title", "Reason", "{}")
        assert log.append(part, log.get_newest()[part][0], [facts])
    times = {number: at + 30}
    undoings = Undoings(repository.store)
    seen = {one: first for one, (first, *_) in undoings.look(times).items()}
    assert undoings.take_out(times, seen) == set()
    assert undoings.look(times) == {}
