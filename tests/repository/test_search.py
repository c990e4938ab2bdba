"""Searching a store: what is found, in which order, after every kind of change, and within limits."""

import random
from concurrent.futures import ThreadPoolExecutor
from itertools import count, product

import pytest

from articles.domain.articles import Choice
from articles.domain.errors import ArticleRemoved, DuplicateLink, GroupNotFound, NotRemoved, PageNotFound
from articles.domain.lists import Order
from articles.repository import Repository
from articles.repository.lists.reading import sort_key
from articles.repository.search import find, index, scanning
from articles.repository.search.index import ALL_INDEXED
from articles.repository.store import keys as names
from articles.searching import WORDS_VERSION, read_query
from tests.cast import ALICE, BOB, MODERATOR
from tests.clock import Clock
from tests.every_server import calls_in, delete, reset_statistics
from tests.factories import imported
from tests.repository.usage import removing, use
from tests.rules import connect
from tests.store_state import problems
from tests.topologies import of_this_run

NUMBERS = count(1)

NEWER = WORDS_VERSION + 1
"""The version of the words that another version of the site makes."""


def post(repository: Repository, title: str, *groups: str, link: str = "", poster: str = "alice") -> int:
    link = link or f"https://site.example/{next(NUMBERS)}"
    return repository.articles.post(ALICE, poster, title, link, groups).id


def ids(repository: Repository, text: str, order: Order = Order.TIME, number: int = 1, **options) -> list[int]:
    page = repository.search.get_page(read_query(text), order, number, **options)
    return [article.id for article in page.articles]


def test_articles_are_found_by_title_host_poster_and_group(repository):
    repository.groups.create("databases", "Data stores")
    title = post(repository, "Voting in Redis")
    host = post(repository, "A", link="https://redis.io/a")
    poster = post(repository, "B", poster="redis-fan")
    group = post(repository, "C", "databases")

    assert set(ids(repository, "redis")) == {title, host, poster}
    assert ids(repository, "redis.io") == [host]
    assert ids(repository, "databases") == ids(repository, "stores") == ids(repository, "datab") == [group]
    assert ids(repository, "redis vot") == ids(repository, "voted redi") == [title]
    assert ids(repository, "redis nothing") == ids(repository, "") == ids(repository, "?!") == []


def test_chinese_text_is_found_by_any_part_of_it(repository):
    article = post(repository, "分布式数据库入门")
    other = post(repository, "数字时代")

    assert ids(repository, "数据") == ids(repository, "数据库") == ids(repository, "门") == [article]
    assert set(ids(repository, "数")) == {article, other}
    assert ids(repository, "库入 分布") == [article]


def test_hiding_many_groups_does_not_slow_the_store(repository):
    groups = [f"group-{n}" for n in range(50)]
    for slug in groups:
        repository.groups.create(slug, slug)
    for n, slug in enumerate(groups):
        post(repository, "redis", slug, groups[n - 1])
    here = post(repository, "redis")
    client = repository.store.client
    looked = []
    for hidden in (groups[:1], groups):
        reset_statistics(client)
        found = ids(repository, "redis", hidden=hidden)
        looked.append(calls_in(client).get("smismember", 0))

    assert found == [here]
    assert looked[1] <= looked[0]


def test_results_are_listed_newest_or_best_first(repository, clock):
    old = post(repository, "redis one")
    clock.advance(60)
    new = post(repository, "redis two")
    for user in (BOB, 77):
        repository.votes.cast(old, user, Choice.VOTE)

    assert ids(repository, "redis", Order.TIME) == [new, old]
    assert ids(repository, "redis", Order.SCORE) == [old, new]


