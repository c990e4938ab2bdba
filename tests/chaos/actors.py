"""One process of the crowd: play one part on a store until its time is up, then print what it saw as JSON.

    python -m tests.chaos.actors PART URL SHARDS SEED SECONDS

Refusals are expected; every other exception, and every page that holds an article twice, is a finding.
Members 1 to MEMBERS act; the part `deleter` permanently deletes one after another.
"""

import json
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count

from articles.domain.articles import Choice, ImportedArticle
from articles.domain.errors import ArticlesError, GroupNotFound, PageNotFound, StoreError
from articles.domain.lists import TOP_PERIODS, Order, SearchOrder
from articles.domain.moderation_log import Actor
from articles.domain.ranking import Parameters
from articles.domain.readership import Visit
from articles.repository import FeedFilter, ImportRunning, Repository
from articles.text.searching import Hiding
from tests.rules import connect, default_rules
from tests.searches import Search

RULES = default_rules(voting_window=90, edit_window=20, hot_refresh=2)
"""Short, so that articles close and lists are rescored within the run."""

MEMBERS = 120
SLUGS = tuple(f"group-{n}" for n in range(12))
CAROL = Actor(1_000, "carol")
WORDS = ("redis", "python", "vote", "数据库", "缓存", "ranking", "web", "shard")

Deed = Callable[[], object]


@dataclass
class Stage:
    """The state of one process, and its findings."""

    repository: Repository
    chance: random.Random
    deeds: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)
    pages: int = 0

    def article(self) -> int:
        """Return an article id: often one of the newest, sometimes any id ever assigned."""
        last = max(1, self.repository.changes.get_last_id())
        return (
            max(1, last - int(self.chance.expovariate(1 / 40)))
            if self.chance.random() < 0.8
            else (self.chance.randint(1, last))
        )

    def member(self) -> int:
        return self.chance.randint(1, MEMBERS)

    def title(self) -> str:
        return f"{' '.join(self.chance.choices(WORDS, k=4))} {self.chance.randrange(10_000)}"

    def link(self) -> str:
        return f"https://site{self.chance.randrange(50)}.example/{self.chance.randrange(2_000)}"

    def slugs(self, most: int = 3) -> list[str]:
        return self.chance.sample(SLUGS, self.chance.randint(0, most))

    def seen(self, ids: Sequence[int], what: str) -> None:
        """Record a page; an article that is on it twice is a finding."""
        self.pages += 1
        twice = [article_id for article_id, times in Counter(ids).items() if times > 1]
        if twice:
            self.findings.append(f"{what}: {twice} twice among {list(ids)}")


def voter(stage: Stage) -> Iterator[Deed]:
    """Vote where readers look, and anywhere else."""
    repository, chance, front = stage.repository, stage.chance, list[int]()

    def look() -> None:
        page = repository.lists.get_page(Order.SCORE, chance.randint(1, 4))
        front[:] = [article.id for article in page.articles]

    def vote() -> None:
        article_id = chance.choice(front) if front and chance.random() < 0.7 else stage.article()
        repository.votes.cast(article_id, stage.member(), chance.choice(list(Choice)))

    def save() -> None:
        repository.members.save(stage.member(), stage.article(), wanted=chance.random() < 0.7)

    while True:
        yield look
        yield from [vote] * 20
        yield save


def poster(stage: Stage) -> Iterator[Deed]:
    repository, mine = stage.repository, list[tuple[int, int]]()

    def post() -> None:
        member = stage.member()
        groups = [slug for slug in stage.slugs(4) if slug in repository.groups.get_titles()]
        posted = repository.articles.post(member, f"user{member}", stage.title(), stage.link(), groups)
        mine.append((posted.id, member))

    def edit() -> None:
        article_id, member = stage.chance.choice(mine[-20:])
        actor = Actor(member, f"user{member}")
        repository.articles.edit(article_id, actor, stage.title(), stage.link(), moderator=False, reason="")

    while True:
        yield post
        if mine and stage.chance.random() < 0.4:
            yield edit


def moderator(stage: Stage) -> Iterator[Deed]:
    repository, chance = stage.repository, stage.chance
    deeds: list[Deed] = [
        lambda: repository.groups.assign(stage.article(), stage.slugs(), actor=CAROL, reason="Sorted"),
        lambda: repository.groups.assign(stage.article(), stage.slugs(), actor=CAROL, reason="Sorted"),
        lambda: repository.articles.remove(stage.article(), CAROL, "Off topic"),
        lambda: repository.articles.restore(stage.article(), CAROL, "On topic"),
        lambda: repository.articles.edit(
            stage.article(), CAROL, stage.title(), stage.link(), moderator=True, reason="Clearer"
        ),
        lambda: repository.groups.create(chance.choice(SLUGS), stage.title(), CAROL),
        lambda: repository.groups.rename(chance.choice(SLUGS), stage.title(), CAROL),
    ]
    for n in count(1):
        yield chance.choice(deeds)
        if n % 40 == 0:
            slug, into = chance.sample(SLUGS, 2)
            yield lambda slug=slug, into=into: repository.groups.merge(slug, into, CAROL, "The same")  # type: ignore[misc]


