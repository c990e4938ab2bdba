"""The repair: every list is rebuilt from the articles themselves, and no vote is lost."""

from collections.abc import Callable

import pytest

from articles.domain.lists import Order
from articles.repository import Repository
from articles.repository.store import keys
from tests.cast import ALICE, BOB, MODERATOR
from tests.factories import comment_on, link, post
from tests.repository.usage import listed
from tests.store_state import contents, problems

pytestmark = pytest.mark.one_shard

ARTICLES = range(1, 14)


def rankings_lost(repository: Repository) -> None:
    for names in repository.store.shards.all:
        for order in Order:
            repository.store.client.delete(names.order(order))


def groups_lost(repository: Repository) -> None:
    for names in repository.store.shards.all:
        repository.store.client.delete(names.group("python"), names.group("redis"))


def everything_derived_lost(repository: Repository) -> None:
    rankings_lost(repository)
    groups_lost(repository)
    for names in repository.store.shards.all:
        repository.store.client.delete(names.removed)
        for order in Order:
            for slug in ("python", "redis"):
                repository.store.client.delete(names.group_order(order, slug))


def strangers_in_groups(repository: Repository) -> None:
    for article_id in ARTICLES:
        names = repository.store.shards.of(article_id)
        repository.store.client.sadd(names.group("python"), article_id)
        repository.store.client.sadd(names.group("nobodys"), article_id)


def removed_ones_listed(repository: Repository) -> None:
    for article_id in (5, 6, 11):
        names = repository.store.shards.of(article_id)
        repository.store.client.zadd(names.order(Order.SCORE), {str(article_id): 9e9})
        repository.store.client.sadd(names.group("python"), article_id)
        repository.store.client.zrem(names.removed, str(article_id))


def listed_ones_among_the_removed(repository: Repository) -> None:
    for article_id in (1, 3, 7):
        names = repository.store.shards.of(article_id)
        repository.store.client.zadd(names.removed, {str(article_id): 1})


def views_of_nothing(repository: Repository) -> None:
    names, client = repository.store.shards.of(5000), repository.store.client
    client.set(names.views(5000), 1)
    client.pfadd(names.visitors(5000), "x")
    client.hset(names.suspects(5000), "bot", 1)
    client.hset(names.days(5000), "1:bot", 1)
    client.lpush(names.history(5000), "1 2 3 4")


def left_by_a_weight_not_applied(repository: Repository) -> None:
    for article_id in (1, 5, 5000):
        names = repository.store.shards.of(article_id)
        repository.store.client.zadd(names.next_score, {str(article_id): 1})


def counter_lost(repository: Repository) -> None:
    repository.store.client.delete(keys.COUNTER)


def counter_behind(repository: Repository) -> None:
    repository.store.client.set(keys.COUNTER, 3)


def voters_that_expire(repository: Repository) -> None:
    for article_id in ARTICLES:
        names = repository.store.shards.of(article_id)
        repository.store.client.expire(names.voted(article_id), 10**6)
        repository.store.client.expire(names.oppose(article_id), 10**6)


def directory_lost(repository: Repository) -> None:
    names = repository.store.shards.directory
    repository.store.client.delete(names.groups)


def entries_of_the_log_lost(repository: Repository) -> None:
    for number in ARTICLES:
        repository.store.client.hdel(repository.store.shards.of(number).article(number), "log")


def entries_of_the_log_wrong(repository: Repository) -> None:
    for number in ARTICLES:
        repository.store.client.hset(repository.store.shards.of(number).article(number), "log", "1,2,1000")


DAMAGE: list[Callable[[Repository], None]] = [
    entries_of_the_log_lost, entries_of_the_log_wrong, rankings_lost, groups_lost, everything_derived_lost,
    strangers_in_groups, removed_ones_listed, listed_ones_among_the_removed, views_of_nothing,
    left_by_a_weight_not_applied, counter_lost, counter_behind, voters_that_expire, directory_lost,
]  # fmt: skip


def lists(repository: Repository) -> dict[tuple[Order, str | None], list[int]]:
    return {
        (order, slug): listed(repository, order, slug) for order in Order for slug in (None, "python", "redis")
    }


def voters(repository: Repository) -> dict[str, object]:
    return {name: value for name, value in contents(repository).items() if "voted:" in name or "oppose:" in name}


def test_all_kinds_of_damage_together_are_repaired_without_losing_a_vote(used):
    before, voted, articles = lists(used), voters(used), used.articles.get_many(ARTICLES, BOB)
    for damage in DAMAGE:
        damage(used)

    used.repair.run()

    assert problems(used) == []
    assert lists(used) == before
    assert voters(used) == voted
    assert used.articles.get_many(ARTICLES, BOB) == articles


