"""A store in use, and how tests of the repository inspect it."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache

import redis

from articles.domain.articles import Choice
from articles.domain.comments import root_of
from articles.domain.errors import LimitReached
from articles.domain.flags import FlagReason
from articles.domain.limits import Use
from articles.domain.lists import TOP_PERIODS, Order
from articles.domain.measurements import WebCounts
from articles.domain.ranking import Parameters
from articles.domain.readership import Suspicion
from articles.repository import Cast, Closed, Repository
from articles.repository.readership.pageviews import views_per_article
from articles.repository.store import scripts
from tests import extras
from tests.cast import ALICE, BOB, CAROL, MALLORY, MODERATOR
from tests.clock import DAY, Clock
from tests.every_server import servers_of
from tests.factories import comment_on, imported, imported_comments, link, post, visit, vote_from
from tests.repository.snapshots import filled_once
from tests.rules import RATES, connect, default_rules


def listed(repository: Repository, order: Order = Order.SCORE, slug: str | None = None) -> list[int]:
    """Return the ids of a whole list, read page by page."""
    page = repository.lists.get_page(order, slug=slug)
    ids = [article.id for article in page.articles]
    while page.has_next:
        page = repository.lists.get_page(order, page.number + 1, slug=slug)
        ids += [article.id for article in page.articles]
    return ids


def finish_tuning(repository: Repository) -> None:
    """Advance the change of parameters until it has been applied."""
    while not repository.parameters.advance():
        pass


def tune(repository: Repository, parameters: Parameters) -> None:
    """Apply parameters completely."""
    version = repository.parameters.get_state().version
    repository.parameters.apply(parameters, expected=version, actor=MODERATOR, reason="To see what happens")
    finish_tuning(repository)


def let_pass(repository: Repository, clock: Clock, seconds: float) -> None:
    """Advance the clock, and the store's own with it, as housekeeping does within that time."""
    clock.advance(seconds)
    repository.clock.accept()


def hot_values(repository: Repository) -> dict[int, float]:
    """Return the values in the hot lists of all shards."""
    client, shards = repository.store.client, repository.store.shards.all
    return {
        int(i): value
        for keys in shards
        for i, value in client.zrange(keys.order(Order.HOT), 0, -1, withscores=True)
    }


def warm(repository: Repository, *slugs: str) -> None:
    """Read each group in every order, so that its rankings exist."""
    for slug in slugs:
        for order in Order:
            repository.lists.get_page(order, slug=slug)
    for period in TOP_PERIODS.values():
        repository.lists.get_page(Order.POINTS, period=period)


@filled_once
def use(repository: Repository, clock: Clock) -> None:
    """Create something of every kind: articles 1 to 12; 1 and 2 are closed, 5 and 6 removed, 9 to 12 imported.

    Groups python (3, 4, 6, 7, 9) and redis (3, 8); java was merged into python. Their rankings exist. 1, 3, 4, 7,
    8 and 9 were viewed, some by bots and bursts too; another γ was applied, and ranks were sampled. 7 and 8 have
    comments, as `use_comments` says.
    """
    groups, votes = repository.groups, repository.votes
    for slug in ("python", "redis", "java"):
        groups.create(slug, slug.title(), MODERATOR)
    post(repository, 1)
    post(repository, 2, poster=BOB)
    clock.advance(8 * DAY)
    for number in range(3, 9):
        post(repository, number, poster=ALICE if number % 2 else BOB)
        clock.advance(1.25)
        for user in range(10, 10 + number):
            votes.cast(number, user, Choice.VOTE if user % 3 else Choice.OPPOSE)
        votes.cast(number, 10, Choice.NONE)
    for number, slugs in {3: ["python", "redis"], 4: ["java"], 6: ["python"], 7: ["python"], 8: ["redis"]}.items():
        groups.assign(number, slugs, actor=MODERATOR, reason="They belong there")
    groups.merge("java", "python", MODERATOR, "The same")
    groups.rename("redis", "Redis & friends", MODERATOR)
    groups.describe("python", "All about *Python*.", MODERATOR)
    for number in (5, 6, 8):
        repository.articles.remove(number, MODERATOR, "Spam")
    repository.articles.restore(8, MODERATOR, "It was not")
    better = {"text": "A *text*", "reason": "A typo", "mentioned": [MALLORY]}
    repository.articles.edit(7, MODERATOR, "Better", link(700), moderator=True, **better)
    now = clock()
    with repository.imports.lock():
        repository.imports.get_shift("f" * 32, 5.0)
        repository.imports.add(
            [
                imported(1, now - 3600, groups=("python",)),
                imported(2, now - 30 * DAY),
                imported(3, now - 60, removed="Off topic"),
                imported(4, now - 9, poster=0, poster_name="", opposes=0),
                (discussed := imported(5, now - DAY, comment_numbers=4)),
            ]
        )
        repository.imports.add_comments(imported_comments(discussed, now - 600))
    vote_from(repository, 8, 1, repository.rules.ring_accounts)
    repository.voting_rings.check(8, clock(), MODERATOR)
    clock.advance(0.25)
    vote_from(repository, 8, 1, repository.rules.ring_accounts)
    use_comments(repository, clock)
    use_flags(repository, clock)
    for use in extras.all_of("use_store"):
        use(repository, 8, ["python", "redis"], ["redis"])
    for step in (repository.left_out.leave_out, repository.left_out.count_again):
        for user in (11, 13):
            list(step(user, f"user{user}", MODERATOR, "A ring"))
    list(repository.left_out.leave_out(13, "user13", MODERATOR, "A ring"))
    repository.left_out.begin_probation(14)
    list(repository.left_out.go_on(14))
    read_all(repository, clock)
    parameters = Parameters(gamma=1.4)
    tune(repository, parameters)
    repository.history.record()
    repository.measurements.record(lambda: WebCounts(1.0, 0, 0, 0, {"+Inf": 0}))
    with repository.lease.acquire():
        repository.lease.record_step("hot", at=clock(), seconds=0.01, result="scored", error="")
    warm(repository, "python", "redis")
    repository.account_ids.note(repository.account_ids.reserve(4, 1))
    repository.clock.advance()
    repository.clock.drop_voters(60)


