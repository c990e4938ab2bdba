"""Searching a store with an index that follows it: what is found, in which order, after every kind of change."""

import random
from contextlib import suppress
from itertools import count, product

import pytest

from articles.domain.articles import Choice
from articles.domain.errors import ActionRefused, GroupNotFound, PageNotFound, PageTooDeep
from articles.domain.lists import SearchOrder
from articles.repository import Repository, changes as changes_module
from articles.repository.finding import Index, IndexFolder, SearchIncompleteError, finder
from articles.text.searching import Hiding, read_query, tokens_of
from tests.cast import ALICE, BOB, MODERATOR
from tests.factories import comment_on, imported
from tests.rules import connect, default_rules
from tests.searches import Search
from tests.store_state import lose_changes
from tests.waiting import until

NUMBERS = count(1)


@pytest.fixture
def search(repository) -> Search:
    return Search(repository)


def post(repository: Repository, title: str, *groups: str, link: str = "", poster: str = "alice") -> int:
    link = link or f"https://site.example/{next(NUMBERS)}"
    return repository.articles.post(ALICE, poster, title, link, groups).id


def test_articles_are_found_by_title_host_poster_and_group(search, repository):
    repository.groups.create("databases", "Data stores")
    title = post(repository, "Voting in Redis")
    host = post(repository, "A", link="https://redis.io/a")
    poster = post(repository, "B", poster="redis-fan")
    group = post(repository, "C", "databases")

    assert set(search("redis")) == {title, host, poster}
    assert search("redis.io") == [host]
    assert search("databases") == search("stores") == search("datab") == [group]
    assert search("redis vot") == search("voted redi") == [title]
    assert search("redis nothing") == search("") == search("?!") == []


def test_the_language_of_code_is_not_among_the_words_of_a_text(search, repository):
    article = post(repository, "redis")
    repository.comments.post(
        article, BOB, "bob", "> ```python\n> unquoted = 1\n\n~~~ lua\nredis.call()\n~~~\nthen"
    )

    assert search.comments("python") == search.comments("lua") == []
    assert search.comments("unquoted redis.call")


def test_results_are_listed_newest_or_best_first(search, repository, clock):
    old = post(repository, "redis one")
    clock.advance(60)
    new = post(repository, "redis two")
    for user in (BOB, 77):
        repository.votes.cast(old, user, Choice.VOTE)

    assert search("redis", SearchOrder.TIME) == [new, old]
    assert search("redis", SearchOrder.SCORE) == [old, new]


def test_a_search_can_be_limited_to_a_group_and_excludes_hidden_groups(search, repository):
    here, there = post(repository, "redis one", "python"), post(repository, "redis two", "java", "ruby")

    assert search("redis", slug="python") == [here]
    assert search("redis", hidden=Hiding(("java",))) == [here]
    assert search("redis", hidden=Hiding(("ruby", "python"))) == []
    assert search("redis", slug="java", hidden=Hiding(("java",))) == [there]
    assert search.page("redis", slug="python").titles["python"] == "python"
    with pytest.raises(GroupNotFound):
        search.page("redis", slug="unknown")


def test_a_merged_group_names_its_target_and_its_articles_are_found_there(search, repository):
    article = post(repository, "T", "java")
    repository.groups.create("python", "Python")
    repository.groups.merge("java", "python", MODERATOR)

    assert search("python") == [article]
    assert search("java") == []
    with pytest.raises(GroupNotFound) as refused:
        search.page("t", slug="java")
    assert refused.value.moved_to == "python"


def test_nothing_is_shown_as_it_was_before_the_index_follows(search, repository):
    removed, edited, regrouped, kept = (post(repository, f"redis {n}", "python") for n in range(4))
    comment = comment_on(repository, kept, "redis in a comment")
    assert {*search("redis")} == {removed, edited, regrouped, kept}
    assert search.comments("redis") == [comment]
    repository.articles.remove(removed, MODERATOR, "Spam")
    repository.articles.edit(edited, MODERATOR, "Nothing", "https://a.example/", moderator=True)
    repository.groups.assign(regrouped, ["ruby"], ["python"], actor=MODERATOR)
    repository.comments.edit(comment, BOB, "Nothing")

    found = search.finder.get_page(repository, read_query("redis"), slug="python").articles
    comments = search.finder.get_comments(repository, read_query("redis")).comments

    assert ([one.id for one in found], comments) == ([kept], ())


