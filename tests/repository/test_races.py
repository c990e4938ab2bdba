"""Concurrent threads: whatever the interleaving, some serial order of the calls gives the same result."""

import random
from functools import partial
from itertools import count
from types import NoneType

import pytest

from articles.domain.articles import Choice, Tally
from articles.domain.comments import CommentOrder, ThreadPart
from articles.domain.errors import AccountDeleted, CommentNotFound, DuplicateLink, GroupNotFound
from articles.domain.flags import FlagReason
from articles.domain.lists import Order
from articles.domain.moderation_log import Actor
from articles.repository import ImportRunning, Repository
from tests.cast import ALICE, BOB, MODERATOR
from tests.factories import comment_on, imported, link, post, view
from tests.repository.racing import Job, during, interleaved, race, several
from tests.repository.usage import listed, warm
from tests.rules import connect
from tests.searches import ids_found
from tests.store_state import problems

pytestmark = pytest.mark.deep

THREADS = 32
CALLS = 25
ARTICLES = 10


def test_many_threads_end_in_the_same_state_as_a_serial_model(repository):
    ids = [post(repository, number) for number in range(ARTICLES)]
    final: dict[tuple[int, int], Choice] = {(i, ALICE): Choice.VOTE for i in ids}
    answers: list[list[bool]] = [[] for _ in range(THREADS)]
    plans = []
    for thread in range(THREADS):
        chance = random.Random(thread)
        users = range(100 + 5 * thread, 105 + 5 * thread)
        plan = [(chance.choice(ids), chance.choice(users), chance.choice(list(Choice))) for _ in range(CALLS)]
        final |= {(article_id, user): choice for article_id, user, choice in plan}
        plans.append(plan)

    def play(thread: int) -> Job:
        def run() -> None:
            for article_id, user, choice in plans[thread]:
                answers[thread].append(repository.votes.cast(article_id, user, choice).choice == choice)

        return run

    race(repository, [play(thread) for thread in range(THREADS)])

    assert all(map(all, answers))
    assert sum(map(len, answers)) == THREADS * CALLS
    expected = {}
    for article_id in ids:
        names = repository.store.shards.of(article_id)
        for choice, key in ((Choice.VOTE, names.voted), (Choice.OPPOSE, names.oppose)):
            voters = {user for (i, user), chosen in final.items() if i == article_id and chosen is choice}
            assert {int(user) for user in repository.store.client.smembers(key(article_id))} == voters
            expected[article_id, choice] = len(voters)
    articles = repository.articles.get_many(ids)
    assert [(a.votes, a.opposes) for a in articles] == [
        (expected[i, Choice.VOTE], expected[i, Choice.OPPOSE]) for i in ids
    ]
    assert listed(repository) == [
        a.id for a in sorted(articles, key=lambda a: (a.score, str(a.id).encode()), reverse=True)
    ]
    assert problems(repository) == []


def test_a_link_that_many_members_post_at_once_becomes_one_article(repository):
    links = range(8)

    def poster(user: int) -> Job:
        order = random.Random(user).sample(links, len(links))
        return lambda: {
            number: repository.articles.post(user, f"user{user}", "T", link(number)) for number in order
        }

    outcomes = race(repository, [poster(user) for user in range(10, 25)])

    for number in links:
        assert len({outcome[number].id for outcome in outcomes}) == 1
        assert sum(outcome[number].is_new for outcome in outcomes) == 1
    assert len(listed(repository, Order.TIME)) == len(links)
    assert problems(repository) == []