def note_ballots(repository: Repository) -> list[int]:
    """Note a ballot record of each article that has closed by now; return the ids, as often as they were found."""
    repository.clock.accept()
    noted, found = list[int](), list[Closed]()
    for _ in range(100):
        found = list(repository.ballots.find_closed())
        for one in found:
            assert repository.ballots.note(one, records_of(repository, one))
            noted += one.ids
        if not any(one.has_more for one in found):
            return noted
    raise AssertionError(f"there is no end: {found}")


def records_of(repository: Repository, found: Closed, version: int = 1) -> dict[int, tuple[int, Cast]]:
    """Return what is noted of records of these articles."""
    casts = {article: repository.ballots.read(article) for article in found.ids}
    return {article: (version, cast) for article, cast in casts.items() if cast}


def merge_two(repository: Repository) -> None:
    """Post two articles and merge them: the vote of one member came with the merged one."""
    merged, other = post(repository, 60), post(repository, 61)
    repository.votes.cast(merged, 84, Choice.VOTE)
    assert sum(repository.merges.merge(merged, other, MODERATOR, "The same"))


def use_comments(repository: Repository, clock: Clock) -> None:
    """Post comments on articles 7 and 8: 1 by alice, with votes; its reply 2 by bob; 3, a stub; its reply 4."""
    for article_id in (7, 8):
        first = comment_on(repository, article_id, "First", ALICE)
        comment_on(repository, article_id, "Second", BOB, first)
        clock.advance(0.125)
        stub = comment_on(repository, article_id, "Third", BOB)
        comment_on(repository, article_id, "Fourth", ALICE, stub, mentioned=[MALLORY])
        for user in range(10, 15):
            repository.comments.cast(first, user, Choice.OPPOSE if user == 12 else Choice.VOTE)
        repository.comments.delete(stub, BOB)


def use_flags(repository: Repository, clock: Clock) -> None:
    """Flag articles 3, which is kept, and 4, and the first comment on article 8, which mallory flags as well."""
    for article_id in (3, 4):
        repository.flags.set(root_of(article_id), CAROL, FlagReason.BROKEN_LINK, "It is gone")
    repository.flags.keep(root_of(3), clock(), "It is back")
    for member in (BOB, MALLORY):
        repository.flags.set(root_of(8) + 1, member, FlagReason.OFF_TOPIC)