def test_by_score_whole_words_come_before_prefixes(repository, clock):
    whole = [post(repository, "Go is a language", link=f"https://a.example/{n}") for n in range(3)]
    clock.advance(60)
    begun = [post(repository, "Google and goats", link=f"https://b.example/{n}") for n in range(3)]
    clock.advance(60)
    both = post(repository, "Google likes Go")

    assert ids(repository, "go", Order.SCORE) == [both, *whole[::-1], *begun[::-1]]
    assert ids(repository, "go", Order.TIME) == [both, *begun[::-1], *whole[::-1]]
    assert repository.search.get_page(read_query("go"), Order.SCORE).total == 7


def test_a_group_matched_in_full_comes_before_one_matched_by_prefix(repository):
    whole, begun = post(repository, "One", "go"), post(repository, "Two", "google")

    assert ids(repository, "go", Order.SCORE) == [whole, begun]


def test_a_space_ends_the_last_word(repository):
    whole, begun = post(repository, "Go is a language"), post(repository, "Google and goats")

    assert set(ids(repository, "go")) == {whole, begun}
    assert ids(repository, "go ") == [whole]
    assert ids(repository, "goog ") == []


def test_pages_continue_from_whole_words_to_prefixes_without_repeats(repository):
    whole = [post(repository, "Go", link=f"https://a.example/{n}") for n in range(30)]
    begun = [post(repository, "Google", link=f"https://b.example/{n}") for n in range(40)]

    found = [i for number in (1, 2, 3) for i in ids(repository, "go", Order.SCORE, number)]

    assert len(found) == len(set(found)) == 70
    assert set(found[:30]) == set(whole)
    assert set(found[30:]) == set(begun)
    with pytest.raises(PageNotFound):
        ids(repository, "go", Order.SCORE, 4)


def test_searching_for_whole_words_first_adds_no_round_trip(repository, wire):
    for n in range(30):
        post(repository, "Go and Google", link=f"https://a.example/{n}")
    ids(repository, "go", Order.SCORE)

    with wire.counted() as counted:
        ids(repository, "go", Order.SCORE)

    assert counted.trips == 3


def test_a_search_can_be_limited_to_a_group_and_excludes_hidden_groups(repository):
    here, there = post(repository, "redis one", "python"), post(repository, "redis two", "java", "ruby")

    assert ids(repository, "redis", slug="python") == [here]
    assert ids(repository, "redis", hidden=["java"]) == [here]
    assert ids(repository, "redis", hidden=["ruby", "python"]) == []
    assert ids(repository, "redis", slug="java", hidden=["java"]) == [there]
    assert repository.search.get_page(read_query("redis"), slug="python").titles["python"] == "python"
    with pytest.raises(GroupNotFound):
        repository.search.get_page(read_query("redis"), slug="unknown")


def test_a_merged_group_names_its_target_and_its_articles_are_found_there(repository):
    article = post(repository, "T", "java")
    repository.groups.create("python", "Python")
    repository.groups.merge("java", "python", MODERATOR)

    assert ids(repository, "python") == [article]
    assert ids(repository, "java") == []
    with pytest.raises(GroupNotFound) as refused:
        repository.search.get_page(read_query("t"), slug="java")
    assert refused.value.moved_to == "python"


def test_every_change_to_an_article_updates_the_words_that_find_it(repository):
    article = post(repository, "Apples and 苹果")
    assert ids(repository, "apple") == ids(repository, "苹果") == [article]

    repository.articles.edit(article, MODERATOR, "Pears", "https://other.example/", moderator=True)
    assert ids(repository, "apple") == ids(repository, "苹果") == ids(repository, "site.example") == []
    assert ids(repository, "pear") == ids(repository, "other.example") == ids(repository, "alice") == [article]

    repository.articles.remove(article, MODERATOR, "Spam")
    assert ids(repository, "pear") == []
    repository.articles.edit(article, MODERATOR, "Plums", "https://other.example/", moderator=True)
    assert ids(repository, "plum") == []
    repository.articles.restore(article, MODERATOR, "It was not")
    assert ids(repository, "plum") == [article]
    assert ids(repository, "pear") == []
    assert problems(repository) == []


