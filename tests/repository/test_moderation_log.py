"""The moderation log: each action, its moderator, its reason, and the previous state."""

import json
import random

import pytest

from articles.domain.errors import PageNotFound
from articles.domain.moderation_log import Action, Actor, LogFilter
from articles.repository.moderation import log as moderation_log
from tests.cast import ALICE, BOB, MODERATOR
from tests.factories import link, post
from tests.store_state import server_info

pytestmark = pytest.mark.one_shard


def test_log_pages_show_the_newest_entries_first_across_shards(repository, clock):
    ids = []
    for n in range(30):
        ids.append(repository.articles.post(ALICE, "alice", f"T {n}", f"https://e.org/{n}").id)
        clock.advance(1)
        repository.articles.remove(ids[-1], MODERATOR, f"reason {n}")

    first, second = repository.moderation_log.get_page(1), repository.moderation_log.get_page(2)

    assert [entry.article_id for entry in first.entries] == ids[:4:-1]
    assert [entry.article_id for entry in second.entries] == ids[4::-1]
    assert (first.has_next, second.has_next) == (True, False)
    found = (first.entries[0].title, first.entries[0].reason, first.entries[0].at)
    assert found == ("T 29", "reason 29", clock.now)
    for number in (0, -1, 3):
        with pytest.raises(PageNotFound):
            repository.moderation_log.get_page(number)


def test_every_action_records_what_it_changed(repository, clock):
    groups, articles = repository.groups, repository.articles
    done = [
        lambda: groups.create("python", "Python", MODERATOR),
        lambda: groups.create("java", "Java", MODERATOR),
        lambda: groups.assign(1, ["java"], actor=MODERATOR, reason="It is"),
        lambda: groups.rename("python", "Python!", MODERATOR, "Louder"),
        lambda: groups.merge("java", "python", MODERATOR, "Same"),
        lambda: articles.edit(1, MODERATOR, "New", link(2), moderator=True, reason="Wrong page"),
        lambda: articles.remove(1, MODERATOR, "Spam"),
        lambda: articles.restore(1, MODERATOR, "It was not"),
    ]
    post(repository, 1)
    for change in done:
        clock.advance(1)
        change()

    told = [
        (e.action, e.article_id, e.title, e.reason, e.details)
        for e in repository.moderation_log.get_page().entries
    ]

    assert told[::-1] == [
        (Action.CREATE_GROUP, 0, "Python", "", {"slug": "python"}),
        (Action.CREATE_GROUP, 0, "Java", "", {"slug": "java"}),
        (Action.GROUPS, 1, "Article 1", "It is", {"added": "java", "removed": ""}),
        (Action.RENAME_GROUP, 0, "Python!", "Louder", {"slug": "python", "old_title": "Python"}),
        (Action.MERGE_GROUPS, 0, "Java", "Same", {"slug": "java", "into": "python"}),
        (Action.EDIT, 1, "New", "Wrong page", {"old_title": "Article 1", "old_link": link(1)}),
        (Action.REMOVE, 1, "New", "Spam", {}),
        (Action.RESTORE, 1, "New", "It was not", {}),
    ]
    assert {entry.actor_name for entry in repository.moderation_log.get_page().entries} == {"carol"}


def test_an_article_has_the_entries_about_it_and_no_others(repository, clock):
    groups, articles = repository.groups, repository.articles
    groups.create("python", "Python", MODERATOR)
    post(repository, 1)
    post(repository, 2)
    assert repository.moderation_log.get_for_article(1).entries == ()
    for change in (
        lambda: articles.edit(1, MODERATOR, "New", link(1), moderator=True),
        lambda: articles.remove(2, MODERATOR, "Spam"),
        lambda: groups.assign(1, ["python"], actor=MODERATOR),
        lambda: articles.remove(1, MODERATOR, "Spam too"),
        lambda: articles.restore(2, MODERATOR, "It was not"),
    ):
        clock.advance(1)
        change()

    def told(article_id):
        page = repository.moderation_log.get_for_article(article_id)
        assert not page.has_next
        return [(entry.action, entry.article_id) for entry in page.entries]

    assert told(1) == [(Action.REMOVE, 1), (Action.GROUPS, 1), (Action.EDIT, 1)]
    assert told(2) == [(Action.RESTORE, 2), (Action.REMOVE, 2)]
    assert told(3) == []
    assert repository.moderation_log.get_for_article(1).entries[0].reason == "Spam too"


