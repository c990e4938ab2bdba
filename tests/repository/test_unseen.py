"""A reader who pages through a changing list sees every article once and misses none that was always listed."""

import math
import random
from threading import Event

import pytest
from hypothesis import given, settings, strategies as st

from articles.domain.articles import Choice
from articles.domain.errors import ArticlesError
from articles.domain.lists import Order, Period
from articles.domain.ranking import Parameters
from articles.repository.lists import gathering
from articles.text.searching import NOTHING, Hiding, Kind
from tests.cast import MODERATOR
from tests.clock import Clock
from tests.every_server import delete, names_in
from tests.factories import post, view
from tests.repository.racing import race
from tests.repository.usage import tune
from tests.rules import connect, default_rules
from tests.store_state import REPOSITORY_DATABASE, new_client, problems

PER_PAGE = 4
GROUPS = ("a", "b", "c")

steps = st.one_of(
    st.tuples(st.just("vote"), st.integers(0, 30), st.sampled_from([-6, -1, 1, 6])),
    st.tuples(st.just("post"), st.integers(0, 7), st.integers(0, 900)),
    st.tuples(st.just("remove"), st.integers(0, 30), st.just(0)),
    st.tuples(st.just("restore"), st.integers(0, 30), st.just(0)),
    st.tuples(st.just("regroup"), st.integers(0, 30), st.integers(0, 7)),
    st.tuples(st.just("view"), st.integers(0, 30), st.integers(1, 9)),
    st.tuples(st.just("weight"), st.sampled_from([5, 200, 5000]), st.just(0)),
    st.tuples(st.just("wait"), st.integers(1, 70), st.just(0)),
)
hidden_things = st.one_of(
    st.tuples(st.just(Kind.GROUP), st.sampled_from(GROUPS)),
    st.tuples(st.just(Kind.MEMBER), st.sampled_from([2, 3, 4])),
    st.tuples(st.just(Kind.HOST), st.sampled_from(["a.example", "b.example", "github.com/x"])),
    st.tuples(st.just(Kind.WORD), st.sampled_from(["c", "c++", "don", "redis", "RESUME", "数据", "all about"])),
    st.tuples(st.just(Kind.ARTICLE), st.integers(1, 24)),
)
TITLES = ("C++ and Redis", "All about C", "A résumé", "大数据", "Don't", "Redis' tale", "ＡＬＬ about Ｒｅｄｉｓ")
LINKS = ("https://a.example/", "https://sub.a.example/", "https://b.example/", "https://github.com/X/", "")
"""Of titles and links, those that the store decides about, and those that are left to the process."""

lists = st.sampled_from(
    [
        {"order": Order.SCORE}, {"order": Order.SCORE, "hidden": Hiding(("c",))},
        {"order": Order.TIME, "hidden": Hiding(("a", "b"))}, {"order": Order.TIME},
        {"order": Order.TIME, "slug": "a"}, {"order": Order.TIME, "slugs": ("a", "b")}, {"order": Order.HOT},
        {"order": Order.POINTS, "period": Period.WEEK}, {"order": Order.POINTS},
        {"order": Order.SCORE, "slug": "a"}, {"order": Order.SCORE, "slugs": ("a", "b")},
        {"order": Order.POINTS, "slugs": ("a", "b"), "hidden": Hiding(("b", "c"))},
    ]
)  # fmt: skip