def importer(stage: Stage) -> Iterator[Deed]:
    repository, chance = stage.repository, stage.chance

    def article() -> ImportedArticle:
        member = stage.member()
        return ImportedArticle(
            title=stage.title(),
            link=f"https://old.example/{chance.randrange(100_000)}",
            poster=member,
            poster_name=f"user{member}",
            posted_at=round(repository.store.now() - chance.choice([5, 20, 60, 86400 * chance.random() * 30]), 3),
            votes=chance.randint(1, 30),
            opposes=chance.randint(0, 5),
            groups=tuple(slug for slug in stage.slugs(4) if slug in repository.groups.get_titles()),
            removed="Spam" if chance.random() < 0.1 else None,
        )

    def add() -> None:
        with repository.imports.lock():
            repository.imports.add([article() for _ in range(40)])

    while True:
        yield add


def deleter(stage: Stage) -> Iterator[Deed]:
    """Delete members permanently, each twice, as account deletion does."""
    gone: set[int] = set()

    def delete() -> None:
        member = stage.chance.choice([one for one in range(1, MEMBERS + 1) if one not in gone])
        gone.add(member)
        delete_member(stage.repository, member)

    while len(gone) < MEMBERS // 2:
        yield delete
        pause = time.monotonic() + 2
        while time.monotonic() < pause:
            yield lambda: stage.repository.members.get_posted(stage.member())


def delete_member(repository: Repository, member: int) -> None:
    for is_last in (False, False, True):
        progress, advance = "", partial(repository.account_deletion.advance, is_last=is_last)
        while progress := advance(member, f"user{member}", progress, lambda: False):
            pass


def viewer(stage: Stage) -> Iterator[Deed]:
    repository, chance = stage.repository, stage.chance
    while True:
        visit = Visit(f"{chance.randrange(5_000):016x}")
        yield lambda visit=visit: repository.pageviews.record(stage.article(), visit)  # type: ignore[misc]


def keeper(stage: Stage) -> Iterator[Deed]:
    """Run housekeeping, the repair, the audit, and changes of parameters."""
    repository, chance = stage.repository, stage.chance

    def tune() -> None:
        wanted = Parameters(votes_per_day=chance.choice([20, 200, 1000]), gamma=chance.choice([1.3, 1.5]))
        version = repository.parameters.get_state().version
        repository.parameters.apply(wanted, expected=version, actor=CAROL, reason="To see what happens")
        while not repository.parameters.advance():
            pass

    def audit() -> None:
        list(repository.audit.run())

    while True:
        yield repository.repair.run
        yield repository.history.record
        yield audit
        yield tune
        yield repository.hot.rescore


def reader(stage: Stage) -> Iterator[Deed]:
    repository, chance, following = stage.repository, stage.chance, Search(stage.repository)

    def page(**asked: object) -> None:
        order = chance.choice(list(Order))
        found = repository.lists.get_page(order, **asked)  # type: ignore[arg-type]
        stage.seen([article.id for article in found.articles], f"{order} {asked}")

    def more() -> None:
        """Read the front page, or several groups, by "More": no article is on two pages of one reading."""
        slugs = [slug for slug in stage.slugs(10) if slug in repository.groups.get_titles()]
        shown: list[int] = []
        for number in range(1, 16):
            found = repository.lists.get_page(Order.SCORE, number, slugs=slugs, shown=shown, reader=stage.member())
            shown += [article.id for article in found.articles]
        stage.seen(shown, f"more {slugs}")

    def search() -> None:
        text = " ".join(chance.choices(WORDS, k=chance.randint(1, 2)))
        stage.seen(following(text, chance.choice(list(SearchOrder)), chance.randint(1, 3)), "search")

    def feed() -> None:
        slugs = chance.sample(SLUGS, 3)
        _, found = repository.feeds.list_groups(slugs, FeedFilter())
        stage.seen([article.id for article in found], f"feed of {slugs}")

    def explanation() -> None:
        repository.explanations.get(repository.articles.get(stage.article()))

    while True:
        yield lambda: page(number=chance.randint(1, 4))
        yield lambda: page(slug=chance.choice(SLUGS))
        yield lambda: page(slugs=chance.sample(SLUGS, 3))
        yield lambda: page(slugs=chance.sample(SLUGS, 10), number=chance.randint(1, 8))
        yield lambda: page(hidden=Hiding(tuple(chance.sample(SLUGS, 2))))
        yield more
        yield search
        yield feed
        yield explanation
        yield lambda: stage.seen(
            [
                a.id
                for a in repository.lists.get_page(
                    Order.POINTS, period=chance.choice(list(TOP_PERIODS.values()))
                ).articles
            ],
            "top",
        )
        yield lambda: stage.seen([a.id for a in repository.members.get_voted(stage.member()).articles], "voted")
        yield lambda: repository.moderation_log.get_page(chance.randint(1, 5))


PARTS = {part.__name__: part for part in (voter, poster, moderator, importer, deleter, viewer, keeper, reader)}


def play(part: str, stage: Stage, seconds: float) -> None:
    end = time.monotonic() + seconds
    for deed in PARTS[part](stage):
        if time.monotonic() > end:
            return
        try:
            deed()
            stage.deeds["done"] += 1
        except (GroupNotFound, PageNotFound, ImportRunning):
            stage.deeds["absent"] += 1
        except StoreError:
            stage.findings.append(traceback.format_exc())
        except ArticlesError as refusal:
            stage.deeds[type(refusal).__name__] += 1
        except Exception:
            stage.findings.append(traceback.format_exc())


def main() -> None:
    part, url, shards, seed, seconds = sys.argv[1:]
    repository = connect(url, shards=int(shards), rules=RULES)
    stage = Stage(repository, random.Random(int(seed)))
    play(part, stage, float(seconds))
    sys.stdout.write(
        json.dumps({"part": part, "deeds": stage.deeds, "pages": stage.pages, "findings": stage.findings[:20]})
    )


if __name__ == "__main__":
    main()