def test_concurrent_group_changes_removals_and_votes_leave_every_warm_ranking_exact(repository):
    groups, articles = repository.groups, repository.articles
    for slug in ("python", "redis", "django"):
        groups.create(slug, slug.title())
    ids = [post(repository, number, ("python",)) for number in range(6)]
    warm(repository, "python", "redis", "django")

    def assign(seed: int) -> Job:
        chance = random.Random(seed)
        slugs = ["python", "redis", "django"]
        return lambda: groups.assign(
            chance.choice(ids), chance.sample(slugs, 2), chance.sample(slugs, 1), actor=MODERATOR
        )

    def moderate(seed: int) -> Job:
        chance = random.Random(seed)
        return lambda: chance.choice([articles.remove, articles.restore])(chance.choice(ids), MODERATOR, "Why")

    def vote(seed: int) -> Job:
        chance = random.Random(seed)
        return lambda: repository.votes.cast(
            chance.choice(ids), chance.randrange(100, 150), chance.choice([*Choice])
        )

    def read(seed: int) -> Job:
        chance = random.Random(seed)
        return lambda: repository.lists.get_page(chance.choice([*Order]), slug=chance.choice(["python", "redis"]))

    race(repository, [several(job(seed), 30) for seed in range(4) for job in (assign, moderate, vote, read)])

    assert problems(repository) == []
    found = [article for article in articles.get_many(ids) if article.removed is None]
    for slug in ("python", "redis", "django"):
        inside = [article for article in found if slug in article.groups]
        inside.sort(key=lambda article: (article.score, str(article.id).encode()), reverse=True)
        assert listed(repository, Order.SCORE, slug) == [article.id for article in inside]


def test_two_articles_edited_to_one_link_at_once_do_not_both_get_it(repository):
    ids = [post(repository, number) for number in range(12)]

    outcomes = race(
        repository,
        [lambda i=i: repository.articles.edit(i, MODERATOR, "T", link(99), moderator=True) for i in ids],
    )

    assert outcomes.count(None) == 1
    assert sum(isinstance(outcome, DuplicateLink) for outcome in outcomes) == 11
    assert [article.link for article in repository.articles.get_many(ids)].count(link(99)) == 1
    assert problems(repository) == []


def test_a_batch_imported_by_two_processes_at_once_is_stored_once(repository, clock, server_url):
    shards = repository.store.shards.count
    batch = [imported(number, clock() - 60 * number, groups=("python",)) for number in range(1, 60)]

    def importer() -> Job:
        own = connect(server_url, shards=shards, clock=clock)  # as another process has

        def run() -> int:
            while True:
                try:
                    with own.imports.lock():
                        return sum(entered is not None for entered in own.imports.add(batch))
                except ImportRunning:
                    continue

        return run

    entered = race(repository, [importer() for _ in range(4)])

    assert sorted(entered) == [0, 0, 0, len(batch)]
    assert len(listed(repository, Order.TIME, "python")) == len(batch)
    assert problems(repository) == []


def test_a_repair_during_votes_loses_none_and_hides_no_article_from_any_reader(repository):
    groups = {"python": ("python",), "redis": ("redis", "python")}
    for slug in groups:
        repository.groups.create(slug, slug)
    ids = [post(repository, n, groups["redis" if n % 3 else "python"]) for n in range(20)]
    warm(repository, *groups)
    calls: list[tuple[int, int]] = [(i, user) for i in ids for user in range(100, 110)]
    for number in ids:
        view(repository, number, 1)
        comment_on(repository, number, "Comment")

    def vote(part: int) -> Job:
        return lambda: [repository.votes.cast(i, user, Choice.OPPOSE) for i, user in calls[part::4]]

    def repairs() -> None:
        race(repository, [vote(part) for part in range(4)] + [several(repository.repair.run, 4)])

    def read() -> None:
        for order in Order:
            assert {a.id for a in repository.lists.get_page(order).articles} == set(ids)
            assert {a.id for a in repository.lists.get_page(order, slug="python").articles} == set(ids)

    assert during(repairs, read, repository) > 2

    assert {(a.votes, a.opposes) for a in repository.articles.get_many(ids)} == {(1, 10)}
    assert problems(repository) == []


def test_an_audit_of_a_site_in_use_finds_nothing(repository):
    for slug in ("python", "java", "redis"):
        repository.groups.create(slug, slug.title())
    ids = [post(repository, n, ("java",)) for n in range(20)]
    chance = random.Random(0)
    numbers = count(100)

    def work() -> None:
        article_id = chance.choice(ids)
        repository.votes.cast(article_id, chance.randrange(100, 120), chance.choice([*Choice]))
        repository.groups.assign(article_id, ["python"], ["redis"], actor=MODERATOR)
        repository.groups.assign(article_id, ["redis"], ["python"], actor=MODERATOR)
        repository.lists.get_page(Order.TIME, slug="redis")
        post(repository, next(numbers), ("python", "redis"))

    def merge() -> None:
        for article_id in ids:
            repository.articles.remove(article_id, MODERATOR, "Spam")
            repository.articles.restore(article_id, MODERATOR, "No spam")
        repository.groups.merge("java", "python", MODERATOR)

    found: list[str] = []
    during(
        lambda: race(repository, [*[several(work, 30)] * 3, merge]),
        lambda: found.extend(problems(repository)),
        repository,
        readers=1,
    )

    assert found == []
    assert problems(repository) == []


