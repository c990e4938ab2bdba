"""The lists by points: of all time, and of the last day, week and month."""

import pytest

from articles.domain.articles import Choice
from articles.domain.lists import TOP_PERIODS, Order, Period
from articles.text.searching import Hiding
from tests.cast import MODERATOR
from tests.clock import DAY
from tests.every_server import configure, delete, names_in
from tests.factories import imported, post
from tests.repository.usage import commands_of_scripts
from tests.store_state import problems

RULED = (Period.DAY, Period.WEEK, Period.MONTH)


def top(repository, period=Period.ALL, **more):
    return [article.id for article in repository.lists.get_page(Order.POINTS, period=period, **more).articles]


def vote(repository, article_id, points, first=100):
    choice = Choice.VOTE if points > 0 else Choice.OPPOSE
    for user in range(first, first + abs(points)):
        repository.votes.cast(article_id, user, choice)


def test_a_period_holds_what_was_posted_since_it_began(repository, clock):
    now = clock()
    ages = {"hour": 3600, "two days": 2 * DAY, "two weeks": 14 * DAY, "two months": 60 * DAY}
    ids = dict(
        zip(ages, repository.imports.add([imported(n, now - a) for n, a in enumerate(ages.values())]), strict=True)
    )

    assert {period: set(top(repository, period)) for period in TOP_PERIODS.values()} == {
        Period.DAY: {ids["hour"]},
        Period.WEEK: {ids["hour"], ids["two days"]},
        Period.MONTH: {ids["hour"], ids["two days"], ids["two weeks"]},
        Period.ALL: set(ids.values()),
    }


CHANGES = {
    "a vote": lambda repository: vote(repository, 2, 1),
    "an opposing vote": lambda repository: vote(repository, 3, -2),
    "a new article": lambda repository: post(repository, 50),
    "a removal": lambda repository: repository.articles.remove(2, MODERATOR, "Spam"),
    "a restoration": lambda repository: repository.articles.restore(1, MODERATOR, "It was not"),
    "an import": lambda repository: repository.imports.add([imported(9, repository.store.now() - 3 * DAY)]),
    "another group": lambda repository: repository.groups.assign(2, ["python"]),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("period", RULED)
def test_a_stored_period_reflects_every_change_immediately(repository, clock, change, period):
    for number in range(8):
        post(repository, number)
        clock.advance(1)
    repository.articles.remove(1, MODERATOR, "Spam")
    top(repository, period)

    CHANGES[change](repository)

    kept, findings = top(repository, period), problems(repository)
    delete(repository.store.client, *(keys.top(period) for keys in repository.store.shards.all))
    assert kept == top(repository, period)
    assert findings == []


def test_a_restored_article_too_old_for_a_period_stays_out_of_it(repository, clock):
    old = post(repository, 1)
    clock.advance(2 * DAY)
    new = post(repository, 2)
    repository.articles.remove(old, MODERATOR, "Spam")
    for period in TOP_PERIODS.values():
        top(repository, period)

    repository.articles.restore(old, MODERATOR, "It was not")

    assert top(repository, Period.DAY) == [new]
    assert set(top(repository, Period.WEEK)) == {old, new}
    assert problems(repository) == []


def test_a_period_is_built_once_a_minute_however_often_it_is_read(repository, clock):
    post(repository, 1)
    top(repository, Period.DAY)
    key = repository.store.shards.of(1).top(Period.DAY)
    client = repository.store.client
    assert 58 <= client.ttl(key) <= 60

    client.expire(key, 5)
    top(repository, Period.DAY)

    assert client.ttl(key) <= 5


@pytest.mark.parametrize("hidden", [Hiding(), Hiding(("java",))])
@pytest.mark.needs("one server")
def test_a_ranking_that_expires_during_a_read_yields_no_empty_page(repository, clock, monkeypatch, hidden):
    for number in range(8):
        post(repository, number, ("python",))
    client = repository.store.client
    pages = [{"period": Period.DAY, "hidden": hidden}, {"slug": "python", "hidden": hidden}]
    expected = [top(repository, **page) for page in pages]
    made = [*names_in(client, "*top:day"), *names_in(client, "*points:python")]
    ended = []

    def one_by_one(commands):
        for words in commands:
            ended.append(delete(client, *made))
            yield client.execute_command(*words)

    monkeypatch.setattr(client, "send_together", lambda commands: [*one_by_one(commands)])

    assert [top(repository, **page) for page in pages] == expected
    assert sum(ended) >= len(made)


@pytest.mark.parametrize("moved", [-30 * DAY, 30 * DAY])
def test_future_posting_times_and_clock_changes_break_nothing(repository, clock, moved):
    first = post(repository, 1)
    clock.advance(moved)
    second = post(repository, 2)
    repository.imports.add([imported(7, clock() + 365 * DAY), imported(8, 5.0)])

    for period in TOP_PERIODS.values():
        assert second in top(repository, period)
    assert set(top(repository)) >= {first, second}
    clock.advance(max(0, -moved))  # the clock that went back is corrected: the store's own keys follow its clock
    assert problems(repository) == []


def test_the_audit_finds_wrong_points_and_the_repair_fixes_them(repository, clock):
    ids = [post(repository, number) for number in range(5)]
    for period in TOP_PERIODS.values():
        top(repository, period)
    keys = repository.store.shards.of(ids[1])
    repository.store.client.zadd(keys.order(Order.POINTS), {str(ids[1]): 7 * 2**32})
    repository.store.client.zadd(keys.top(Period.WEEK), {str(ids[1]): 9 * 2**32})
    repository.store.client.persist(keys.top(Period.DAY))
    found = "\n".join(problems(repository))

    assert "points 1, ranked 7" in found
    assert "top:week: differs from the points" in found
    assert "top:day: is a ranking without end" in found
    repository.repair.run()
    assert problems(repository) == []
    assert len(top(repository, Period.WEEK)) == 5


@pytest.mark.parametrize("chosen", [{}, {"hidden": Hiding(("java",))}])
def test_a_period_that_cannot_be_stored_is_found_without_reading_older_articles(repository, clock, chosen):
    repository.imports.add([imported(n, clock() - 90 * DAY + n, votes=50) for n in range(2500)])
    recent = [post(repository, number) for number in range(3)]
    client = repository.store.client
    configure(client, "maxmemory", "1")
    try:
        with commands_of_scripts(repository) as commands:
            found = top(repository, Period.DAY, **chosen)
    finally:
        configure(client, "maxmemory", "0")

    assert set(found) == set(recent)
    ranges = [words for words in commands if words[0] in ("ZRANGE", "ZREVRANGE")]
    assert all(0 <= int(last) < 100 for _, _, _, last, *_ in ranges)
