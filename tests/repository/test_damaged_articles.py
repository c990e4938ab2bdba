"""Articles whose hash is incomplete or holds garbage: what shows them says so, audit and repair name them."""

from contextlib import suppress
from dataclasses import replace

import pytest

from articles.domain.articles import Choice
from articles.domain.errors import ArticleNotFound, StoreDamaged
from articles.domain.lists import Order
from articles.repository import Repository
from articles.repository.upkeep import audit, long_articles, repair
from tests.cast import BOB, MODERATOR
from tests.factories import post, view
from tests.repository.usage import commands_of_scripts, listed, warm
from tests.rules import connect
from tests.searches import ids_found
from tests.store_state import contents, problems

pytestmark = pytest.mark.hostile

DAMAGED = 7  # open, in python, on the hot list, in the log, voted for
HARM = {
    **{
        f"no {field}": (field, None)
        for field in ("title", "link", "poster", "poster_name", "time", "votes", "opposes")
    },
    "no groups": ("groups", None),
    **{f"garbage as {field}": (field, "garbage") for field in ("poster", "time", "votes", "opposes")},
    "a time that no calendar has": ("time", "9" * 18),
    "a fraction of a vote": ("votes", "1.5"),
    "garbage as archived counters": ("archived", "many"),
}


def harm(repository: Repository, field: str, value: str | None) -> str:
    """Damage the article; return the key of its hash."""
    client, name = repository.store.client, repository.store.shards.of(DAMAGED).article(DAMAGED)
    if value is None:
        client.hdel(name, field)
    else:
        client.hset(name, field, value)
    return name


@pytest.fixture(params=HARM)
def damaged(request, used) -> Repository:
    harm(used, *HARM[request.param])
    return used


def test_what_shows_a_damaged_article_says_so_and_nothing_else_suffers(damaged):
    for read in (
        lambda: damaged.articles.get(DAMAGED),
        lambda: damaged.articles.get_many(range(1, 13)),
        lambda: listed(damaged, Order.TIME, "python"),
    ):
        with pytest.raises(StoreDamaged, match=f"article {DAMAGED}"):
            read()

    assert damaged.articles.get(3).id == 3
    assert DAMAGED not in listed(damaged, Order.TIME, "redis")
    assert damaged.explanations.get(damaged.articles.get(9)).article_id == 9


def test_changes_to_a_damaged_article_are_refused_or_complete(damaged):
    before, changes = (
        contents(damaged),
        [
            lambda: damaged.votes.cast(DAMAGED, 4242, Choice.VOTE),
            lambda: damaged.articles.edit(DAMAGED, MODERATOR, "T", "https://new.example/", moderator=True),
            lambda: damaged.articles.remove(DAMAGED, MODERATOR, "Spam"),
            lambda: damaged.groups.assign(DAMAGED, ["redis"], ["python"], actor=MODERATOR, reason="Why not"),
        ],
    )
    name = damaged.store.shards.of(DAMAGED).article(DAMAGED)
    for change in changes:
        with suppress(ArticleNotFound, StoreDamaged):
            change()
            damaged.store.client.delete(name)  # the hash was complete enough for this change: undo it
            damaged.store.client.hset(name, mapping=before[name])
    assert damaged.store.client.hgetall(name) == before[name]


def test_the_audit_reports_a_damaged_article(damaged):
    name = damaged.store.shards.of(DAMAGED).article(DAMAGED)

    assert f"{name}: no such article, or not a whole one" in problems(damaged)