def test_an_article_removed_while_a_search_is_read_is_not_found(repository, monkeypatch):
    article, other = post(repository, "redis"), post(repository, "redis")
    monkeypatch.setattr(find, "read_articles", removing(repository, find.read_articles, article))

    assert ids(repository, "redis") == [other]


def test_imported_articles_are_found_unless_removed(repository, clock):
    here, gone = repository.imports.add([imported(1, clock()), imported(2, clock() - 5, removed="Spam")])

    assert ids(repository, "import") == [here]
    repository.articles.restore(gone, MODERATOR, "It was not")
    assert ids(repository, "import") == [here, gone]


def test_pages_follow_one_another(repository, clock):
    posted = []
    for number in range(60):
        clock.advance(1)
        posted.append(post(repository, f"redis {number}"))
    pages = [repository.search.get_page(read_query("redis"), Order.TIME, number) for number in (1, 2, 3)]

    assert [a.id for page in pages for a in page.articles] == posted[::-1]
    assert [page.has_next for page in pages] == [True, True, False]
    assert [page.first_rank for page in pages] == [1, 26, 51]
    assert {page.total for page in pages} == {60}
    for number in (0, 4, 41):
        with pytest.raises(PageNotFound):
            repository.search.get_page(read_query("redis"), Order.TIME, number)


def test_paging_ends_at_the_number_of_articles_searched(repository, clock, monkeypatch):
    monkeypatch.setattr(find, "MOST_FOUND", 50)
    repository.imports.add([imported(number, clock() - number) for number in range(60)])

    last = repository.search.get_page(read_query("import"), Order.TIME, 2)

    assert (len(last.articles), last.has_next, last.total) == (25, False, 60)
    assert repository.search.get_page(read_query("import"), Order.TIME, 1).has_next
    with pytest.raises(PageNotFound):
        repository.search.get_page(read_query("import"), Order.TIME, 3)


def post_and_disturb(repository, clock, monkeypatch, disturb) -> list[int]:
    """Post six articles, oldest first, for a walk down the ranking that is disturbed after each step."""
    monkeypatch.setattr(scanning, "FEW", 1)
    monkeypatch.setattr(scanning, "STEPS", [("walk", 2)] * 9)
    posted = []
    for _ in range(6):
        clock.advance(1)
        posted.append(post(repository, "redis"))
    run_many = repository.store.run_many

    def disturbed(calls, **options):
        replies = run_many(calls, **options)
        for call, reply in zip(calls, replies, strict=True):
            if call.script.startswith("search/"):
                disturb(reply)
        return replies

    monkeypatch.setattr(repository.store, "run_many", disturbed)
    return posted


def test_an_article_that_moves_down_during_a_search_is_found_once(repository, clock, monkeypatch):
    def disturb(_reply):
        clock.advance(1)
        post(repository, "another")

    posted = post_and_disturb(repository, clock, monkeypatch, disturb)

    assert ids(repository, "redis") == posted[::-1]


def test_an_article_that_falls_during_a_search_is_found_once(repository, clock, monkeypatch):
    def disturb(reply):
        for article_id in reply[2:4:2]:
            repository.votes.cast(int(article_id), BOB, Choice.OPPOSE)

    posted = post_and_disturb(repository, clock, monkeypatch, disturb)

    found = ids(repository, "redis", Order.SCORE)

    assert len(found) == len(set(found))
    assert set(found) <= set(posted)


@pytest.mark.parametrize("few", [1, 2000])
def test_hundreds_of_articles_are_found_once_each_by_one_word_or_hundreds(repository, clock, monkeypatch, few):
    monkeypatch.setattr(scanning, "FEW", few)
    rows = [imported(number, clock() - number, title=f"wa{number:03}") for number in range(600)]
    rows.append(imported(600, clock() - 600, title="bwa"))
    posted = repository.imports.add(rows)

    assert repository.search.list_newest(read_query("old.example"), 1000) == posted
    assert few == 1 or repository.search.list_newest(read_query("wa"), 1000) == posted[:-1]