@pytest.mark.parametrize("damage", [None, everything_derived_lost], ids=["sound", "damaged"])
def test_a_second_repair_changes_nothing(used, damage):
    if damage:
        damage(used)
    used.repair.run()
    once = contents(used)

    used.repair.run()

    assert contents(used) == once


def test_after_the_repair_of_a_lost_counter_no_id_is_used_twice(used):
    counter_lost(used)
    used.repair.run()

    assert post(used, 1000) == len(ARTICLES) + 1


def test_voter_sets_that_should_have_been_dropped_are_dropped(used):
    names = used.store.shards.of(1)
    used.store.client.hset(names.ranking, "voters_dropped", used.articles.get(1).posted_at + 0.001)

    used.repair.run()

    assert not used.store.client.exists(names.voted(1))
    assert problems(used) == []


def test_vote_counts_are_left_unchanged_and_stay_reported(used):
    used.store.client.hincrby(used.store.shards.of(7).article(7), "votes", 3)
    votes = used.articles.get(7).votes

    used.repair.run()

    assert used.articles.get(7).votes == votes
    assert len(problems(used)) == 1
    assert "votes" in problems(used)[0]


def test_an_article_left_in_a_merged_group_follows_it(used):
    directory = used.store.shards.directory
    used.store.client.hset(used.store.shards.of(1).article(1), "groups", "java")
    used.store.client.sadd(used.store.shards.of(1).group("java"), 1)
    assert problems(used) == [
        f"{used.store.shards.of(1).prefix}group:java: holds articles, but there is no such group"
    ]

    used.repair.run()

    assert used.articles.get(1).groups == ("python",)
    assert 1 in listed(used, Order.TIME, "python")
    assert used.store.client.hget(directory.merged, "java") == "python"
    assert problems(used) == []


@pytest.mark.deep
def test_a_log_of_more_entries_than_one_step_is_repaired_in_full_and_in_order(repository, clock):
    for number in (1, 2):
        post(repository, number)
    for number in range(260):
        repository.articles.edit(number % 2 + 1, MODERATOR, f"T {number}", link(number), moderator=True)
    before = [repository.moderation_log.get_for_article(article_id) for article_id in (1, 2)]
    first, second = (repository.store.shards.of(article_id).article(article_id) for article_id in (1, 2))
    kept = repository.store.client.hget(first, "log").split(",")[-2:]
    repository.store.client.hset(first, "log", ",".join(kept))
    repository.store.client.hdel(second, "log")
    assert len(problems(repository)) == 260 - 2

    repository.repair.run()

    assert problems(repository) == []
    assert [repository.moderation_log.get_for_article(article_id) for article_id in (1, 2)] == before


def test_html_without_a_text_is_reported_and_dropped(repository, article):
    """An older version of the site removes a text, or deletes a comment, and leaves the HTML."""
    comment = comment_on(repository, article, "Deleted")
    comment_on(repository, article, "A reply", ALICE, comment)
    repository.comments.delete(comment, BOB)
    keys = repository.store.shards.of(article)
    for name in (keys.article(article), keys.comment(comment)):
        repository.store.client.hset(name, "html", "<p>Deleted</p>")

    found = [finding.problem for finding in repository.audit.run()]
    repository.repair.run()

    assert found == ["has HTML, but no text", "deleted, but has HTML"]
    assert list(repository.audit.run()) == []


def test_the_size_of_a_text_is_checked_and_restored(repository):
    number = repository.articles.post(ALICE, "alice", "A title", "", text="A *text*").id
    repository.store.client.hset(repository.store.shards.of(number).article(number), "text_bytes", 7)

    (finding,) = repository.audit.run()
    repository.repair.run()

    assert finding.problem == "its text has 8 bytes, noted 7"
    assert list(repository.audit.run()) == []


def test_the_repair_notes_for_search_indexes_only_what_it_moved_or_found_wrong(used):
    client = used.store.client
    used.repair.run()
    first, second = used.store.shards.of(1), used.store.shards.of(2)
    for names in used.store.shards.all:
        client.delete(names.changes)
    client.zadd(first.order(Order.POINTS), {"1": 10**12})
    client.hset(second.article(2), "text_bytes", 17)

    used.repair.run()

    noted = {member for names in used.store.shards.all for member in client.zrange(names.changes, 0, -1)}
    assert noted == {"1", "2"}
    assert problems(used) == []