def test_the_repair_names_a_damaged_article_leaves_it_unchanged_and_repairs_the_rest(damaged, clock):
    told: list[str] = []
    keys = damaged.store.shards.of(DAMAGED)
    kept = [keys.article(DAMAGED), keys.voted(DAMAGED), keys.oppose(DAMAGED), keys.views(DAMAGED)]
    before = {name: contents(damaged)[name] for name in kept}
    for other in damaged.store.shards.all:
        damaged.store.client.delete(other.order(Order.SCORE), other.order(Order.POINTS))

    damaged.repair.run(tell=lambda finding: told.append(str(finding)))

    assert told == [f"{keys.article(DAMAGED)}: is damaged, and left as it is"]
    assert {name: contents(damaged)[name] for name in kept} == before
    assert all(problem.startswith(keys.article(DAMAGED)) or "python" in problem for problem in problems(damaged))
    assert set(listed(damaged)) == {1, 2, 3, 4, 8, 9, 10, 12, 13}


def test_an_article_with_a_corrected_hash_is_repaired_completely(used):
    before, name = used.articles.get(DAMAGED), used.store.shards.of(DAMAGED).article(DAMAGED)
    time = used.store.client.hget(name, "time")
    harm(used, "time", None)
    used.repair.run()

    used.store.client.hset(name, "time", time)
    used.repair.run()

    assert used.articles.get(DAMAGED) == before
    assert problems(used) == []


def test_a_garbage_closing_time_is_reported_and_repaired(used):
    name = harm(used, "closes", "garbage")

    with pytest.raises(StoreDamaged):
        used.articles.get(DAMAGED)
    assert f"{name}: does not say when voting ends" in problems(used)

    used.repair.run()
    assert used.articles.get(DAMAGED).closes_at
    assert problems(used) == []


def test_garbage_among_the_log_entries_is_reported_and_removed(used):
    name = used.store.shards.of(DAMAGED).article(DAMAGED)
    sound = used.store.client.hget(name, "log")
    harm(used, "log", f"{sound},garbage")

    assert problems(used) == [f"{name}: entry garbage of the log is not about it"]
    used.repair.run()
    assert used.store.client.hget(name, "log") == sound


# A poster whose account has been deleted


def test_an_article_with_a_deleted_members_name_is_reported_and_loses_the_name(used):
    keys = used.store.shards.of(DAMAGED)
    poster = int(used.store.client.hget(keys.article(DAMAGED), "poster"))
    used.account_deletion.advance(poster, f"user{poster}", "", lambda: True)
    used.store.client.hset(keys.article(DAMAGED), mapping={"poster": str(poster), "poster_name": "Zora"})
    assert problems(used) == [f"{keys.article(DAMAGED)}: its poster is a member whose account is deleted"]

    used.repair.run()

    found = used.articles.get(DAMAGED)
    assert (found.by_deleted_member, found.poster_name) == (True, "")
    assert not ids_found(used, "zora")
    assert not used.store.client.exists(f"posted:{poster}")
    assert problems(used) == []


# Articles too large for one step


@pytest.fixture
def small_steps(monkeypatch):
    """Let a step read only a few voters, so that many articles exceed its limit."""
    monkeypatch.setattr(audit, "MOST_LOOKED_AT", 5)
    monkeypatch.setattr(long_articles, "ENTRIES_PER_CHECK", 2)
    monkeypatch.setattr(long_articles, "ARTICLES_PER_CHECK", 1)
    monkeypatch.setattr(audit, "ENTRIES_PER_CHECK", 2)


def test_a_sound_store_passes_in_small_steps_and_the_repair_does_not_change_it(used, small_steps):
    before = contents(used)
    assert problems(used) == []

    used.repair.run()
    warm(used, "python", "redis")

    assert contents(used) == before


def steps_of(repository: Repository, script: str) -> list[tuple[int, list[str]]]:
    """Return how many articles each step of audit or repair handles, and which it leaves for separate steps."""
    run, steps = repository.store.run, []

    def watched(name, *args):
        reply = run(name, *args)
        if name == script:
            steps.append((int(reply[0]), reply[1]))
        return reply

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repository.store, "run", watched)
        if script == "audit/articles":
            assert problems(repository) == []
        else:
            repository.repair.run()
    return steps


both = pytest.mark.parametrize("script", ["audit/articles", "repair/articles"])


