"""A site on a store of several servers, the crowds that use it, and the judgement of what they were answered."""

import shutil
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from redis.crc import key_slot

from tests.chaos.crowd import Plan
from tests.chaos.ledger import CONFIRMED, Crowd, Ledger, merged
from tests.chaos.machines.judging import judge_run, start_of
from tests.chaos.stage import PATIENCE, Row, Stage, end_row, show, store_behind
from tests.site_process import Site

AGAIN_SECONDS = 10.0 * PATIENCE  # promised until votes are taken again after the loss of a primary
ARTICLES = 400


class Fleet:
    """One site; further web nodes are started beside it. `environment`: its settings, with REDIS_URL."""

    def __init__(self, stage: Stage, environment: Mapping[str, str], articles: int = ARTICLES) -> None:
        self._stage, self.environment = stage, dict(environment)
        data_dir = stage.data_beside(articles, **self.environment)
        self.site = stage.start(data_dir, **self.environment)
        self.repository = store_behind(self.site)
        self.articles = articles
        self._start = start_of(self.repository, range(1, articles + 1))
        self._history = stage.folder / "history.tsv"
        self._acting_since = 0.0

    def plans(self, *, direct_voters: int = 0, direct_undecided: int = 0, attempts: int = 0) -> list[Plan]:
        """Return the plans of voters and readers by HTTP, of the undecided, and of direct voters."""
        base = self._stage.plan(
            self.site,
            store_url=self.environment["REDIS_URL"],
            store_shards=int(self.environment.get("STORE_SHARDS", "1")),
            confirm_replicas=int(self.environment.get("STORE_CONFIRM_REPLICAS", "0")),
            history=str(self._history),
        )
        idle = replace(base, voters=0, readers=0)
        web, direct, undecided = base.members[:50], base.members[50:190], base.members[190:]
        plans = [
            replace(base, members=web, voters=3, readers=2),
            replace(idle, members=undecided, undecided=3, direct_undecided=direct_undecided, seed=3),
        ]
        if direct_voters:
            plans.append(replace(idle, members=direct, direct_voters=direct_voters, seed=2))
        return [replace(plan, attempts=attempts) for plan in plans]

    def slot_of(self, article: int) -> int:
        """Return the hash slot of an article and all that is kept with it."""
        return int(key_slot(self.repository.store.shards.of(article).article(article).encode()))

    @contextmanager
    def crowd(
        self, *plans: Plan, site: Site | None = None, kinds: Sequence[str] = ("vote", "read")
    ) -> Iterator[Crowd]:
        """Run these plans, all of the fleet's if none is given, on the first web node unless another is given."""
        with self._stage.crowd(site or self.site, *plans, kinds=kinds) as running:
            self._acting_since = time.monotonic()
            yield running

    def add_web_node(self) -> Site:
        """Start another web node, with the same store and accounts."""
        target = self._stage.folder / "other-node"
        shutil.copytree(self.site.data_dir / "static", target / "static")
        return self._stage.start(target, **self.environment)

    def end(self, row: Row, *ledgers: Ledger, may_lose: bool = False, answers: Ledger | None = None) -> None:
        """Check what every fault promises. `may_lose`: votes may be lost, and are only counted in the row.

        `answers`: the ledger whose answers must be quick, if not all. The first of a web process never are.
        """
        whole = merged(ledgers)
        whole.before = self._start.choices
        histories = [self._history] if self._history.exists() else []
        verdict = judge_run(self.repository, whole, histories, self._start)
        if may_lose:
            row.votes, row.lost = len(whole.votes), len(whole.lost(self.repository))
            row.worst = whole.worst(self._acting_since)
            audit = self.site.manage("audit")
            row.audit = "0 findings" if audit.returncode == 0 else audit.stdout.splitlines()[-1]
            show(row)
            assert audit.returncode == 0, audit.stdout + audit.stderr
            assert verdict.failures or not row.lost, "the judgement overlooks lost votes"
            return
        print(verdict, flush=True)  # noqa: T201 - the figures of the run
        end_row(row, self.site, whole, (answers or whole).after(self._acting_since), within=AGAIN_SECONDS)
        assert verdict.failures == [], verdict


def most_repeated(ledger: Ledger, since: float, until: float) -> int:
    """Return how often a member had to send the same vote again, at most, of those sent between these moments."""
    refused = Counter(
        (event.member, event.article)
        for event in ledger.of("vote", "direct", since=since, until=until)
        if event.status not in CONFIRMED
    )
    return max(refused.values(), default=0)
