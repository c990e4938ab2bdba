"""The store compared with a model in plain Python: after every step both hold the same articles in order."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from articles.domain import ranking
from articles.domain.articles import NONE_LEFT_OUT, Choice, LeftOut, Tally
from articles.domain.comments import (
    DEEPEST_SHOWN,
    EDIT_SECONDS,
    Comment,
    CommentOrder,
    article_of,
    is_root,
    lower_bound,
    root_of,
)
from articles.domain.errors import (
    ArticleNotFound,
    ArticleRemoved,
    ArticlesError,
    ChangeRunning,
    CommentNotFound,
    CommentNotRemoved,
    CommentRemoved,
    CommentVotingClosed,
    DuplicateLink,
    EditingClosed,
    FlagDecided,
    GroupExists,
    GroupNotFound,
    NotRemoved,
    NotTheAuthor,
    NotThePoster,
    OwnComment,
    OwnContent,
    PageNotFound,
    ParametersChanged,
    StoreUnavailable,
    VotingClosed,
)
from articles.domain.flags import FlagReason, FlagState, QueueEntry
from articles.domain.lists import Order
from articles.domain.moderation_log import Actor
from articles.domain.notices import NoticeKind
from articles.domain.ranking import Parameters
from articles.domain.readership import REPEAT, Suspicion
from articles.repository import Repository
from articles.repository.moderation.left_out import LeftOutState
from articles.repository.store import keys
from articles.text.links import link_digest
from tests.cast import MODERATOR
from tests.clock import DAY, Clock
from tests.every_server import with_methods_of
from tests.factories import comment_on, link, visit
from tests.repository.breaking import BreakingServer
from tests.repository.usage import listed
from tests.rules import connect, default_rules
from tests.store_state import REPOSITORY_DATABASE, new_client, problems
from tests.topologies import of_this_run

pytestmark = pytest.mark.deep

RULES = default_rules(per_page=3)

users = st.integers(1, 3)
links = st.integers(1, 5).map(link)
slugs = st.sampled_from(["a", "b", "score", "群组"])
some_slugs = st.lists(slugs, max_size=3, unique=True)
places = st.integers(0, 11)  # every existing article, repeatedly, and a missing one
times = st.sampled_from([0.001, 0.5, 59, 60, 599.5, 900, 3600, DAY, 2 * DAY, 6 * DAY, 7 * DAY, 10 * DAY])


settings_of_the_lab = st.sampled_from(
    [
        Parameters(),
        Parameters(votes_per_day=20),
        Parameters(votes_per_day=5000, gamma=1.3),
        Parameters(alpha=0, beta=3, base=0.5),
    ]
)


@dataclass
class Model:
    """The expected state of one article."""

    title: str
    link: str
    poster: int
    time: float
    votes: int = 1
    opposes: int = 0
    voted: set[int] = field(default_factory=set)
    opposed: set[int] = field(default_factory=set)
    left_out: LeftOut = NONE_LEFT_OUT
    groups: list[str] = field(default_factory=list)
    removed: str | None = None
    pv: int = 0
    seen: dict[int, float] = field(default_factory=dict)  # visitor to the time of the last view that counted

    def cast(self, user: int, choice: Choice) -> None:
        for voters, chosen in ((self.voted, Choice.VOTE), (self.opposed, Choice.OPPOSE)):
            voters.discard(user)
            if choice is chosen:
                voters.add(user)
        self.votes, self.opposes = len(self.voted), len(self.opposed)

    def leave_out(self, members: set[int]) -> None:
        self.left_out = LeftOut(len(self.voted & members), len(self.opposed & members))

    @property
    def ranked_points(self) -> int:
        return self.votes - self.opposes - (self.left_out.votes - self.left_out.opposes)


@dataclass
class CommentModel:
    """The expected state of one comment."""

    article: int
    parent: int
    author: int
    text: str
    time: float
    votes: int = 0
    opposes: int = 0
    choices: dict[int, Choice] = field(default_factory=dict)  # choice of each voter, as long as the store knows it
    left_out: LeftOut = NONE_LEFT_OUT
    edited: float | None = None
    removed: str | None = None
    is_deleted: bool = False

    def cast(self, user: int, choice: Choice) -> None:
        self.choices[user] = choice
        self.votes, self.opposes = ([*self.choices.values()].count(one) for one in (Choice.VOTE, Choice.OPPOSE))

    def leave_out(self, members: set[int]) -> None:
        chosen = [choice for user, choice in self.choices.items() if user in members]
        self.left_out = LeftOut(chosen.count(Choice.VOTE), chosen.count(Choice.OPPOSE))

    @property
    def place(self) -> float:
        """Its place among the best ones."""
        votes, opposes = self.votes - self.left_out.votes, self.opposes - self.left_out.opposes
        return -lower_bound(votes, opposes) if votes else opposes


class Machine(RuleBasedStateMachine):
    """A sequence of repository calls, some of them interrupted."""

    def __init__(self, make: Callable[[Clock], Repository]) -> None:
        super().__init__()
        self.clock = Clock()
        self.repository = make(self.clock)
        self.articles: dict[int, Model] = {}
        self.comments: dict[int, CommentModel] = {}
        self.comment_ids: dict[int, int] = {}
        self.flags: dict[tuple[int, int], tuple[float, FlagState]] = {}
        self.decided: set[tuple[int, str]] = set()
        self.claims: dict[str, tuple[int, float]] = {}
        self.profiles: dict[int, dict[int, float]] = {user: {} for user in range(1, 4)}
        self.left_out: set[int] = set()
        self.on_probation: set[int] = set()
        self.decided_on: set[int] = set()  # members about whose votes anything was ever decided
        self.groups: dict[str, str] = {}
        self.merged: dict[str, str] = {}
        self.counter = 0
        self.logged = 0
        self.parameters, self.version = Parameters(), 1
        self.applying: Parameters | None = None

    # The model's actions

    def pick(self, at: int) -> int:
        known = sorted(self.articles)
        return self.counter + 1 if at == 11 or not known else known[at % len(known)]

    def claim(self, address: str, article_id: int) -> int:
        return self.claims.setdefault(link_digest(address), (article_id, self.clock()))[0]

    def release(self, address: str, article_id: int) -> None:
        if self.claims.get(link_digest(address), (0, 0))[0] == article_id:
            del self.claims[link_digest(address)]

    def hold(self, address: str) -> int:
        """Return the id that holds the link, a new one if none does."""
        if link_digest(address) not in self.claims:
            self.counter += 1
        return self.claim(address, self.counter)

    def lead(self, slugs: list[str]) -> list[str]:
        """Return the groups that these slugs lead to; create those that do not exist."""
        for slug in slugs:
            if slug not in self.merged:
                self.groups.setdefault(slug, slug)
        return list(dict.fromkeys(self.merged.get(slug, slug) for slug in slugs))

    def refusal_of_vote(self, article_id: int) -> type[ArticlesError] | None:
        article = self.articles.get(article_id)
        if article is None:
            return ArticleNotFound
        if article.removed is not None:
            return ArticleRemoved
        return VotingClosed if self.clock() > article.time + RULES.voting_window else None

    def breaking(self, call: Callable[[], Any], commands: int) -> bool:
        """Make a call that loses the store after some commands; return whether it completed first."""
        client: Any = self.repository.store.client
        client.left = commands
        try:
            call()
        except StoreUnavailable:
            return False
        finally:
            client.left = None
        return True

    def score(self, article: Model) -> float:
        per_point = self.parameters.seconds_per_point
        return ranking.score(article.time, article.ranked_points, seconds_per_point=per_point)

    def hotness(self, article: Model) -> float:
        hours = ranking.hours_between(article.time, self.repository.hot.get_refreshed_at())
        return ranking.hotness(article.pv, len(article.seen), hours, self.parameters)

    def look_whether_applied(self) -> None:
        """Note if the call applied the pending parameters; check that they are applied at most once."""
        state = self.repository.parameters.get_state()
        if self.applying and not state.applying:
            self.parameters, self.applying = self.applying, None
            self.version += 1
            self.logged += 1
        assert (state.parameters, state.version) == (self.parameters, self.version)
        assert (state.applying and state.applying.parameters) == self.applying

    # The rules

    @initialize()
    def begin_with_groups(self) -> None:
        for slug in ("a", "b", "score"):
            self.create_group(slug)

    @rule(user=users, address=links, groups=some_slugs)
    def post(self, user: int, address: str, groups: list[str]) -> None:
        posted = self.repository.articles.post(user, f"user{user}", "Title", address, groups)
        article_id = self.hold(address)
        assert (posted.id, posted.is_new) == (article_id, article_id not in self.articles)
        if posted.is_new:
            self.publish(article_id, user, address, self.lead(groups))

    def publish(self, article_id: int, user: int, address: str, groups: list[str]) -> None:
        self.profiles[user][article_id] = self.clock()
        article = Model("Title", address, user, self.clock(), voted={user}, groups=list(groups))
        article.leave_out(self.left_out)
        self.articles[article_id] = article

    @rule(user=users, address=links, commands=st.integers(0, 5))
    def abandon_a_post(self, user: int, address: str, commands: int) -> None:
        is_held = link_digest(address) in self.claims
        self.breaking(lambda: self.repository.articles.post(user, f"user{user}", "Title", address), commands)
        if not is_held and commands == 2:
            self.counter += 1
        if commands < 3:
            return
        article_id = self.hold(address)
        if commands >= (3 if is_held else 4) and article_id not in self.articles:
            self.publish(article_id, user, address, [])

    @rule(at=places, votes=st.lists(st.tuples(users, st.sampled_from(Choice)), min_size=1, max_size=6))
    def cast(self, at: int, votes: list[tuple[int, Choice]]) -> None:
        for user, choice in votes:
            self.vote(self.pick(at), user, choice)

    def vote(self, article_id: int, user: int, choice: Choice) -> None:
        if refusal := self.refusal_of_vote(article_id):
            with pytest.raises(refusal):
                self.repository.votes.cast(article_id, user, choice)
            return
        tally = self.repository.votes.cast(article_id, user, choice)
        article = self.articles[article_id]
        article.cast(user, choice)
        article.leave_out(self.left_out)
        assert tally == Tally(article.votes, article.opposes, choice)

    @rule(at=places, user=users, choice=st.sampled_from(Choice))
    def cast_without_hearing_the_answer_and_cast_again(self, at: int, user: int, choice: Choice) -> None:
        article_id = self.pick(at)
        assume(not self.refusal_of_vote(article_id))
        assert not self.breaking(lambda: self.repository.votes.cast(article_id, user, choice), 1)
        self.articles[article_id].cast(user, choice)
        self.articles[article_id].leave_out(self.left_out)
        self.same_articles()
        self.vote(article_id, user, choice)

    @rule(user=users, commands=st.integers(0, 20), stays_out=st.booleans())
    def leave_votes_out_or_count_them(self, user: int, commands: int, stays_out: bool) -> None:
        self.logged += 1
        if not (user in self.on_probation and stays_out):
            self.left_out ^= {user}
        self.on_probation.discard(user)
        self.decided_on.add(user)
        decided = self.repository.left_out
        act = decided.leave_out if user in self.left_out else decided.count_again
        self.decide_on_votes(user, lambda: list(act(user, f"user{user}", MODERATOR, "A ring")), commands)

    @rule(user=users, commands=st.integers(0, 20))
    def begin_probation(self, user: int, commands: int) -> None:
        left_out = self.repository.left_out
        assert left_out.may_begin_probation(user) == (user not in self.decided_on)
        if user not in self.decided_on:
            self.left_out.add(user)
            self.on_probation.add(user)
            self.decided_on.add(user)
        begin = partial(left_out.begin_probation, user)
        self.decide_on_votes(user, lambda: [begin(), *left_out.go_on(user)], commands)

    @rule(user=users, commands=st.integers(0, 20), passes=st.booleans())
    def end_probation(self, user: int, commands: int, passes: bool) -> None:
        if user in self.on_probation and passes:
            self.left_out.discard(user)
        self.on_probation.discard(user)
        left_out = self.repository.left_out
        end = left_out.end_probation if passes else left_out.fail_probation
        self.decide_on_votes(user, lambda: list(end(user)), commands)

    def decide_on_votes(self, user: int, act: Callable[[], object], commands: int) -> None:
        """Carry out an act on a member's votes, which is interrupted and repeated."""
        for left in (commands, 10_000):
            self.breaking(act, left)
            assert problems(self.repository) == []
        waits = user in self.on_probation
        state = LeftOutState(user in self.left_out and not waits, is_settled=True, waits=waits)
        assert self.repository.left_out.get_state(user) == state
        assert waits == (user in self.repository.left_out.list_on_probation(10))
        for one in (*self.articles.values(), *self.comments.values()):
            if self.clock() <= one.time + RULES.voting_window:
                one.leave_out(self.left_out)

    @rule(at=places, visitors=st.lists(st.integers(0, 5), min_size=1, max_size=4))
    def view(self, at: int, visitors: list[int]) -> None:
        article_id = self.pick(at)
        article = self.articles.get(article_id)
        for visitor in visitors:
            if article is None or article.removed is not None:
                with pytest.raises(ArticleRemoved if article else ArticleNotFound):
                    self.repository.pageviews.record(article_id, visit(visitor))
                return
            count = self.repository.pageviews.record(article_id, visit(visitor))
            if self.clock() - article.seen.get(visitor, -math.inf) < RULES.view_repeat:
                assert count.reason == REPEAT
            else:
                assert count.counted
                article.pv += 1
                article.seen[visitor] = self.clock()
            assert (count.pv, count.uv) == (article.pv, len(article.seen))
            assert count.hotness == pytest.approx(self.hotness(article), rel=1e-9)

    @rule(at=places, suspicion=st.sampled_from([Suspicion.BOT, Suspicion.PREFETCH]))
    def view_suspiciously(self, at: int, suspicion: Suspicion) -> None:
        article = self.articles.get(self.pick(at))
        assume(article is not None and article.removed is None)
        count = self.repository.pageviews.record(self.pick(at), visit(0, suspicion=suspicion))
        assert (count.reason, count.pv) == (suspicion, self.articles[self.pick(at)].pv)

    @rule(parameters=settings_of_the_lab, late=st.booleans())
    def tune(self, parameters: Parameters, late: bool) -> None:
        refusal = ChangeRunning if self.applying else ParametersChanged if late else None
        expected = self.version - late
        if refusal:
            with pytest.raises(refusal):
                self.repository.parameters.apply(parameters, expected=expected, actor=MODERATOR, reason="Why not")
            return
        self.repository.parameters.apply(parameters, expected=expected, actor=MODERATOR, reason="Why not")
        self.applying = parameters
        self.look_whether_applied()

    @rule(commands=st.none() | st.integers(0, 4))
    def go_on_applying(self, commands: int | None) -> None:
        if commands is None:
            assert self.repository.parameters.advance() == (
                self.repository.parameters.get_state().applying is None
            )
        else:
            self.breaking(self.repository.parameters.advance, commands)
        self.look_whether_applied()

    @rule(
        parameters=settings_of_the_lab,
        at=places,
        votes=st.lists(st.tuples(users, st.sampled_from(Choice)), min_size=1, max_size=3),
        removed=places,
    )
    def tune_while_members_vote(
        self, parameters: Parameters, at: int, votes: list[tuple[int, Choice]], removed: int
    ) -> None:
        self.tune(parameters, late=False)
        self.cast(at, votes)
        self.go_on_applying(None)
        self.remove_and_restore(removed, votes=False)
        self.cast(at, votes[:1])
        while self.applying:
            self.go_on_applying(None)

    @rule()
    def the_hot_list_is_rescored(self) -> None:
        self.repository.hot.rescore()
        assert self.repository.hot.get_refreshed_at() == self.clock()

    @rule(age=times)
    def read_what_is_hot_and_not_old(self, age: float) -> None:
        since = round(self.clock() - age, 3)
        page = self.repository.lists.get_page(Order.HOT, since=since, size=20)
        assert [article.id for article in page.articles] == [
            i for i in self.in_order(Order.HOT) if self.articles[i].time >= since
        ]

    @rule(at=places, add=some_slugs, drop=some_slugs, logged=st.booleans())
    def assign(self, at: int, add: list[str], drop: list[str], logged: bool) -> None:
        article_id = self.pick(at)
        actor = MODERATOR if logged else None
        if article_id not in self.articles:
            with pytest.raises(ArticleNotFound):
                self.repository.groups.assign(article_id, add, drop, actor=actor)
            return
        groups = self.repository.groups.assign(article_id, add, drop, actor=actor)
        assert groups == tuple(self.model_assign(article_id, self.lead(add), drop, logged=logged))

    def model_assign(self, article_id: int, add: list[str], drop: list[str], *, logged: bool) -> list[str]:
        article = self.articles[article_id]
        kept = [slug for slug in article.groups if slug not in drop]
        kept += [slug for slug in add if slug not in drop and slug not in kept]
        self.logged += logged and kept != article.groups
        article.groups = kept
        return kept

    @rule(at=places, slug=slugs, commands=st.integers(0, 3))
    def abandon_an_assignment(self, at: int, slug: str, commands: int) -> None:
        article_id = self.pick(at)
        assume(article_id in self.articles)
        steps = 1 if slug in self.groups or slug in self.merged else 2
        self.breaking(lambda: self.repository.groups.assign(article_id, [slug], actor=MODERATOR), commands)
        if commands >= steps:
            groups = self.lead([slug])
        if commands > steps:
            self.model_assign(article_id, groups, [], logged=True)

    @rule(slug=slugs)
    def create_group(self, slug: str) -> None:
        if slug in self.groups:
            with pytest.raises(GroupExists):
                self.repository.groups.create(slug, slug, MODERATOR)
            return
        self.repository.groups.create(slug, slug, MODERATOR)
        self.groups[slug] = slug
        self.merged.pop(slug, None)
        self.logged += 1

    @rule(slug=slugs, title=st.sampled_from(["A title", "Another"]))
    def rename_group(self, slug: str, title: str) -> None:
        if slug not in self.groups:
            with pytest.raises(GroupNotFound):
                self.repository.groups.rename(slug, title, MODERATOR)
            return
        if title in {other for name, other in self.groups.items() if name != slug}:
            with pytest.raises(GroupExists):
                self.repository.groups.rename(slug, title, MODERATOR)
            return
        self.repository.groups.rename(slug, title, MODERATOR)
        self.logged += self.groups[slug] != title
        self.groups[slug] = title

    @rule(at=places, other=places, commands=st.none() | st.integers(0, 25))
    def merge_groups(self, at: int, other: int, commands: int | None) -> None:
        groups, known = self.repository.groups, [*sorted(self.groups), "nobodys"]
        slug, into = known[at % len(known)], known[other % len(known)]
        if slug == into or slug not in self.groups or into not in self.groups:
            with pytest.raises(GroupNotFound):
                groups.merge(slug, into, MODERATOR)
            return
        if commands is None:
            inside = sum(slug in article.groups for article in self.articles.values())
            assert groups.merge(slug, into, MODERATOR) == inside
        elif not self.breaking(lambda: groups.merge(slug, into, MODERATOR), commands):
            assert problems(self.repository) == []
            if slug in groups.get_titles():
                groups.merge(slug, into, MODERATOR)
        for article in self.articles.values():
            if slug in article.groups:
                article.groups = [s for s in article.groups if s != slug]
                article.groups += [into] if into not in article.groups else []
        del self.groups[slug]
        self.merged = {old: into if target == slug else target for old, target in self.merged.items()}
        self.merged[slug] = into
        self.logged += 1

    @rule(at=places, user=users, moderator=st.booleans(), title=st.sampled_from(["Title", "Better"]), to=links)
    def edit(self, at: int, user: int, moderator: bool, title: str, to: str) -> None:
        article_id = self.pick(at)

        def edit() -> None:
            editor = Actor(user, f"user{user}")
            self.repository.articles.edit(article_id, editor, title, to, moderator=moderator)

        article = self.articles.get(article_id)
        refusal = self.refusal_of_edit(article, user, article_id, to, moderator=moderator)
        if refusal or article is None:
            with pytest.raises(refusal or ArticleNotFound):
                edit()
            return
        edit()
        self.model_edit(article_id, title, to)

    def refusal_of_edit(
        self, article: Model | None, user: int, article_id: int, to: str, *, moderator: bool
    ) -> type[ArticlesError] | None:
        if article is None:
            return ArticleNotFound
        holder, _ = self.claims.get(link_digest(to), (article_id, 0))
        if to != article.link and holder != article_id:
            return DuplicateLink
        refusal: type[ArticlesError] | None = None
        if not moderator:
            if article.poster != user:
                refusal = NotThePoster
            elif article.removed is not None:
                refusal = ArticleRemoved
            elif self.clock() > article.time + RULES.edit_window:
                refusal = EditingClosed
        if refusal and to != article.link:
            self.release(to, article_id)
        return refusal

    def model_edit(self, article_id: int, title: str, to: str) -> None:
        article = self.articles[article_id]
        self.logged += (article.title, article.link) != (title, to)
        if to != article.link:
            self.claim(to, article_id)
            self.release(article.link, article_id)
        article.title, article.link = title, to

    @rule(at=places, to=links, commands=st.integers(0, 4))
    def abandon_an_edit(self, at: int, to: str, commands: int) -> None:
        article_id = self.pick(at)
        article = self.articles.get(article_id)
        assume(article is not None and article.link != to)
        assume(self.claims.get(link_digest(to), (article_id, 0))[0] == article_id)
        self.breaking(
            lambda: self.repository.articles.edit(article_id, MODERATOR, "Title", to, moderator=True), commands
        )
        if commands >= 2:
            self.claim(to, article_id)
        if commands >= 3:
            old = self.articles[article_id].link
            held = self.claims.get(link_digest(old))
            self.model_edit(article_id, "Title", to)
            if commands == 3 and held:
                self.claims[link_digest(old)] = held

    @rule(at=places)
    def remove(self, at: int) -> None:
        article_id = self.pick(at)
        article = self.articles.get(article_id)
        if article is None or article.removed is not None:
            with pytest.raises(ArticleRemoved if article else ArticleNotFound):
                self.repository.articles.remove(article_id, MODERATOR, "Spam")
            return
        self.repository.articles.remove(article_id, MODERATOR, "Spam")
        article.removed = "Spam"
        self.decide(root_of(article_id), FlagState.REMOVED)
        self.logged += 1

    @rule(at=places, votes=st.booleans())
    def remove_and_restore(self, at: int, votes: bool) -> None:
        self.remove(at)
        if votes:
            self.vote(self.pick(at), 2, Choice.OPPOSE)
        self.restore(at)

    @rule(at=places)
    def restore(self, at: int) -> None:
        article_id = self.pick(at)
        article = self.articles.get(article_id)
        if article is None or article.removed is None:
            with pytest.raises(NotRemoved if article else ArticleNotFound):
                self.repository.articles.restore(article_id, MODERATOR, "No spam")
            return
        holder = self.articles.get(self.claims.get(link_digest(article.link), (article_id, 0))[0])
        is_other = holder is not None and holder is not article and holder.removed is None
        if is_other and abs(holder.time - article.time) <= RULES.repost_window:
            with pytest.raises(DuplicateLink):
                self.repository.articles.restore(article_id, MODERATOR, "No spam")
            return
        self.repository.articles.restore(article_id, MODERATOR, "No spam")
        article.removed = None
        self.logged += 1

    @rule(at=places, user=users, above=places, text=st.sampled_from(["a", "b"]))
    def comment(self, at: int, user: int, above: int, text: str) -> None:
        article_id = self.pick(at)
        known = sorted(number for number, one in self.comments.items() if one.article == article_id)
        parent = root_of(article_id) + 99 if above == 11 else known[above] if above < len(known) else None
        article, below = self.articles.get(article_id), self.comments.get(parent or 0)
        place = (article_id, parent or root_of(article_id), user, text)
        sent = [number for number, one in self.comments.items() if self.place_of(one) == place]
        refusal: type[ArticlesError] | None = None
        if article is None:
            refusal = ArticleNotFound
        elif article.removed is not None:
            refusal = ArticleRemoved
        elif parent and not sent and (below is None or below.is_deleted):
            refusal = CommentNotFound
        elif below and not sent and below.removed:
            refusal = CommentRemoved
        if refusal:
            with pytest.raises(refusal):
                comment_on(self.repository, article_id, text, user, parent)
            return
        posted = comment_on(self.repository, article_id, text, user, parent)
        if sent:
            assert posted == sent[-1]
            return
        self.comment_ids[article_id] = self.comment_ids.get(article_id, 0) + 1
        assert posted == root_of(article_id) + self.comment_ids[article_id]
        self.comments[posted] = CommentModel(*place, self.clock())
        self.threads_are_the_models(article_id)

    def place_of(self, one: CommentModel) -> tuple[int, int, int, str] | None:
        """Return what a comment that is sent twice is known by: until it is deleted, its text as it was posted."""
        return None if one.is_deleted else (one.article, one.parent, one.author, one.text.removesuffix("!"))

    def pick_comment(self, at: int) -> int:
        known = sorted(self.comments)
        return root_of(999) + 1 if at == 11 or not known else known[-1 - at % len(known)]

    def refusal_on_comment(self, one: CommentModel | None) -> type[ArticlesError] | None:
        if one is None or one.is_deleted:
            return CommentNotFound
        return CommentRemoved if one.removed is not None else None

    @rule(at=places, votes=st.lists(st.tuples(users, st.sampled_from(Choice)), min_size=1, max_size=6))
    def cast_on_comment(self, at: int, votes: list[tuple[int, Choice]]) -> None:
        comment_id = self.pick_comment(at)
        one = self.comments.get(comment_id)
        for user, choice in votes:
            refusal = self.refusal_on_comment(one)
            if one and not refusal:
                if self.articles[one.article].removed is not None:
                    refusal = ArticleRemoved
                elif one.author == user:
                    refusal = OwnComment
                elif self.clock() > one.time + RULES.voting_window:
                    refusal = CommentVotingClosed
            if one is None or refusal:
                with pytest.raises(refusal or CommentNotFound):
                    self.repository.comments.cast(comment_id, user, choice)
                continue
            one.cast(user, choice)
            one.leave_out(self.left_out)
            assert self.repository.comments.cast(comment_id, user, choice) == Tally(one.votes, one.opposes, choice)

    @rule(at=places, user=users)
    def edit_comment(self, at: int, user: int) -> None:
        comment_id = self.pick_comment(at)
        one = self.comments.get(comment_id)
        refusal = self.refusal_on_comment(one)
        if one and refusal is not CommentNotFound and one.author != user:
            refusal = NotTheAuthor
        elif one and not refusal and self.articles[one.article].removed is not None:
            refusal = ArticleRemoved
        if one is None or refusal:
            with pytest.raises(refusal or CommentNotFound):
                self.repository.comments.edit(comment_id, user, "changed")
            return
        text = one.text.removesuffix("!") + "!"
        self.repository.comments.edit(comment_id, user, text)
        if text != one.text and round((self.clock() - one.time) * 1000) > EDIT_SECONDS * 1000:
            one.edited = self.clock()
        one.text = text
        self.threads_are_the_models(one.article)

    @rule(at=places, user=users)
    def delete_comment(self, at: int, user: int) -> None:
        comment_id = self.pick_comment(at)
        one = self.comments.get(comment_id)
        if one is None or one.is_deleted or one.author != user:
            with pytest.raises(NotTheAuthor if one and not one.is_deleted else CommentNotFound):
                self.repository.comments.delete(comment_id, user)
            return
        self.repository.comments.delete(comment_id, user)
        self.flags = {place: flag for place, flag in self.flags.items() if place[0] != comment_id}
        one.is_deleted, one.removed, one.votes, one.opposes, one.choices = True, None, 0, 0, {}
        one.text, one.edited, one.left_out = "", None, NONE_LEFT_OUT
        while (stub := self.comments.get(comment_id)) and stub.is_deleted:
            if any(other.parent == comment_id for other in self.comments.values()):
                break
            del self.comments[comment_id]
            comment_id = stub.parent
        self.threads_are_the_models(one.article)

    @rule(at=places, restores=st.booleans())
    def moderate_comment(self, at: int, restores: bool) -> None:
        comment_id = self.pick_comment(at)
        one = self.comments.get(comment_id)
        change = self.repository.comments.restore if restores else self.repository.comments.remove
        refusal = self.refusal_on_comment(one)
        if one and restores:
            refusal = None if one.removed is not None else CommentNotRemoved
        if one is None or refusal:
            with pytest.raises(refusal or CommentNotFound):
                change(comment_id, MODERATOR, "Why not")
            return
        change(comment_id, MODERATOR, "Why not")
        one.removed = None if restores else "Why not"
        if not restores:
            self.decide(comment_id, FlagState.REMOVED)
        self.logged += 1
        self.threads_are_the_models(one.article)

    def decide(self, subject: int, state: FlagState, seen: float = math.inf) -> None:
        for (flagged, user), (at, was) in list(self.flags.items()):
            if flagged == subject and was is FlagState.OPEN and at <= seen:
                self.flags[subject, user] = at, state
                article = self.articles.get(article_of(subject)) if is_root(subject) else None
                if state is FlagState.REMOVED and article and user == article.poster:
                    continue  # who asked for the withdrawal is notified of the removal itself
                self.decided.add((user, f"flag-{state.value}:{subject}"))

    def pick_subject(self, at: int, is_comment: bool) -> int:
        return self.pick_comment(at) if is_comment else root_of(self.pick(at))

    def refusal_of_flag(self, subject: int, user: int, reason: FlagReason | None) -> type[ArticlesError] | None:
        article, one = self.articles.get(article_of(subject)), self.comments.get(subject)
        if article is None:
            return ArticleNotFound
        if article.removed is not None:
            return ArticleRemoved
        if not is_root(subject) and (refusal := self.refusal_on_comment(one)):
            return refusal
        is_own, is_request = user == (one.author if one else article.poster), reason is FlagReason.WITHDRAWAL
        if is_request and not is_own:
            return NotThePoster
        if is_own and (one or (reason and not is_request)):
            return OwnContent
        return None if self.flags.get((subject, user), (0, FlagState.OPEN))[1] is FlagState.OPEN else FlagDecided

    @rule(
        at=places,
        is_comment=st.booleans(),
        members=st.lists(users, min_size=1, max_size=3),
        reason=st.sampled_from([FlagReason.SPAM, FlagReason.WITHDRAWAL, None]),
    )
    def flag(self, at: int, is_comment: bool, members: list[int], reason: FlagReason | None) -> None:
        """Flag, ask for the withdrawal of one's article, or take back what one has sent."""
        subject, flags = self.pick_subject(at, is_comment), self.repository.flags
        for user in members:
            change = partial(flags.set, reason=reason) if reason else flags.take_back
            if refusal := self.refusal_of_flag(subject, user, reason):
                with pytest.raises(refusal):
                    change(subject, user)
                continue
            change(subject, user)
            before = self.flags.pop((subject, user), (self.clock(), FlagState.OPEN))
            if reason:
                self.flags[subject, user] = before

    @rule(at=places, is_comment=st.booleans(), age=st.sampled_from([0.0, 60.0]))
    def keep(self, at: int, is_comment: bool, age: float) -> None:
        subject, seen = self.pick_subject(at, is_comment), round(self.clock() - age, 3)
        self.repository.flags.keep(subject, seen, "It is fine")
        self.decide(subject, FlagState.KEPT, seen)

    def flags_are_the_models(self) -> None:
        """Compare the members' flags, the queue and the notices of what was decided with the model."""
        repository, members = self.repository, range(1, 4)
        flags = [flag for user in members for flag in repository.flags.iterate_by(user)]
        assert {(flag.subject, flag.member): (flag.at, flag.state) for flag in flags} == self.flags
        queue = {entry.subject for number in (1, 2, 3) for entry in self.queued(number)}
        waiting = {subject for (subject, _), (_, state) in self.flags.items() if state is FlagState.OPEN}
        assert queue == waiting if len(waiting) < 3 * RULES.per_page else queue <= waiting
        notices = {(user, one) for user in members for one in repository.inbox.iterate(user)}
        assert {(user, one.text) for user, one in notices if one.kind is NoticeKind.FLAG} == self.decided

    def queued(self, number: int) -> tuple[QueueEntry, ...]:
        try:
            return self.repository.flags.get_page(number).entries
        except PageNotFound:
            return ()

    def threads_are_the_models(self, article_id: int) -> None:
        """Compare an article's comments in every order with the model; no thread has more than one page here."""
        if self.articles[article_id].removed is not None:
            return
        total = sum(
            one.article == article_id and one.removed is None and not one.is_deleted
            for one in self.comments.values()
        )
        for order in CommentOrder:
            thread = self.repository.comments.get_thread(article_id, order, reader=1)
            expected = self.below(root_of(article_id), order)
            assert [self.known(comment) for comment in thread.comments] == expected
            assert thread.total == total

    def below(self, parent: int, order: CommentOrder, depth: int = 0) -> list[tuple[object, ...]]:
        """Return the replies to a comment, each followed by its own, as deep as a thread goes."""

        def place(number: int) -> tuple[float, int]:
            one = self.comments[number]
            return (one.place if order is CommentOrder.BEST else one.time), number

        replies = sorted(self.children(parent), key=place)
        found = list[tuple[object, ...]]()
        for number in reversed(replies) if order is CommentOrder.NEWEST else replies:
            one = self.comments[number]
            choice = one.choices.get(1, Choice.NONE)
            author = -1 if one.is_deleted else one.author
            states = (one.edited, one.removed, one.is_deleted, choice, one.left_out)
            at = (number, parent if depth else None, depth, len(self.children(number)))
            found.append((*at, author, one.text, one.time, one.votes, one.opposes, *states))
            found += self.below(number, order, depth + 1) if depth < DEEPEST_SHOWN else []
        return found

    def children(self, parent: int) -> list[int]:
        return [number for number, one in self.comments.items() if one.parent == parent]

    def known(self, comment: Comment) -> tuple[object, ...]:
        states = (comment.edited_at, comment.removed, comment.is_deleted, comment.choice, comment.left_out)
        facts = (comment.text, comment.posted_at, comment.votes, comment.opposes)
        place = (comment.id, comment.parent, comment.depth, comment.replies)
        return (*place, comment.author, *facts, *states)

    @rule(seconds=times)
    def time_passes(self, seconds: float) -> None:
        self.clock.now = round(self.clock.now + seconds, 3)
        self.expire()

    @rule(at=places, late=st.sampled_from([0.0, 0.001]))
    def voting_is_about_to_close(self, at: int, late: float) -> None:
        article_id = self.pick(at)
        assume(article_id in self.articles)
        end = self.articles[article_id].time + RULES.voting_window
        assume(end >= self.clock())
        self.clock.now = round(end + late, 3)
        self.expire()

    def expire(self) -> None:
        """Expire keys by the model's clock, since the server's own runs in real time, and drop voter sets."""
        client, now = self.repository.store.client, self.clock()
        for digest, (_, since) in list(self.claims.items()):
            if now >= since + RULES.repost_window:
                client.delete(keys.link(digest))
                del self.claims[digest]
        self.repository.clock.accept()
        self.repository.clock.drop_voters(60)
        for article in self.articles.values():
            if now > article.time + RULES.voting_window + RULES.voters_grace:
                article.voted, article.opposed = set(), set()
        for comment in self.comments.values():
            if now > comment.time + RULES.voting_window + RULES.voters_grace:
                comment.choices = {}

    @rule(slug=slugs)
    def a_group_ranking_ends(self, slug: str) -> None:
        for names in self.repository.store.shards.all:
            for order in Order:
                self.repository.store.client.delete(names.group_order(order, slug))

    @rule(lists=st.sampled_from(["rankings", "groups", "everything"]))
    def lists_are_lost_and_repaired(self, lists: str) -> None:
        client = self.repository.store.client
        for names in self.repository.store.shards.all:
            if lists != "groups":
                for order in Order:
                    client.delete(names.order(order))
            if lists != "rankings":
                for slug in self.groups:
                    client.delete(names.group(slug))
        self.repository.repair.run()
        for number, article in self.articles.items():
            self.profiles[article.poster][number] = article.time

    @rule(order=st.sampled_from(Order), number=st.integers(1, 4), slug=st.none() | slugs)
    def read_a_page(self, order: Order, number: int, slug: str | None) -> None:
        if slug is not None and slug not in self.groups:
            with pytest.raises(GroupNotFound) as gone:
                self.repository.lists.get_page(order, number, slug=slug)
            assert gone.value.moved_to == self.merged.get(slug)
            return
        if order is Order.HOT:
            self.repository.lists.get_page(order)  # so that it is scored for this moment
        expected = self.in_order(order, slug)
        start = (number - 1) * RULES.per_page
        if number > 1 and start >= len(expected):
            with pytest.raises(PageNotFound):
                self.repository.lists.get_page(order, number, slug=slug)
            return
        page = self.repository.lists.get_page(order, number, slug=slug)
        assert [article.id for article in page.articles] == expected[start : start + RULES.per_page]
        assert page.total == len(expected)

    @rule(user=users)
    def read_a_profile(self, user: int) -> None:
        profile = self.profiles[user]
        newest = sorted(profile, key=lambda i: (profile[i], str(i).encode()), reverse=True)
        page = self.repository.members.get_posted(user)
        assert [a.id for a in page.articles] == [
            i for i in newest[: RULES.per_page] if self.articles[i].removed is None
        ]
        assert page.has_next == (len(newest) > RULES.per_page)

    # What must hold after every step

    def in_order(self, order: Order, slug: str | None = None) -> list[int]:
        values: dict[Order, Callable[[Model], Any]] = {
            Order.SCORE: self.score,
            Order.TIME: lambda article: article.time,
            Order.HOT: self.hotness,
            Order.POINTS: lambda article: (article.ranked_points, int(article.time)),
        }

        shown = sorted(i for i, one in self.comments.items() if one.removed is None and not one.is_deleted)
        last = {self.comments[i].article: self.comments[i].time for i in shown}

        def place(article_id: int) -> tuple[Any, bytes]:
            if order is Order.ACTIVE:
                return last[article_id], str(article_id).encode()
            return values[order](self.articles[article_id]), str(article_id).encode()

        inside = [i for i, a in self.articles.items() if a.removed is None and (slug is None or slug in a.groups)]
        if order is Order.HOT:
            inside = [i for i in inside if self.articles[i].pv]
        elif order is Order.ACTIVE:
            inside = [i for i in inside if i in last]
        return sorted(inside, key=place, reverse=True)

    @invariant()
    def lists_are_the_models(self) -> None:
        for order in Order:
            found = listed(self.repository, order)
            assert found == self.in_order(order)
        assert abs(self.clock() - self.repository.hot.get_refreshed_at()) < RULES.hot_refresh

    @invariant()
    def group_lists_are_the_models(self) -> None:
        for slug in self.groups:
            for order in (Order.SCORE, Order.HOT, Order.POINTS, Order.ACTIVE):
                found_in_group = listed(self.repository, order, slug)
                assert found_in_group == self.in_order(order, slug)
        found = {group.slug: (group.title, group.articles) for group in self.repository.groups.list_all()}
        assert found == {slug: (t, len(self.in_order(Order.TIME, slug))) for slug, t in self.groups.items()}
        assert self.repository.store.client.hgetall(self.repository.store.shards.directory.merged) == self.merged

    @invariant()
    def same_articles(self) -> None:
        reader = 1
        found = self.repository.articles.get_many([*self.articles], reader)
        assert [(a.title, a.link, a.poster, a.posted_at, a.votes, a.opposes, a.score) for a in found] == [
            (m.title, m.link, m.poster, m.time, m.votes, m.opposes, self.score(m)) for m in self.articles.values()
        ]
        assert [(set(a.groups), a.removed, a.pv, a.uv) for a in found] == [
            (set(m.groups), m.removed, m.pv, len(m.seen)) for m in self.articles.values()
        ]
        assert [a.left_out for a in found] == [m.left_out for m in self.articles.values()]
        assert [a.choice for a in found] == [
            Choice.VOTE if reader in m.voted else Choice.OPPOSE if reader in m.opposed else Choice.NONE
            for m in self.articles.values()
        ]

    def teardown(self) -> None:
        assert problems(self.repository) == []
        self.flags_are_the_models()
        for article_id in self.articles:
            self.threads_are_the_models(article_id)
        client = self.repository.store.client
        assert int(client.get(keys.COUNTER) or 0) == self.counter
        assert sum(client.llen(names.log) for names in self.repository.store.shards.all) == self.logged
        for digest, (article_id, _) in self.claims.items():
            assert client.get(keys.link(digest)) == str(article_id)


def run(make: Callable[[Clock], Repository], *, examples: int, steps: int) -> None:
    run_state_machine_as_test(
        lambda: Machine(make),
        settings=settings(
            max_examples=examples, stateful_step_count=steps, suppress_health_check=list(HealthCheck)
        ),
    )


@pytest.mark.random
@pytest.mark.usefixtures("small_batches")  # so that much happens while parameters are being applied
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("shards", "examples", "steps"), [(1, 6, 25), (4, 12, 35)])
def test_calls_in_any_order_leave_the_state_of_the_model(store_paths, shards, examples, steps):
    whole = new_client(store_paths.url(REPOSITORY_DATABASE))

    def make(clock: Clock) -> Repository:
        client = with_methods_of(BreakingServer, whole)
        client.flushdb()
        repository = connect(client, shards=shards, rules=RULES, clock=clock)
        repository.prepare()
        return repository

    run(make, examples=examples // (5 if of_this_run.NAME == of_this_run.CLUSTER else 1), steps=steps)