class Site:
    """A store that changes step by step, with the articles that a list must hold at each moment."""

    def __init__(self, client, shards, *, varied=False):
        self.clock, self.varied = Clock(), varied
        client.flushdb()
        self.repository = connect(client, shards=shards, rules=default_rules(per_page=PER_PAGE), clock=self.clock)
        self.repository.prepare()
        for slug in GROUPS:
            self.repository.groups.create(slug, slug)
        self.ids = []
        for number in range(18):
            self.do("post", number % 8, 5 * number)

    def do(self, what, which, value):
        repository = self.repository
        article_id = self.ids[which % len(self.ids)] if self.ids else 0
        try:
            if what == "vote":
                for user in range(100, 100 + abs(value)):
                    repository.votes.cast(article_id, user, Choice.VOTE if value > 0 else Choice.OPPOSE)
            elif what == "post":
                self.clock.advance(value)
                inside = tuple(slug for at, slug in enumerate(GROUPS) if which & 1 << at)
                self.ids.append(self.post(len(self.ids), inside))
                view(repository, self.ids[-1], 1)
            elif what == "remove":
                repository.articles.remove(article_id, MODERATOR, "Spam")
            elif what == "restore":
                repository.articles.restore(article_id, MODERATOR, "It was not")
            elif what == "regroup":
                inside = [slug for at, slug in enumerate(GROUPS) if value & 1 << at]
                repository.groups.assign(article_id, inside, [slug for slug in GROUPS if slug not in inside])
            elif what == "view":
                view(repository, article_id, 1000 + len(self.ids) * value)
            elif what == "weight":
                tune(repository, Parameters(votes_per_day=which))
            else:
                self.clock.advance(which)
        except (ArticlesError, AssertionError):
            pass  # refused, such as the second removal of an article: nothing changes

    def post(self, number, inside):
        if not self.varied:
            return post(self.repository, number, inside)
        title, link = TITLES[number % len(TITLES)], LINKS[number % len(LINKS)]
        poster, link = 2 + number % 5, link and f"{link}{number}"
        text = "" if link else "A text"
        return self.repository.articles.post(poster, f"m{poster}", title, link, inside, text=text).id

    def belongs(self, asked):
        """Return the ids that the list holds now."""
        slugs = set(asked.get("slugs", ())) | ({asked["slug"]} if "slug" in asked else set())
        hidden = set(asked.get("hidden", NOTHING).groups) - slugs
        found = self.repository.articles.get_many(self.ids)
        listed_now = [article for article in found if article.removed is None]
        return {
            article.id
            for article in listed_now
            if not hidden & set(article.groups) and (not slugs or slugs & set(article.groups))
        }


@pytest.mark.deep
@pytest.mark.random
@pytest.mark.parametrize("shards", [1, 4])
def test_no_article_appears_twice_and_no_article_that_was_always_listed_is_missing(store_paths, shards):
    client = new_client(store_paths.url(REPOSITORY_DATABASE))

    @settings(max_examples=40)
    @given(lists, st.booleans(), st.lists(st.lists(steps, max_size=4), max_size=12))
    def read(asked, by_position, between):
        site = Site(client, shards)
        order, more = asked["order"], {name: value for name, value in asked.items() if name != "order"}
        there, shown, number, after = site.belongs(asked), [], 1, None
        by_position = by_position and order is Order.TIME
        while True:
            seen = () if by_position else shown
            page = site.repository.lists.get_page(order, number, **more, shown=seen, after=after)
            assert by_position or page.first_rank == len(shown) + 1
            shown += [article.id for article in page.articles]
            after = page.last if by_position else None
            if not page.has_next:
                break
            for step in between[number - 1] if number <= len(between) else ():
                site.do(*step)
                there &= site.belongs(asked)
            number += 1

        assert len(shown) == len(set(shown))
        assert there <= set(shown)
        assert problems(site.repository) == []

    read()


