"""What the tests of the core need of moving in: see `tests/extras.py`."""

from django.test import Client

from accounts.models import User
from articles.domain.articles import Choice, ImportedVote
from articles.domain.comments import root_of
from extras.moving_in import claims
from extras.moving_in.models import Arrival, FollowedFeed, Kind, MovedAccount, Source
from extras.moving_in.store import MovedLog, Undoings
from tests.cast import ALICE, CAROL
from tests.factories import imported, imported_comments

NEW_MODELS = ("moving_in.MovedAccount", "moving_in.Arrival", "moving_in.Source", "moving_in.FollowedFeed")


def waiting(name="ann", password="", address="ann@old.example", old_id=""):
    """Return an account that moved in, with this hash of the old password."""
    number = User.objects.bulk_create_imported([name])[name]
    if password:
        User.objects.filter(pk=number).update(password=password)
    source = Source.objects.get_or_create(name="old", format="lobsters", host="old.example")[0]
    Arrival.objects.create(source=source, kind=Kind.MEMBER, old_id=old_id or name, new_id=str(number))
    return MovedAccount.objects.create(user_id=number, source=source, address=address)


def fill(member):
    source = Source.objects.create(name="old", format="lobsters", host="old.example")
    Arrival.objects.create(source=source, kind=Kind.MEMBER, old_id="7", new_id=str(member.pk))
    MovedAccount.objects.create(user=member, source=source, address="owner@old.example")
    FollowedFeed.objects.create(address="https://old.example/feed", member=member)


def stage(told, _repository):
    moved = waiting("Moved-" + "w" * 24)
    path = claims.path_of(moved, "mo@old.example")
    told["claim"], told["moved"] = path.split("/")[2], moved.user.username


def _ask(member):
    waiting(address=member.email)
    Client(headers={"accept-language": member.language}).post("/claim/", {"email": member.email})


PAGES = (
    ("claim an account", "/claim/"),
    ("claim an account, sent wrongly", "/claim/", "", 400, {"email": ""}),
    ("link that claims an account", "/claim/{claim}/"),
    (
        "link that claims an account, sent wrongly",
        "/claim/{claim}/",
        "",
        400,
        {"new_password1": "short", "new_password2": ""},
    ),
    ("link that claims no account", "/claim/x/", "", 404),
    ("member who moved in", "/users/{moved}/"),
    ("moderators' page of a member who moved in", "/users/{moved}/moderation/", "moderator"),
)
OF_MODERATORS = {"/users/<str:name>/moderation/claim/": {"email": "", "reason": "Because"}}
MAILS = {claims.MAIL_OF_LINKS: _ask}
WITHOUT_PAGE = {"a file for crawlers": "articles:old_addresses", "a form's target": "articles:send_claim"}
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
        facts = ("lock", repository.store.now(), "*", str(one), comment, "Title", "Reason", "{}")
        assert log.append(part, log.get_newest()[part][0], [facts])
    client, lists = repository.store.client, [keys.log for keys in repository.store.shards.all]
    entries = {name: client.lrange(name, 0, -1) for name in lists}
    log.drop([len(entries[name]) for name in lists])
    for name in filter(entries.get, lists):  # what others need of it
        client.lpush(name, *reversed(entries[name]))
    times = {number: at + 30}
    undoings = Undoings(repository.store)
    seen = {one: first for one, (first, *_) in undoings.look(times).items()}
    assert undoings.take_out(times, seen) == set()
    assert undoings.look(times) == {}