def test_words_that_are_rare_together_are_intersected_without_walking_first(repository, clock, monkeypatch):
    monkeypatch.setattr(scanning, "FEW", 5)
    titles = ["redis"] * 10 + ["news"] * 10 + ["redis news"]
    rows = [imported(number, clock() - number, title=f"{title} {number}") for number, title in enumerate(titles)]
    posted = repository.imports.add(rows)
    reset_statistics(repository.store.client)

    page = repository.search.get_page(read_query("redis news"))

    assert [article.id for article in page.articles] == posted[-1:]
    assert (page.total, page.complete) == (1, True)
    assert not calls_in(repository.store.client).get("zrevrange")


def test_results_include_the_readers_own_choice(repository):
    article = post(repository, "redis")
    repository.votes.cast(article, BOB, Choice.OPPOSE)

    (found,) = repository.search.get_page(read_query("redis"), reader=BOB).articles

    assert found.choice is Choice.OPPOSE


WORDS = ("the", "redis", "redit", "python", "数据", "数库", "vote", "voting", "new", "news")
LIMITS = ((2000, 2000), (4, 7), (10, 20), (2, 1000))


@pytest.mark.parametrize(("few", "walked"), LIMITS)
def test_a_search_finds_the_same_as_a_scan_of_every_article(repository, clock, monkeypatch, few, walked):
    monkeypatch.setattr(scanning, "FEW", few)
    monkeypatch.setattr(scanning, "STEPS", [(mode, walked) for mode, _ in scanning.STEPS])
    chance, facts = random.Random(few), {}
    for _ in range(90):
        clock.advance(chance.choice((0, 1)))
        title = " ".join(chance.choices(WORDS, weights=range(len(WORDS), 0, -1), k=3))
        groups = chance.choice(((), ("python",), ("python", "other")))
        facts[post(repository, title, *groups)] = groups
    for text in (
        "redis",
        "re",
        "the redis",
        "r",
        "数 new",
        "python",
        "the vot",
        "news 数据 re",
        "redis redit the",
        "zz",
    ):
        for slug, hidden in ((None, ()), ("other", ()), (None, ("other",))):
            check(repository, text, facts, slug, hidden, whole=few == 2000)


def check(repository, text, facts, slug, hidden, *, whole):
    query = read_query(text).with_groups({"python": "python", "other": "other"})

    def is_met(article):
        words = repository.store.client.hget(repository.store.shards.of(article.id).article(article.id), "words")
        groups = facts[article.id]
        met = all(any(map(t.is_met_by, words.split())) or set(t.groups) & set(groups) for t in query.terms)
        return met and (slug is None or slug in groups) and not set(hidden) & set(groups)

    articles = [article for article in repository.articles.get_many(list(facts)) if is_met(article)]
    articles.sort(key=lambda article: sort_key(article.posted_at, str(article.id)), reverse=True)
    expected = [article.id for article in articles]
    page = repository.search.get_page(read_query(text), Order.TIME, slug=slug, hidden=hidden)
    found = [article.id for article in page.articles]
    if page.complete:
        assert found == expected[:25], text
        assert page.total in (None, len(expected))
        assert page.has_next == (len(expected) > 25)
    else:
        assert not whole
        assert set(found) <= set(expected)


def test_naughty_queries_are_answered(repository, shared_dir):
    import json

    post(repository, "redis")
    for text in json.loads((shared_dir / "cases" / "naughty_strings.json").read_text("utf-8")):
        repository.search.get_page(read_query(text))
    assert problems(repository) == []


# The index of older stores


@pytest.fixture
def unindexed(repository) -> Repository:
    """A store with articles that predate the index."""
    post(repository, "redis one")
    removed = post(repository, "redis two")
    post(repository, "redis three")
    repository.articles.remove(removed, MODERATOR, "Spam")
    client = repository.store.client
    for keys in repository.store.shards.all:
        delete(client, *(keys.word(word) for word in client.zrange(keys.lexicon, 0, -1)), keys.lexicon)
    for number in (1, 2, 3):
        client.hdel(repository.store.shards.of(number).article(number), "words")
    client.hdel(names.SCHEMA, "indexed")
    return repository