# One interleaving each, which threads rarely produce


def test_an_edit_that_loses_a_race_releases_the_link_it_replaced(repository):
    article_id = post(repository, 0)

    def edit(number: int, through: Repository) -> None:
        through.articles.edit(article_id, MODERATOR, f"Article {number}", link(number), moderator=True)

    edit(2, interleaved(repository, "articles/edit", lambda: edit(1, repository)))

    assert repository.articles.get(article_id).link == link(2)
    assert [number for number in range(3) if post(repository, number, poster=BOB) == article_id] == [2]


def depart(repository: Repository, user: int) -> None:
    assert repository.account_deletion.advance(user, f"user{user}", "", lambda: True) == ""


def test_an_edit_that_races_with_its_posters_account_deletion_leaves_no_name(repository):
    article_id = post(repository, 1, poster=BOB)
    overtaken = interleaved(repository, "articles/edit", lambda: depart(repository, BOB))

    overtaken.articles.edit(article_id, MODERATOR, "Renamed", link(2), moderator=True)

    found = repository.articles.get(article_id)
    assert (found.title, found.link, found.by_deleted_member) == ("Renamed", link(2), True)
    assert ids_found(repository, "user2") == []
    assert ids_found(repository, "renamed") == [article_id]
    assert problems(repository) == []


def test_an_edit_is_refused_and_releases_its_link_when_its_editor_is_deleted_first(repository):
    article_id = post(repository, 1, poster=BOB)
    overtaken = interleaved(repository, "articles/edit", lambda: depart(repository, BOB))

    with pytest.raises(AccountDeleted):
        overtaken.articles.edit(article_id, Actor(BOB, "user2"), "Renamed", link(2), moderator=False)

    assert repository.articles.get(article_id).title == "Article 1"
    assert post(repository, 2) != article_id
    assert problems(repository) == []


def two_groups(repository: Repository) -> list[int]:
    """A store with articles 1 and 2 in java, 3 and 4 in python."""
    for slug in ("java", "python", "redis"):
        repository.groups.create(slug, slug.title())
    return [post(repository, number, ("java" if number < 3 else "python",)) for number in range(1, 5)]


def test_an_article_added_to_a_group_during_its_merge_follows_it(repository):
    two_groups(repository)
    article_id = post(repository, 9)
    overtaken = interleaved(
        repository, "groups/assign", lambda: repository.groups.merge("java", "python", MODERATOR)
    )

    assert overtaken.groups.assign(article_id, ["java"]) == ("python",)

    assert sorted(listed(repository, Order.TIME, "python")) == [1, 2, 3, 4, article_id]
    assert problems(repository) == []


def test_an_article_posted_to_a_group_during_its_merge_follows_it(repository):
    two_groups(repository)
    overtaken = interleaved(
        repository, "articles/post", lambda: repository.groups.merge("java", "python", MODERATOR)
    )

    article_id = post(overtaken, 9, ("java",))

    assert repository.articles.get(article_id).groups == ("python",)
    assert problems(repository) == []


def test_an_article_added_to_a_group_as_its_merge_ends_is_moved_too(repository):
    two_groups(repository)
    late = post(repository, 9)
    overtaken = interleaved(repository, "groups/close", lambda: repository.groups.assign(late, ["java"]))

    assert overtaken.groups.merge("java", "python", MODERATOR) == 3

    assert repository.articles.get(late).groups == ("python",)
    assert problems(repository) == []


def test_a_merge_that_loses_to_its_reverse_is_refused_and_its_articles_follow(repository):
    ids = two_groups(repository)
    overtaken = interleaved(
        repository, "groups/close", lambda: repository.groups.merge("java", "python", MODERATOR)
    )

    with pytest.raises(GroupNotFound):
        overtaken.groups.merge("python", "java", MODERATOR)

    assert sorted(listed(repository, Order.TIME, "python")) == ids
    assert problems(repository) == []