def test_only_the_newest_of_many_entries_about_an_article_are_returned(repository):
    post(repository, 1)
    per_page = repository.store.rules.per_page
    for n in range(per_page + 1):
        repository.articles.edit(1, MODERATOR, f"T {n}", link(1), moderator=True)
        has_next = repository.moderation_log.get_for_article(1).has_next
        assert has_next == (n == per_page)

    page = repository.moderation_log.get_for_article(1)

    assert [entry.title for entry in page.entries] == [f"T {n}" for n in range(per_page, 0, -1)]


def fill_logs(repository, shares, count=4000):
    """Write entries a minute apart, dealt to the shards by these weights; return their times, newest first."""
    chance, shards, times = random.Random(3), repository.store.shards.all, []
    with repository.store.pipeline() as pipe:
        for number in range(count):
            facts = {
                "action": "remove",
                "at": f"{1e9 + 60 * (number // 2):.3f}",
                "actor": "carol",
                "id": str(number),
            }
            entry = json.dumps(facts | {"title": "T", "reason": "Spam", "details": {}})
            (keys,) = chance.choices(shards, shares(number, len(shards)))
            pipe.lpush(keys.log, entry)
            times.append(float(facts["at"]))
        pipe.execute()
    return times[::-1]


SHARES = {
    "even": lambda _number, shards: [1] * shards,
    "all in one": lambda _number, shards: [1] + [0] * (shards - 1),
    "one after the other": lambda number, shards: [int(number // 1000 % shards == at) for at in range(shards)],
    "skewed": lambda _number, shards: [9**at for at in range(shards)],
}


@pytest.mark.deep
@pytest.mark.parametrize("shares", SHARES)
def test_a_deep_page_matches_the_whole_log_and_reads_no_earlier_entries(repository, monkeypatch, shares):
    times, read = fill_logs(repository, SHARES[shares]), []
    parse = json.loads
    monkeypatch.setattr(json, "loads", lambda text: read.append(text) or parse(text))
    seen = []

    for number in (1, 2, 3, 40, 41, 79, 80, 100, 159, 160):
        del read[:]
        page = repository.moderation_log.get_page(number)
        assert [entry.at for entry in page.entries] == times[25 * (number - 1) : 25 * number]
        assert page.has_next == (number < 160)
        shards = repository.store.shards.count
        assert len(read) <= (26 * shards if number == 1 or shards == 1 else 4 * 63 * shards)
        seen += [entry.article_id for entry in page.entries]

    assert len(seen) == len(set(seen))
    with pytest.raises(PageNotFound):
        repository.moderation_log.get_page(161)


def test_an_action_on_a_member_that_is_retried_is_logged_once(repository, clock):
    def ban(reason="Spam", days="7", member="bob", actor=MODERATOR):
        repository.moderation_log.note(Action.BAN, actor, member, reason, {"scope": "both", "days": days})

    def logged():
        return len(repository.moderation_log.get_page().entries)

    ban()
    repository.groups.create("python", "bob")  # of the same title, but not about a member
    clock.advance(600)
    ban()
    assert logged() == 1
    for another in ({"reason": "More"}, {"days": "8"}, {"member": "mallory"}, {"actor": Actor(BOB, "x")}):
        before = logged()
        ban(**another)
        assert logged() == before + 1, another
    repository.moderation_log.note(Action.LIFT_BAN, MODERATOR, "bob", "Enough")
    ban(actor=Actor(BOB, "x"))  # begun again, after all
    clock.advance(600.001)
    ban(actor=Actor(BOB, "x"))
    found = [entry.action for entry in repository.moderation_log.get_page().entries][:3]
    assert found == [Action.BAN, Action.BAN, Action.LIFT_BAN]


@pytest.fixture
def varied(repository, clock):
    """A log with ten rounds of a removed article, a ban, a locked discussion and a comment that is removed."""
    repository.groups.create("python", "Python")
    dora = Actor(77, "Dora")
    for n in range(10):
        clock.advance(1)
        groups = ["python"] if n % 2 else []
        name, poster = ("alice", ALICE) if n < 5 else ("bob", BOB)
        article = repository.articles.post(poster, name, f"T {n}", link(n + 1), groups).id
        comment = repository.comments.post(article, BOB, "bob", f"Comment {n}")
        repository.comments.remove(comment, dora, f"rude {n}")
        repository.comments.lock(article, dora, "Too long")
        repository.articles.remove(article, MODERATOR, f"reason {n}")
        repository.moderation_log.note(Action.BAN, dora, "Alice", f"ban {n}")
    return repository


WANTED = {
    "action": (LogFilter(Action.LOCK), lambda e: e.action is Action.LOCK),
    "actor": (LogFilter(actor="dora"), lambda e: e.actor_name == "Dora"),
    "member": (
        LogFilter(member="ALICE"),
        lambda e: e.title == "Alice" or (e.article_id and "comment" not in e.details and int(e.title[2:]) < 5),
    ),
    "author of comments": (
        LogFilter(Action.REMOVE_COMMENT, member="bob"),
        lambda e: e.action is Action.REMOVE_COMMENT,
    ),
    "group": (
        LogFilter(group="python"),
        lambda e: (e.article_id and int(e.title[2:]) % 2) or e.details.get("slug") == "python",
    ),
    "all at once": (
        LogFilter(Action.REMOVE, MODERATOR.name, "bob", "python"),
        lambda e: e.action is Action.REMOVE and int(e.title[2:]) in (5, 7, 9),
    ),
    "nothing": (LogFilter(actor="nobody"), lambda e: False),
}


@pytest.mark.parametrize("wanted", WANTED)
def test_a_filter_finds_each_entry_once_on_pages_that_look_at_a_limited_number(varied, monkeypatch, wanted):
    monkeypatch.setattr(moderation_log, "ENTRIES_SEARCHED", 12)
    choice, is_wanted = WANTED[wanted]
    found, rest, pages, reached = [], None, 0, float("inf")
    while pages < 50 and (rest is None or any(rest)):
        page = varied.moderation_log.find(choice, rest)
        assert (page.has_next, page.searched_to <= reached) == (any(page.rest), True)
        found, rest, pages, reached = [*found, *page.entries], page.rest, pages + 1, page.searched_to

    assert not any(rest)
    assert pages > 2
    expected = [entry for entry in varied.moderation_log.iterate() if is_wanted(entry)]
    assert sorted(map(repr, found)) == sorted(map(repr, expected))
    assert [entry.at for entry in found] == sorted((entry.at for entry in expected), reverse=True)


def test_a_filter_finds_all_even_where_the_clock_was_set_back(varied, clock, monkeypatch):
    monkeypatch.setattr(moderation_log, "ENTRIES_SEARCHED", 8)
    clock.advance(-5)
    for n in range(12):
        varied.moderation_log.note(Action.BLOCK_HOST, MODERATOR, f"{n}.example", "Spam")
        clock.advance(-1 if n % 3 else 2)
    hosts, rest = [], None
    for _ in range(60):
        page = varied.moderation_log.find(LogFilter(Action.BLOCK_HOST), rest)
        hosts, rest = hosts + [entry.title for entry in page.entries], page.rest

    assert not any(rest)
    assert sorted(hosts) == sorted(f"{n}.example" for n in range(12))


@pytest.mark.parametrize(
    "wanted", [LogFilter(Action.BAN), LogFilter(member="x"), LogFilter(member="x", group="y")]
)
def test_a_filter_that_admits_nothing_costs_no_more_than_the_entries_that_it_looks_at(varied, monkeypatch, wanted):
    monkeypatch.setattr(moderation_log, "ENTRIES_SEARCHED", 8)
    before = commands(varied)
    page = varied.moderation_log.find(wanted)

    shards = len(page.rest)
    assert commands(varied) - before <= 2 * shards + 2 * 8 + 2, "one LLEN and LRANGE each, two HGET for each entry"
    assert page.has_next


def commands(repository) -> int:
    return int(server_info(repository)["total_commands_processed"])