def test_an_unindexed_store_is_sound_and_its_search_reports_incomplete_results(unindexed):
    assert problems(unindexed) == []
    page = unindexed.search.get_page(read_query("redis"))
    assert (page.articles, page.complete) == ((), False)


def test_an_unindexed_store_is_indexed_step_by_step(unindexed, monkeypatch):
    monkeypatch.setattr(find, "ARTICLES_PER_READ", 2)

    assert unindexed.search.catch_up(-1) == 2
    assert unindexed.store.client.hget(names.SCHEMA, "indexed") == f"{WORDS_VERSION} 2"
    assert unindexed.search.catch_up(60) == 1
    assert unindexed.search.catch_up(60) == 0

    assert sorted(ids(unindexed, "redis")) == [1, 3]
    assert unindexed.search.get_page(read_query("redis")).complete
    assert problems(unindexed) == []


def test_changes_during_indexing_are_kept(unindexed):
    unindexed.articles.edit(1, MODERATOR, "python", "https://p.example/", moderator=True)
    unindexed.articles.restore(2, MODERATOR, "It was not")
    assert list(unindexed.search.index_all()) == [(3, 3)]
    assert sorted(ids(unindexed, "redis")) == [2, 3]
    assert problems(unindexed) == []


def test_one_script_indexes_at_most_the_allowed_number_of_words(monkeypatch):
    monkeypatch.setattr(index, "_WORDS_PER_SCRIPT", 10)
    sizes = {"1": 4, "2": 4, "3": 4, "4": 30, "5": 1, "6": 7}
    rows = [(article_id, " " + "word " * size) for article_id, size in sizes.items()]

    portions = [[article_id for article_id, _ in portion] for portion in index.by_words(rows)]

    assert portions == [["1", "2"], ["3"], ["4"], ["5", "6"]]


@pytest.mark.parametrize("state", ["0 all", "0 1"])
def test_words_of_another_version_are_rebuilt(repository, state):
    article = post(repository, "redis")
    keys = repository.store.shards.of(article)
    repository.store.client.hset(keys.article(article), "words", " older ")
    repository.store.client.sadd(keys.word("older"), article)
    repository.store.client.zadd(keys.lexicon, {"older": 0})
    repository.store.client.hset(names.SCHEMA, "indexed", state)

    assert not repository.search.get_page(read_query("redis")).complete
    repository.search.catch_up(60)

    assert ids(repository, "older") == []
    assert ids(repository, "redis") == [article]


@pytest.mark.parametrize("state", [f"{NEWER} all", f"{NEWER} 1"])
def test_an_older_version_does_not_rebuild_the_words_of_a_newer_one(repository, state):
    article = post(repository, "redis")
    keys, client = repository.store.shards.of(article), repository.store.client
    client.hset(keys.article(article), "words", " newer ")
    client.hset(names.SCHEMA, "indexed", state)

    assert repository.search.catch_up(60) == 0
    assert list(repository.search.index_all()) == []
    assert repository.search.reindex([article]) == 0
    repository.repair.run()

    assert client.hget(keys.article(article), "words") == " newer "
    assert client.hget(names.SCHEMA, "indexed") == state
    assert not repository.search.get_page(read_query("redis")).complete


def test_two_versions_side_by_side_build_the_words_once(repository, monkeypatch):
    client = repository.store.client
    for number in range(4):
        post(repository, f"redis {number}")
    client.hset(names.SCHEMA, "indexed", "0 all")
    monkeypatch.setattr(find, "ARTICLES_PER_READ", 1)
    older = repository.search.index_all()
    next(older)
    monkeypatch.setattr(find, "WORDS_VERSION", NEWER)  # another process is started meanwhile
    monkeypatch.setattr(find, "ALL_INDEXED", f"{NEWER} all")

    assert list(repository.search.index_all()) == [(done, 4) for done in range(1, 5)]
    monkeypatch.undo()

    assert list(older) == []
    assert repository.search.catch_up(60) == 0
    assert client.hget(names.SCHEMA, "indexed") == f"{NEWER} all"