def test_a_merge_into_a_group_being_merged_is_refused_and_its_articles_move_on(repository):
    ids = two_groups(repository)
    client = repository.store.client

    def merge_the_target_leaving_what_comes_late() -> None:
        names = repository.store.shards.directory
        client.hdel(names.groups, "python")
        client.hset(names.merged, "python", "redis")

    overtaken = interleaved(repository, "groups/close", merge_the_target_leaving_what_comes_late)

    with pytest.raises(GroupNotFound):
        overtaken.groups.merge("java", "python", MODERATOR)

    assert sorted(listed(repository, Order.TIME, "redis")) == ids
    assert sorted(repository.groups.get_titles()) == ["java", "redis"]
    assert problems(repository) == []


def test_a_removal_between_the_ids_of_a_page_and_its_articles_only_shortens_it(server_url, clock, monkeypatch):
    repository = connect(server_url, shards=2, clock=clock)  # with one shard, nothing can come in between
    repository.prepare()
    ids = two_groups(repository)

    reader = connect(repository.store.client, shards=repository.store.shards.count, clock=repository.store.now)
    run_many, exchanges = reader.store.run_many, []

    def removing_in_between(calls, **how):
        exchanges.append(calls)
        if len(exchanges) == 2:
            repository.articles.remove(ids[0], MODERATOR, "Spam")
        return run_many(calls, **how)

    monkeypatch.setattr(reader.store, "run_many", removing_in_between)

    assert {article.id for article in reader.lists.get_page(Order.SCORE).articles} == set(ids[1:])


def test_a_comment_and_a_vote_that_are_sent_many_times_at_once_count_once(repository):
    article_id = post(repository, 1)

    ids = race(repository, [lambda: comment_on(repository, article_id, "Once")] * 40)
    tallies = race(repository, [lambda: repository.comments.cast(ids[0], ALICE, Choice.VOTE)] * 40)

    assert len(set(ids)) == 1
    assert set(tallies) == {Tally(1, 0, Choice.VOTE)}
    assert repository.comments.get_thread(article_id, CommentOrder.BEST).total == 1
    assert problems(repository) == []


def test_comments_posted_edited_voted_on_flagged_deleted_and_removed_at_once_leave_a_sound_thread(repository):
    article_id = post(repository, 1)
    tops = [comment_on(repository, article_id, f"Top {number}") for number in range(4)]

    def discuss(thread: int) -> Job:
        chance = random.Random(thread)

        def run() -> list[object]:
            found: list[object] = []
            for turn in range(20):
                top, doubtful = chance.choice(tops), chance.choice(tops[:2])
                text = f"{thread} {turn}"
                calls: list[Job] = [
                    partial(comment_on, repository, article_id, text, 100 + thread, top),
                    partial(repository.comments.cast, top, 100 + thread, chance.choice(list(Choice))),
                    partial(repository.comments.edit, top, BOB, f"Edited {text}"),
                    partial(repository.flags.set, top, 100 + thread, FlagReason.SPAM),
                    partial(repository.comments.delete, top + 4 + turn, 100 + thread),
                    partial(repository.comments.delete, doubtful, BOB),
                    partial(repository.comments.remove, doubtful, MODERATOR, "Why not"),
                    partial(repository.comments.restore, doubtful, MODERATOR, "Why not"),
                ]
                found += several(calls[chance.choice((0, 0, 0, 1, 1, 2, 2, 3, 4, 4, 5, 6, 7))], 1)()
            return found

        return run

    outcomes = race(repository, [discuss(thread) for thread in range(8)])

    kinds = {type(outcome) for of_thread in outcomes for outcome in of_thread}
    assert {int, Tally, NoneType, CommentNotFound} <= kinds
    assert problems(repository) == []
    before = repository.comments.get_thread(article_id, CommentOrder.OLDEST, part=ThreadPart(size=1000))
    repository.repair.run()
    assert repository.comments.get_thread(article_id, CommentOrder.OLDEST, part=ThreadPart(size=1000)) == before