@pytest.mark.deep
@pytest.mark.random
@pytest.mark.parametrize("shards", [1, 4])
def test_pages_are_full_and_in_order_while_all_changes_and_a_reader_hides_more(store_paths, shards, monkeypatch):
    """Each page holds the best of what is neither shown nor hidden, by the rule itself."""
    monkeypatch.setattr(gathering, "SPARE", 0)
    client = new_client(store_paths.url(REPOSITORY_DATABASE))

    def model(site, order, hidden, slugs, shown):
        """Return what a page shows first, by a plain list of everything and the rule itself."""
        repository, found, number = site.repository, [], 1
        while True:
            page = repository.lists.get_page(order, number, slugs=slugs, size=100)
            found += page.articles
            if not page.has_next:
                break
            number += 1
        own = hidden.showing(slugs)
        listed = [one for one in found if one.id not in shown]
        kept = [one.id for one in listed if not own.hides(one)]
        first = kept[:PER_PAGE]
        after = kept[PER_PAGE : PER_PAGE + 1]
        ids = [one.id for one in listed]
        span = ids[(ids.index(first[0]) if shown and first else 0) : (ids.index(after[0]) if after else None)]
        return first, bool(after), len(set(span).difference(kept))

    @settings(max_examples=25)
    @given(
        st.sampled_from([(Order.SCORE, ()), (Order.TIME, ()), (Order.POINTS, ("a",)), (Order.SCORE, ("a", "b"))]),
        st.lists(hidden_things, max_size=8),
        st.lists(st.tuples(st.lists(steps, max_size=3), st.lists(hidden_things, max_size=2)), max_size=6),
    )
    def read(asked, first_hidden, between):
        site, (order, slugs), hidden, shown, number = Site(client, shards, varied=True), asked, NOTHING, [], 1
        for kind, value in first_hidden:
            hidden = hidden.changed(kind, value, hidden=True)
        while True:
            wanted, goes_on, left_out = model(site, order, hidden, slugs, shown)
            page = site.repository.lists.get_page(order, number, slugs=slugs, hidden=hidden, shown=shown)
            if hidden.showing(slugs):
                assert ([one.id for one in page.articles], page.has_next) == (wanted, goes_on)
                assert page.hidden == left_out
            shown += [one.id for one in page.articles]
            if not page.has_next:
                break
            for change, things in between[number - 1 : number]:
                for step in change:
                    site.do(*step)
                for kind, value in things:
                    hidden = hidden.changed(kind, value, hidden=value not in hidden.values(kind))
            number += 1
        assert len(shown) == len(set(shown))
        assert problems(site.repository) == []

    read()


@pytest.mark.parametrize("asked", [{}, {"slug": "a"}, {"slugs": ("a", "b")}, {"hidden": Hiding(("b",))}])
@pytest.mark.parametrize("few", [0, 10_000])
def test_a_position_continues_a_list_by_time_without_its_ranking(repository, clock, monkeypatch, asked, few):
    monkeypatch.setattr(gathering, "FEW", few)
    monkeypatch.setattr(gathering, "WALKED", 3)
    for slug in ("a", "b"):
        repository.groups.create(slug, slug)
    ids = []
    for number in range(40):
        clock.advance(number % 3 == 0)  # others are posted at the same time
        ids.append(post(repository, number, ("a",)))
    whole = [article.id for article in repository.lists.get_page(Order.TIME, size=100, **asked).articles]
    assert sorted(whole) == ids

    found, after, goes_on = [], (math.inf, ""), True
    while goes_on:
        delete(repository.store.client, *names_in(repository.store.client, "*time:a"))
        page = repository.lists.get_page(Order.TIME, size=6, after=after, **asked)
        found += [article.id for article in page.articles]
        after, goes_on = page.last, page.has_next
    assert found == whole


@pytest.mark.parametrize("asked", [{"hidden": Hiding(("b",))}])
def test_a_reader_sees_every_article_once_while_six_threads_vote(repository, asked):
    for slug in ("a", "b"):
        repository.groups.create(slug, slug)
    ids = [post(repository, number, ("a",)) for number in range(60)]
    done = Event()
    readings = []

    def vote(seed):
        chance = random.Random(seed)

        def run():
            while not done.is_set():
                repository.votes.cast(chance.choice(ids), chance.randrange(100, 200), chance.choice([*Choice]))

        return run

    def read():
        try:
            for _ in range(5):
                page = repository.lists.get_page(Order.SCORE, size=7, **asked)
                shown = [article.id for article in page.articles]
                while page.has_next:
                    page = repository.lists.get_page(Order.SCORE, page.number + 1, size=7, shown=shown, **asked)
                    shown += [article.id for article in page.articles]
                readings.append(shown)
        finally:
            done.set()

    race(repository, [read, *(vote(seed) for seed in range(6))])

    assert len(readings) == 5
    for shown in readings:
        assert len(shown) == 60
        assert set(shown) == set(ids)
    assert len({tuple(shown) for shown in readings}) > 1  # the order did change in the meantime
    assert problems(repository) == []