def test_an_operator_can_return_to_the_words_of_an_older_version(repository):
    article = post(repository, "redis")
    client = repository.store.client
    client.hset(names.SCHEMA, "indexed", f"{NEWER} all")

    assert list(repository.search.index_all(restart=True)) == [(article, article)]

    assert client.hget(names.SCHEMA, "indexed") == ALL_INDEXED
    assert repository.search.get_page(read_query("redis")).complete


def test_indexing_skips_an_article_changed_meanwhile(repository):
    article = post(repository, "redis")
    keys = repository.store.shards.of(article)

    changed = repository.store.run(
        "search/index",
        [keys.lexicon],
        [keys.prefix, article, "what it was", "https://x.example/", "alice", " what "],
    )

    assert [int(number) for number in changed] == [article]
    assert ids(repository, "redis") == [article]
    assert problems(repository) == []


def test_an_article_changed_during_indexing_is_read_again(repository, monkeypatch):
    article = post(repository, "redis")
    original, key = repository.search._read, repository.store.shards.of(article).article(article)

    def read(ids):
        found = original(ids)
        repository.store.client.hset(key, "poster_name", "renamed")
        return found

    monkeypatch.setattr(repository.search, "_read", read)

    repository.search.reindex([article])

    assert ids(repository, "renamed") == [article]
    assert ids(repository, "alice") == []


def test_a_rebuilt_index_is_the_same(repository, clock):
    from tests.store_state import contents

    use(repository, clock)
    before = contents(repository)

    for _ in repository.search.index_all(restart=True):
        pass

    assert contents(repository) == before


def test_concurrent_changes_leave_the_index_intact(repository):
    articles = [post(repository, f"redis {number}") for number in range(6)]

    def change(number: int) -> None:
        chance = random.Random(number)
        for _ in range(25):
            article = chance.choice(articles)
            try:
                match chance.randrange(4):
                    case 0:
                        title = f"words {chance.randrange(5)} 数据{chance.randrange(5)}"
                        link = f"https://e{number}.example/{chance.random()}"
                        repository.articles.edit(article, MODERATOR, title, link, moderator=True)
                    case 1:
                        repository.articles.remove(article, MODERATOR, "x")
                    case 2:
                        repository.articles.restore(article, MODERATOR, "x")
                    case 3:
                        repository.search.reindex([article])
            except (ArticleRemoved, DuplicateLink, NotRemoved):
                pass

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(change, range(8)))

    assert problems(repository) == []


@pytest.mark.needs("databases")
def test_one_shard_and_four_find_the_same(server_url, store_paths):
    one = connect(server_url, clock=Clock())
    four = connect(store_paths.url(of_this_run.OTHER_DATABASE), shards=4, clock=Clock())
    four.store.client.flushdb()
    for repository in (one, four):
        repository.prepare()
        for number in range(80):
            title = f"redis {number % 7} {'vote' if number % 3 else 'voters'}"
            article = repository.articles.post(ALICE, "alice", title, f"https://e.example/{number}").id
            for voter in range(number * 7 % 5):
                repository.votes.cast(article, BOB + voter, Choice.VOTE)
    by_score = ids(one, "redis", Order.SCORE)
    assert by_score not in (sorted(by_score), sorted(by_score, reverse=True)), "the order is that of the votes"
    for text, order in product(("redis", "redis 3", "vot", "vote", "3", "example"), (Order.SCORE, Order.TIME)):
        for number in (1, 2):
            try:
                expected = ids(one, text, order, number)
            except PageNotFound:
                continue
            assert ids(four, text, order, number) == expected