def test_pages_follow_one_another(search, repository, clock):
    posted = []
    for number in range(60):
        clock.advance(1)
        posted.append(post(repository, f"redis {number}"))
    pages = [search.page("redis", SearchOrder.TIME, number) for number in (1, 2, 3)]

    assert [a.id for page in pages for a in page.articles] == posted[::-1]
    assert [page.has_next for page in pages] == [True, True, False]
    assert [page.first_rank for page in pages] == [1, 26, 51]
    assert {page.total for page in pages} == {60}
    for number in (0, 4, 41):
        with pytest.raises(PageNotFound):
            search.page("redis", SearchOrder.TIME, number)


def test_paging_ends_at_the_number_of_articles_searched(search, repository, clock, monkeypatch):
    monkeypatch.setattr(finder, "MOST_FOUND", 50)
    repository.imports.add([imported(number, clock() - number) for number in range(60)])

    last = search.page("import", number=2)

    assert (len(last.articles), last.has_next, last.total) == (25, False, 60)
    assert search.page("import").has_next
    with pytest.raises(PageTooDeep):
        search.page("import", number=3)


# Comments


def test_comments_are_found_by_their_words_newest_first(search, repository, clock):
    article = post(repository, "One")
    english = comment_on(repository, article, "Voting with https://www.redis.io/docs is *fast*")
    clock.advance(60)
    chinese = comment_on(repository, post(repository, "Two"), "分布式数据库，还有 Redis")

    assert search.comments("redis") == [chinese, english]
    assert search.comments("votes redis.io") == search.comments("fas") == [english]
    assert search.comments("https://www.redis.io/docs") == [english]
    assert search.comments("数据库") == search.comments("库") == [chinese]
    assert search.comments("author:bob -fast") == [chinese]
    assert search.comments("redis nothing") == search.comments("") == []


def test_what_is_found_follows_every_change_of_a_comment(search, repository):
    article = post(repository, "One")
    first = comment_on(repository, article, "First words")
    comment_on(repository, article, "A reply", ALICE, first)

    repository.comments.edit(first, BOB, "Second words")
    assert (search.comments("first"), search.comments("second")) == ([], [first])
    repository.comments.remove(first, MODERATOR, "Spam")
    assert search.comments("second") == []
    repository.comments.restore(first, MODERATOR, "No spam")
    assert search.comments("second") == [first]
    repository.comments.delete(first, BOB)
    assert search.comments("second") == []


def test_comments_on_removed_articles_and_in_hidden_groups_are_not_found(search, repository, clock):
    here, there = post(repository, "One", "python"), post(repository, "Two", "ruby", "java")
    first = comment_on(repository, here, "Same words")
    clock.advance(1)
    second = comment_on(repository, there, "Same words")

    assert search.comments("same", slug="python") == search.comments("same", hidden=Hiding(("java",))) == [first]
    repository.articles.remove(here, MODERATOR, "Spam")
    assert search.comments("same") == [second]
    repository.articles.restore(here, MODERATOR, "No spam")
    assert search.comments("same") == [second, first]
    repository.groups.assign(here, ["java"], ["python"], actor=MODERATOR)
    assert search.comments("same", slug="java") == [second, first]
    with pytest.raises(GroupNotFound):
        search.comments("same", slug="nothing")


# The index follows the store

WORDS = ("redis", "redit", "python", "数据", "数库", "vote", "voting", "news")


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(2))
def test_a_search_finds_what_a_scan_of_every_article_finds(search, repository, clock, seed):
    chance, articles, comments = random.Random(seed), list[int](), list[int]()

    def some(ids):
        return chance.choice(ids)

    def change():
        title, groups = " ".join(chance.choices(WORDS, k=3)), chance.choice(((), ("python",), ("python", "ruby")))
        if len(articles) < 5 or chance.random() < 0.3:
            articles.append(post(repository, title, *groups))
            return
        acts = (
            lambda: repository.articles.edit(
                some(articles), MODERATOR, title, f"https://x.example/{next(NUMBERS)}", moderator=True
            ),
            lambda: repository.articles.remove(some(articles), MODERATOR, "Spam"),
            lambda: repository.articles.restore(some(articles), MODERATOR, "No spam"),
            lambda: repository.groups.assign(some(articles), ["ruby"], ["python"], actor=MODERATOR),
            lambda: repository.votes.cast(some(articles), chance.randint(50, 60), Choice.VOTE),
            lambda: comments.append(comment_on(repository, some(articles), title)),
            lambda: comments and repository.comments.remove(some(comments), MODERATOR, "Spam"),
            search.follower.close if chance.random() < 0.5 else repository.changes.begin_copy,
        )
        with suppress(ActionRefused):
            some(acts)()

    for _ in range(120):
        clock.advance(chance.choice((0, 1)))
        change()
        if chance.random() < 0.3:
            check(search, articles, comments, some(WORDS))