def read_all(repository: Repository, clock: Clock) -> None:
    """Record views of all kinds, over some minutes and at different hours."""
    for article_id in (1, 3, 4, 7, 8, 9):
        for visitor in range(article_id + 2):
            repository.pageviews.record(article_id, visit(visitor, network=visitor % 2))
            clock.advance(7)
        repository.pageviews.record(article_id, visit(0, network=0))  # a repeat
    repository.pageviews.record(7, visit(0, network=0), ALICE)
    for suspicion in (Suspicion.BOT, Suspicion.PREFETCH):
        repository.pageviews.record(7, visit(99, network=7, suspicion=suspicion))
    for visitor in range(100, 100 + views_per_article(repository.rules) + 1):
        repository.pageviews.record(9, visit(visitor, network=8))
    repository.pageviews.get_salt(int(clock() // DAY))


def use_up_limits(repository: Repository, clock: Clock, article_id: int) -> None:
    """Use up the limit of votes, and one that lasts a day."""
    client, shards = repository.store.client, repository.store.shards.count
    limited = connect(client, shards=shards, rules=default_rules(limits=RATES), clock=clock)
    limited.comments.cast(comment_on(limited, article_id, "Here", 78), 77, Choice.VOTE)
    with suppress(LimitReached):
        while True:
            limited.votes.cast(article_id, 77, Choice.VOTE)
    with suppress(LimitReached):
        while True:
            limited.limits.take([Use("logins_day", "a" * 16), Use("logins_network", "b" * 16)])


@contextmanager
def heard_commands(repository: Repository) -> Iterator[list[dict[str, str]]]:
    """Collect what the servers' MONITOR says of each command, also of those in scripts; complete on exit."""
    servers, heard = servers_of(repository.store.client), list[dict[str, str]]()
    with ExitStack() as listening:
        monitors = [listening.enter_context(server.monitor()) for server in servers]
        yield heard
        for server, monitor in zip(servers, monitors, strict=True):
            server.echo("end")
            while (command := monitor.next_command())["command"] != "ECHO end":
                heard.append(command)


@contextmanager
def commands_of_scripts(repository: Repository) -> Iterator[list[list[str]]]:
    """Collect the commands that scripts send to the server, each as a list of words; complete on exit."""
    collected = list[list[str]]()
    with heard_commands(repository) as heard:
        yield collected
    collected += [command["command"].split() for command in heard if command["client_type"] == "lua"]


@contextmanager
def words_of_commands(repository: Repository) -> Iterator[set[str]]:
    """Collect the words of all commands that reach the server, also from scripts; complete on exit."""
    words = set[str]()
    with heard_commands(repository) as heard:
        yield words
    words.update(word for command in heard for word in command["command"].split(" "))


def removing(repository, original, article_id):
    """Return a function that reads like `original`, just after a moderator removes the article."""

    def read(*args, **options):
        repository.articles.remove(article_id, MODERATOR, "spam")
        return original(*args, **options)

    return read


def touched_keys(client: redis.Redis, command: list[str]) -> list[tuple[str, str]]:
    """Return the keys of a command, each with `r` or `w`; a command that reads and writes counts as `w`."""
    name, *args = command
    how = "w" if "write" in _flags(client, name) else "r"
    match name:
        case "ZINTERSTORE":
            return [(args[0], "w"), *((key, "r") for key in args[2 : 2 + int(args[1])])]
        case "ZRANGESTORE":
            return [(args[0], "w"), (args[1], "r")]
        case "ZINTER":
            return [(key, how) for key in args[1 : 1 + int(args[0])]]
        case "DEL" | "UNLINK" | "RENAME" | "MGET" | "SINTER" | "SUNION" | "PFCOUNT":
            return [(key, how) for key in args]
        case "DBSIZE" | "TIME":
            return []
    return [(args[0], how)]


@cache
def _flags(client: redis.Redis, command: str) -> frozenset[str]:
    return frozenset(client.execute_command("COMMAND", "INFO", command)[command.lower()]["flags"])


@dataclass
class Touched:
    """The keys each script was given, read and wrote."""

    given: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    read: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    written: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


@contextmanager
def keys_of_scripts(repository: Repository) -> Iterator[Touched]:
    """Collect the keys that scripts touch; complete on exit."""
    client, touched = repository.store.client, Touched()
    by_digest, script = {scripts.digest(name): name for name in scripts.names()}, ""
    with heard_commands(repository) as commands:
        yield touched
    for heard in commands:
        command = heard["command"].split(" ")
        if heard["client_type"] == "lua":
            for key, how in touched_keys(client, command):
                (touched.read if how == "r" else touched.written)[script].add(key)
        elif command[0] == "EVALSHA":
            script = by_digest[command[1]]
            touched.given[script] |= set(command[3 : 3 + int(command[2])])
        elif command[0] == "EVAL":  # its text is one argument, full of spaces
            script = command[2].partition("\\n")[0]
            last_line = scripts.source(script).splitlines()[-1]
            count, *rest = heard["command"].rpartition(f"{last_line}\\n ")[2].split(" ")
            touched.given[script] |= set(rest[: int(count)])
