"""The repository: articles, votes, groups and rankings in the store. The only package that knows Redis."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

from articles.domain.errors import ActionRefused, ImportRunning
from articles.domain.moderation_log import OPERATOR
from articles.domain.reasons import VOTES_PER_DAY
from articles.domain.rules import Rules
from articles.domain.store_address import ANY_SITE
from articles.repository.account_deletion import AccountDeletion
from articles.repository.account_ids import AccountIds
from articles.repository.articles import Articles
from articles.repository.backup.reading import BackupReader, read_layout
from articles.repository.backup.records import BackupRecord, Layout
from articles.repository.backup.restoring import StoreRestore
from articles.repository.ballots import Ballots, Cast, Closed
from articles.repository.changes import Changed, Changes, ChangesLostError
from articles.repository.comments import Comments
from articles.repository.groups import Groups
from articles.repository.imports import Imports
from articles.repository.inbox import Inbox
from articles.repository.inspection.overview import Inspection
from articles.repository.inspection.server import NodeFacts
from articles.repository.limits import Limits
from articles.repository.lists.feeds import FeedFilter, Feeds, Standings
from articles.repository.lists.hot import Hot
from articles.repository.lists.pages import Following, Lists, PageWindow, page_window
from articles.repository.lists.refresh import Refreshes
from articles.repository.members import Members
from articles.repository.moderation.flags import Flags
from articles.repository.moderation.left_out import LeftOutVotes
from articles.repository.moderation.log import ModerationLog
from articles.repository.moderation.merges import Merges
from articles.repository.moderation.redactions import Redactions
from articles.repository.moderation.removed import RemovedArticles, RemovedComments, Sweeps
from articles.repository.moderation.voting_rings import VotingRings
from articles.repository.ranking.explanations import Explanations
from articles.repository.ranking.parameters import ChangeProgress, RankingChange, RankingParameters, RankingState
from articles.repository.ranking.previews import Preview, Previews
from articles.repository.ranking.weights import Weights
from articles.repository.readership.archive import Counters, ViewArchive
from articles.repository.readership.history import History
from articles.repository.readership.pageviews import Pageviews
from articles.repository.store import schema
from articles.repository.store.batches import read_ahead
from articles.repository.store.clients.client import PATIENT_TIMEOUT_SECONDS, Clients, make_clients
from articles.repository.store.clients.guarded_connection import GuardedClient, answer_within
from articles.repository.store.confirmation import Confirmation
from articles.repository.store.connection import Observer, Retract, Store, unobserved, unretracted
from articles.repository.store.permissions import FORGETTING
from articles.repository.store.scan import portions
from articles.repository.store.schema import LAYOUT_VERSION, OLDEST_LAYOUT, OLDEST_VERSION, SHARDS_OF_A_CLUSTER
from articles.repository.store.scripts import script_digests
from articles.repository.upkeep import upgrades
from articles.repository.upkeep.audit import Audit, Progress, quiet
from articles.repository.upkeep.clock import Clocks, StoreClock
from articles.repository.upkeep.lease import HousekeepingLease
from articles.repository.upkeep.measurements import Measurements
from articles.repository.upkeep.repair import Repair
from articles.repository.votes import Votes
from articles.text.kept_html import KeptHtml


class Repository:
    """All data about articles, one attribute per noun. Raises only the errors of `articles.domain.errors`."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.rules = store.rules
        self.articles = Articles(store)
        self.votes = Votes(store)
        self.ballots = Ballots(store)
        self.comments = Comments(store)
        self.inbox = Inbox(store)
        self.voting_rings = VotingRings(store)
        self.flags = Flags(store)
        self.moderation_log = ModerationLog(store)
        self.redactions = Redactions(store)
        self.removed_articles = RemovedArticles(store)
        self.removed_comments = RemovedComments(store)
        self.limits = Limits(store)
        self.members = Members(store)
        self.merges = Merges(store)
        self.sweeps = Sweeps(store)
        self.left_out = LeftOutVotes(store)
        self.account_deletion = AccountDeletion(store)
        self.account_ids = AccountIds(store)
        self.groups = Groups(store)
        self.hot = Hot(store)
        self.lists = Lists(store)
        self.following = Following(store)
        self.changes = Changes(store)
        self.refresh = Refreshes(store)
        self.standings = Standings(store)
        self.feeds = Feeds(store)
        self.pageviews = Pageviews(store)
        self.history = History(store)
        self.explanations = Explanations(store)
        self.archive = ViewArchive(store)
        self.lease = HousekeepingLease(store)
        self.measurements = Measurements(store)
        self.clock = StoreClock(store)
        self.parameters = RankingParameters(store)
        self.weights = Weights(store)
        self.previews = Previews(store)
        self.imports = Imports(store)
        self.audit = Audit(store)
        self.repair = Repair(store)
        self.inspection = Inspection(store)

    @cached_property
    def site_id(self) -> str:
        """UUID of the site, created at its first start, for identifiers that outlive a change of address.

        One round trip at first use. Raises StoreUnavailable.
        """
        return schema.site_id(self.store)

    def prepare(self, known_site: str | None = ANY_SITE) -> None:
        """Check the store, stamp it at its first use, and upgrade an older one.

        `known_site`: see `check`. About a dozen round trips; more for an upgrade, in steps. Raises StoreUnfit,
        StoreUnavailable.
        """
        self.check(known_site)
        self.upgrade()

    def check(self, known_site: str | None) -> None:
        """Check that the site can use the store, as it is at a start. About five round trips.

        `known_site` is the UUID of the store that the accounts remember; None if they remember none, ANY_SITE if
        they accept any. Raises StoreUnfit with one sentence for the operator, and StoreUnavailable.
        """
        schema.check(self.store, known_site)

    def check_site(self, known_site: str | None) -> None:
        """Check that the store and the accounts remember each other. One round trip. Raises as `check`."""
        schema.check_site(self.store, known_site)

    def note_remembered(self) -> None:
        """Record that the accounts remember the store: from then on, new ones are refused. One round trip."""
        schema.note_remembered(self.store)

    def check_server(self) -> None:
        """Check that the site can use the server. Three round trips. Raises StoreUnfit, StoreUnavailable."""
        schema.check_server(self.store)

    def upgrade(self) -> None:
        """Stamp the store at its first use, and upgrade an older one. Raises StoreUnfit, StoreUnavailable."""
        schema.stamp(self.store)
        upgrades.upgrade(self.store)
        self.store.load_scripts()

    def clear(self) -> None:
        """Delete all content; the site's id stays, and no id is used again. About a dozen round trips."""
        schema.clear(self.store)
        self.upgrade()
        self.changes.begin_copy()
        self.store.retract(None)

    def adopt_rules(self, progress: Progress = quiet) -> bool:
        """Apply the configuration's votes per day if they were changed there; return whether they were.

        Also completes an interrupted change of parameters. `progress` receives the number of articles scored so
        far, and of all articles. Four round trips if nothing has changed. Raises StoreError.
        """
        while True:
            self._complete_change(progress)
            state, votes_per_day = self.parameters.get_state(), schema.votes_to_adopt(self.store)
            adopted = replace(state.parameters, votes_per_day=votes_per_day or state.parameters.votes_per_day)
            if differs := adopted != state.parameters:
                try:
                    self.parameters.apply(
                        adopted, expected=state.version, actor=OPERATOR, reason=VOTES_PER_DAY, is_chosen=False
                    )
                except ActionRefused:
                    continue  # another change came first, perhaps by another process at its start: retry
                self._complete_change(progress)
            if schema.adopt(self.store):
                self.weights.reset_check()
            return differs

    def fit_weight(self, progress: Progress = quiet) -> int | None:
        """Apply the weight of a vote that fits the articles just imported; return the new votes per day.

        Returns None if nothing changes. `progress` receives the number of articles scored so far, and of all
        articles. Round trips as `Weights.adjust` and `RankingParameters.advance`. Raises StoreError.
        """
        votes_per_day = self.weights.adjust(has_history=True)
        self._complete_change(progress)
        return votes_per_day

    def _complete_change(self, progress: Progress) -> None:
        while not self.parameters.advance():
            if applying := self.parameters.get_state().applying:
                progress(applying.done, applying.total)


def connect(
    target: str | GuardedClient,
    *,
    rules: Rules,
    kept_html: KeptHtml,
    shards: int = 1,
    clock: Callable[[], float] = time.time,
    timeout_seconds: float = PATIENT_TIMEOUT_SECONDS,
    reads_replicas: bool = False,
    confirmation: Confirmation | None = None,
    observe: Observer = unobserved,
    retract: Retract = unretracted,
) -> Repository:
    """Return the repository of a store, given by its URL or, in tests, by a client. It is not yet prepared.

    `kept_html` makes and reads the HTML of texts. `timeout_seconds`: see `make_clients`. `reads_replicas`: whether
    lists of readers without an account are read from replicas. `confirmation`: what members' and moderators'
    changes wait for. `observe` and `retract` are called as `store.connection.Observer` and `Retract` say. No round
    trip.
    """
    clients = (
        make_clients(target, timeout_seconds=timeout_seconds, reads_replicas=reads_replicas)
        if isinstance(target, str)
        else Clients(target, target)
    )
    store = Store(
        clients.main,
        stale=clients.stale,
        shards=shards,
        rules=rules,
        kept_html=kept_html,
        clock=clock,
        observe=observe,
        retract=retract,
        confirmation=confirmation,
    )
    return Repository(store)