def check(search, articles, comments, word):
    wanted = {*tokens_of(word)}
    titles = [one for one in search.repository.articles.get_many(articles) if one.removed is None]
    titles = [one for one in titles if wanted <= {*tokens_of(one.title)}]
    titles.sort(key=lambda one: (int(one.posted_at * 1000), one.id), reverse=True)
    listed = {one.id for one in search.repository.articles.get_many(articles) if one.removed is None}
    read = search.repository.changes.read_comments(comments)
    assert search(f'in:title "{word}"')[:25] == [one.id for one in titles][:25]
    found = {one.id for one in read if one.article in listed and wanted <= {*tokens_of(one.text)}}
    assert {*search.comments(f'"{word}"')} == found or len(found) > 25


def test_a_deleted_members_name_finds_nothing(search, repository):
    article = post(repository, "redis")
    comment = comment_on(repository, article, "redis", ALICE)
    found = (search("author:alice"), search("alice"), search.comments("author:alice"))
    assert found == ([article], [article], [comment])

    repository.account_deletion.advance(ALICE, "alice", "", lambda: True)

    assert (search("author:alice"), search("alice"), search.comments("author:alice")) == ([], [], [])
    assert (search("redis"), search.comments("redis")) == ([article], [comment])


def test_an_index_that_missed_changes_is_built_again(search, repository, monkeypatch):
    first = post(repository, "redis")
    assert search("redis") == [first]
    monkeypatch.setattr(changes_module, "CHANGES_KEPT", 1)
    monkeypatch.setattr(changes_module, "OVERLAP", 0.0)
    others = {post(repository, "redis") for _ in range(3)}
    for keys in repository.store.shards.all:
        repository.store.client.zremrangebyrank(keys.changes, 0, -2)

    assert {*search("redis")} == {first, *others}


def test_an_interrupted_build_continues_and_says_that_it_is_incomplete(search, repository, monkeypatch):
    posted = {post(repository, "redis") for _ in range(4)}
    monkeypatch.setattr("articles.repository.finding.follower._PER_READ", 2)
    stops = iter((False, True))

    search.follower.catch_up(lambda: next(stops))
    page = search.finder.get_page(repository, read_query("redis"))

    assert (len(page.articles), page.complete, search.finder.percent_built(repository)) == (2, False, 50)
    with pytest.raises(SearchIncompleteError):
        search.finder.list_newest(repository, read_query("redis"), 9)
    assert {*search("redis")} == posted
    assert search.page("redis").complete


def test_a_change_of_the_weight_orders_the_index_anew(search, repository, clock):
    old = post(repository, "redis old")
    clock.advance(500)
    new = post(repository, "redis new")
    repository.votes.cast(old, BOB, Choice.VOTE)
    assert search("redis", SearchOrder.SCORE) == [new, old]

    connected = connect(
        repository.store.client,
        shards=repository.store.shards.count,
        rules=default_rules(votes_per_day=10),
        clock=clock,
    )
    connected.adopt_rules()

    assert search("redis", SearchOrder.SCORE) == [old, new]


def test_what_the_index_has_not_reached_is_told_and_only_what_it_has_missed_is_listed(search, repository):
    kept, edited = post(repository, "kept"), post(repository, "edited")
    search("kept")
    repository.articles.edit(edited, MODERATOR, "Other", "https://a.example/", moderator=True)
    new = post(repository, "new")

    assert search.finder.list_outdated(repository, [kept, edited, new]) == []
    assert search.finder.tell_progress(repository) == "The search index is behind: 2 articles to enter."
    lose_changes(repository)
    assert search.finder.list_outdated(repository, [kept, edited, new]) == [edited, new]
    assert search.finder.tell_progress(repository) == ""


@pytest.mark.parametrize("another", [False, True])
def test_an_index_is_built_again_after_a_week_and_of_another_copy(search, repository, monkeypatch, another):
    post(repository, "redis")
    assert len(search("redis")) == 1
    before = search.follower._state.begun_at
    if another:
        repository.changes.begin_copy()
    else:
        monkeypatch.setattr("articles.repository.finding.follower._OLDEST", -1.0)

    assert len(search("redis")) == 1
    assert search.follower._state.begun_at > before


def test_to_see_that_nothing_has_changed_takes_one_round_trip(search, repository, wire):
    post(repository, "redis")
    search.follower.catch_up()
    search.follower.catch_up()  # what was entered last is read again, once

    with wire.counted():
        search.follower.catch_up()

    assert wire.trips == 1