@both
def test_a_step_reads_no_more_voters_of_an_article_than_its_limit(used, small_steps, script):
    voters = {
        name: used.store.client.scard(name)
        for keys in used.store.shards.all
        for number in range(1, 14)
        for name in (keys.voted(number), keys.oppose(number))
    }
    assert max(voters.values()) > 5

    with commands_of_scripts(used) as commands:
        assert sum(done for done, _ in steps_of(used, script)) == 13

    read = [voters.get(words[1], 0) for words in commands if words[0] == "SMEMBERS"]
    assert 0 < max(read) <= 5


@both
def test_a_step_ends_when_its_articles_have_too_many_voters_in_total(repository, monkeypatch, script):
    shards = repository.store.shards.count
    monkeypatch.setattr(audit, "MOST_LOOKED_AT", 100)
    for number in range(4 * shards):
        article_id = post(repository, number)
        for user in range(100, 160):
            repository.votes.cast(article_id, user, Choice.VOTE)

    assert [done for done, _ in steps_of(repository, script)] == [2, 2] * shards


@both
def test_an_article_with_many_log_entries_gets_its_own_steps(repository, script):
    often, once = post(repository, 1), post(repository, 2)
    for number in range(50):
        repository.articles.edit(often, MODERATOR, f"Title {number}", "https://e.org/", moderator=True)
    repository.articles.edit(once, MODERATOR, "Title", "https://e.org/b", moderator=True)

    assert [one for _, left in steps_of(repository, script) for one in left] == [str(often)]


def test_damage_to_an_article_with_many_voters_and_log_entries_is_reported_and_repaired(used, small_steps):
    client, keys = used.store.client, used.store.shards.of(DAMAGED)
    voters = sorted(int(user) for user in client.sdiff(keys.voted(DAMAGED), keys.left_out))
    client.zrem(keys.votes_of(voters[0]), str(DAMAGED))
    client.sadd(keys.oppose(DAMAGED), voters[1])
    client.hincrby(keys.article(DAMAGED), "opposes", 1)
    client.hset(keys.article(DAMAGED), "log", client.hget(keys.article(DAMAGED), "log") + ",4711")
    name = keys.article(DAMAGED)
    expected = {
        f"{name}: not in votes:{voters[0]}, which is in voted:",
        f"{name}: not in opposes:{voters[1]}, which is in oppose:",
        f"{name}: a user is in both voter sets",
        f"{name}: entry 4711 of the log is not about it",
    }
    assert expected <= set(problems(used))

    used.repair.run()

    assert problems(used) == [f"{name}: a user is in both voter sets"]


def test_a_long_list_of_choices_is_checked_and_repaired_completely(used, small_steps):
    client, keys = used.store.client, used.store.shards.of(3)
    for number in range(20):
        client.zadd(keys.votes_of(BOB), {str(5000 + number * 4 + 3): number})
    found = problems(used)
    assert len(found) == 20

    used.repair.run()

    assert problems(used) == []


# The hot list


def test_the_repair_keeps_the_hot_list_within_the_length_limit_of_views(used, clock, monkeypatch):
    monkeypatch.setattr(repair, "ARTICLES_PER_CHECK", 3)
    rules = replace(used.rules, hot_size=5)
    small = connect(used.store.client, shards=used.store.shards.count, rules=rules, clock=clock)
    for number in range(100, 160):
        view(small, post(small, number), *range(number - 99))
    small.hot.rescore()
    before, sizes, run = listed(small, Order.HOT), [], small.store.run

    def watched(script, *args):
        reply = run(script, *args)
        sizes.extend(small.store.client.zcard(keys.order(Order.HOT)) for keys in small.store.shards.all)
        return reply

    monkeypatch.setattr(small.store, "run", watched)
    small.repair.run()

    assert max(sizes) <= 2 * rules.hot_size
    assert listed(small, Order.HOT) == before
    assert problems(small) == []