class Scored:
    """An index whose searches leave the scores by which they order in `scores`."""

    def __init__(self) -> None:
        self._index, self.scores = Index(), list[float]()

    def __getattr__(self, name):
        return getattr(self._index, name)

    def opened(self):
        return self

    def searcher(self):
        return _Searcher(self._index.opened().searcher(), self)


class _Searcher:
    def __init__(self, searcher, index) -> None:
        self._searcher, self._index = searcher, index

    def __getattr__(self, name):
        return getattr(self._searcher, name)

    def search(self, *arguments, **options):
        result = self._searcher.search(*arguments, **options)
        if "weight_by_field" in options:
            self._index.scores[:] = [score for score, _ in result.hits]
        return result


QUERIES = (
    "redis", "voted", "vote", "votes", "red", "r", "数据库", "据库 r", '"in a row"', "words in a r", "alice",
    "site.example", "databases", "store redi", "redis OR valkey", "author:alice", "group:databases redis",
    "points:>0 redis", "-valkey redis", "in:text redis", "in:title vote", "stores alice site",
)  # fmt: skip


def test_the_relevance_shown_is_the_score_by_which_results_are_ordered(repository, clock):
    repository.groups.create("databases", "Data stores")
    for number, title in enumerate(
        (
            "Voting in Redis", "数据库 and Redis", "Words in a row",
            "Redis redis valkey", "Vote for votes in a database",
        )
    ):  # fmt: skip
        clock.advance(200 * 86400)
        groups = ("databases",) if number % 2 else ()
        article = post(repository, title, *groups, poster="alice" if number % 3 else "redis-fan")
        for user in range(number):
            repository.votes.cast(article, 70 + user, Choice.VOTE)
    text = "Voting, and redis in a row of words. " * 3
    repository.articles.post(ALICE, "alice", "A text", "", (), text=text)
    index = Scored()
    search = Search(repository, index)
    ways = set()

    for query in QUERIES:
        page, scores = search.page(query, SearchOrder.RELEVANCE), [*index.scores]
        assert page.articles, query
        for article, score in zip(page.articles, scores, strict=True):
            found = search.finder.explain(repository, read_query(query), article)
            assert found.value == pytest.approx(score, rel=1e-5), query
            assert sum(match.value for match in found.matches) == pytest.approx(found.matched, rel=1e-5), query
            ways |= {(match.where, match.how) for match in found.matches}

    assert ways >= {*product(("title", "text"), ("exact", "form", "beginning")), ("names", "beginning")}
    assert ways >= {("names", "exact"), ("group", "exact"), ("filter", "exact")}


def test_why_an_article_is_not_found_is_said(search, repository):
    article, listed = post(repository, "redis"), repository.articles.get

    def explained(text):
        return search.finder.explain(repository, read_query(text), listed(article))

    assert explained("redis") == "building"
    search("redis")
    assert explained("redis").points == 1
    assert explained("valkey") == explained("redis -redis") == explained("?!") == "no-match"
    repository.articles.edit(article, MODERATOR, "valkey", "https://a.example/", moderator=True)
    assert explained("redis") == explained("valkey") == "behind"
    search("redis")
    assert explained("redis") == "no-match"
    assert [match.term for match in explained("valkey ").matches] == ["valkey"]


def test_a_damaged_index_or_one_of_another_format_is_built_again(repository, tmp_path, monkeypatch):
    article, folder = post(repository, "redis"), IndexFolder(tmp_path)
    searching = Search(repository, folder)
    until(lambda: searching("redis") == [article], 10)
    for damage in (b"", b"{}", None):
        searching.follower.close()
        (meta,) = tmp_path.glob("*/meta.json")
        if damage is None:
            monkeypatch.setattr("articles.repository.finding.index.FORMAT", "other")
        else:
            meta.write_bytes(damage)

        assert searching("redis") == [article], damage
        assert [*tmp_path.glob("*/meta.json")] != [meta], "the former one is deleted"
    searching.follower.close()


def test_comments_follow_groups_that_change_twice_at_once(repository, tmp_path):
    article = post(repository, "redis", "python")
    comment, searching = comment_on(repository, article, "redis"), Search(repository, IndexFolder(tmp_path))
    until(lambda: searching.comments("redis", slug="python") == [comment], 10)

    repository.groups.assign(article, ["ruby"], ["python"], actor=MODERATOR)
    searching.follower.catch_up()
    repository.groups.assign(article, ["python"], ["ruby"], actor=MODERATOR)
    searching.follower.catch_up()

    until(lambda: searching.comments("redis", slug="python") == [comment], 10)
    until(lambda: searching.comments("redis", slug="ruby") == [], 10)
    searching.follower.close()
