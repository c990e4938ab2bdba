"""Several web nodes on one store and one accounts database, of one version and of two."""

import re
import shutil
from itertools import cycle

import pytest

from articles.domain.articles import Choice
from articles.domain.lists import Order
from articles.repository import Repository
from tests.form_browser import FormBrowser
from tests.rules import connect
from tests.site.own_store import OwnStore
from tests.site_process import DEADLINE, Site
from tests.store_state import abandon_lease, get_notes
from tests.topologies.cluster import Cluster
from tests.waiting import until

pytestmark = pytest.mark.site

VOTERS, ARTICLES = 6, 4


@pytest.fixture
def nodes(tmp_path, static_files):
    """A function that starts a web node on the store and the accounts of this test."""
    folder = tmp_path / "store"
    folder.mkdir()
    store, started = OwnStore(folder), []
    shared = {
        "REDIS_URL": store.url,
        "DATABASE_URL": f"sqlite:///{tmp_path}/accounts.sqlite3",
        "SECRET_KEY": "the nodes share the key that signs sessions " * 2,
        "LIMITS": "off",
        "WEB_WORKERS": "1",
    }

    def start(name: str, **own: str) -> Site:
        if not (tmp_path / name).exists():
            shutil.copytree(static_files, tmp_path / name / "static")
        site = Site(tmp_path / name, **shared | own)
        started.append(site)
        site.wait_until_up()
        return site

    yield start
    for site in started:
        if site.process.poll() is None:
            site.process.kill()
            site.process.wait()
    store.stop()


@pytest.fixture
def bare_cluster(tmp_path):
    with Cluster(tmp_path / "cluster", primaries=1, replicas_of_each=0) as cluster:
        yield cluster


def store_of(site: Site) -> Repository:
    return connect(site.environment["REDIS_URL"])


def members(sites, count: int) -> list[FormBrowser]:
    """Sign up members, each at another node."""
    browsers = []
    for number, site in zip(range(count), cycle(sites), strict=False):
        browsers.append(FormBrowser(site))
        assert f"member-{number}" in browsers[-1].sign_up(f"member-{number}")
    return browsers


def post(browser: FormBrowser, number: int) -> None:
    browser.send("/post/", "/post/", title=f"Article {number}", link=f"https://example.org/{number}")


def vote(browser: FormBrowser, article: int, choice: Choice) -> None:
    browser.send(f"/articles/{article}/", f"/articles/{article}/vote/", choice=choice.value, next="/")


def counts(page: str, article: int) -> tuple[str, ...]:
    """Return votes, opposes and the reader's own choice, as a list shows them."""
    numbers = r'data-votes="(\d+)" data-opposes="(\d+)" data-choice="(\w+)"'
    row = re.search(f'data-votes-of="{article}" {numbers}', page)
    assert row, page
    return row.groups()


def check_everything(sites, expected: dict[int, tuple[int, int]]) -> None:
    """Compare the counts with those in the store and on every node, and run the audit."""
    listed = store_of(sites[0]).lists.get_page(Order.TIME, 1).articles
    assert {article.id: (article.votes, article.opposes) for article in listed} == expected
    for site in sites:
        reader = FormBrowser(site)
        for path in ("/", "/newest/"):
            assert set(map(int, re.findall(r'id="article-(\d+)"', reader.get(path)))) == set(expected), path
    audit = sites[-1].manage("audit")
    assert audit.returncode == 0, audit.stdout + audit.stderr


def act_on_both(first: Site, second: Site) -> dict[int, tuple[int, int]]:
    """Post and vote at both nodes in turns; return the votes and opposes that each article then has."""
    browsers = members((first, second), VOTERS)
    posts, voters, places = browsers[:ARTICLES], browsers, cycle((first, second))
    for number, browser in enumerate(posts):
        browser.visit(next(places))
        post(browser, number)
    articles = {article.title: article.id for article in store_of(first).lists.get_page(Order.TIME, 1).articles}
    choices = {}
    for number in range(ARTICLES):
        article = articles[f"Article {number}"]
        choices |= {(article, number): Choice.VOTE}  # the poster's own
        for voter, browser in enumerate(voters):
            for choice in (Choice.OPPOSE, list(Choice)[(number + voter) % 3]):
                browser.visit(next(places))
                vote(browser, article, choice)
                choices[article, voter] = choice
            next(places)
    return {
        article: tuple(
            sum(of == choice for (at, _), of in choices.items() if at == article)
            for choice in (Choice.VOTE, Choice.OPPOSE)
        )
        for article in articles.values()
    }


@pytest.mark.long
def test_two_nodes_count_what_members_do_in_turns(nodes):
    first, second = nodes("first"), nodes("second")

    expected = act_on_both(first, second)

    check_everything((first, second), expected)
    assert [first.stop(), second.stop()] == [0, 0]
    assert "Traceback" not in first.told() + second.told()


def test_what_a_member_does_on_one_node_is_seen_on_the_other(nodes):
    first, second = nodes("first"), nodes("second", TICK_SECONDS="600")
    alice, bob = members((first, second), 2)
    post(alice, 1)
    (article,) = (one.id for one in store_of(first).lists.get_page(Order.TIME, 1).articles)
    until(lambda: f'id="article-{article}"' in FormBrowser(second).get("/"), DEADLINE)

    bob.visit(first)
    vote(bob, article, Choice.OPPOSE)
    bob.visit(second)

    assert counts(bob.get("/"), article) == ("1", "1", "oppose"), "at once"
    until(lambda: counts(FormBrowser(second).get("/"), article) == ("1", "1", "none"), DEADLINE)
    check_everything((first, second), {article: (1, 1)})


@pytest.mark.long
def test_another_node_takes_over_housekeeping_when_its_holder_dies(nodes):
    first = nodes("first", TICK_SECONDS="10")
    store = store_of(first)
    until(lambda: "expire" in get_notes(store), DEADLINE)
    second = nodes("second", TICK_SECONDS="10")

    first.process.kill()
    first.process.wait()
    abandon_lease(store, 3)
    before = get_notes(store)["expire"]["at"]

    until(lambda: get_notes(store)["expire"]["at"] > before, DEADLINE, second.told)
    assert second.stop() == 0


def test_on_a_cluster_without_a_cache_a_logout_at_one_node_ends_the_session_at_all(nodes, bare_cluster):
    store = {"REDIS_URL": bare_cluster.url, "STORE_SHARDS": "16"}
    first, second = nodes("one", **store), nodes("two", **store)
    assert "Note: There is no cache, since the store is a cluster" in first.told()
    browser, thief = FormBrowser(first), FormBrowser(second)
    browser.sign_up("alma")
    for cookie in browser.cookies:
        thief.cookies.set_cookie(cookie)
    assert 'class="me"' in thief.get("/")

    browser.send("/settings/", "/logout/")

    assert 'class="me"' not in thief.get("/")


def found(site: Site, query: str) -> set[str]:
    return set(re.findall(r'data-article="\d+"[^>]*>(.*?)</a>', FormBrowser(site).get(f"/search/?q={query}")))


@pytest.mark.long
def test_a_node_that_dies_while_it_writes_its_index_finds_everything_later(nodes):
    first, number = nodes("first"), 0
    (alice,) = members((first,), 1)
    for _ in range(3):
        for number in range(number + 1, number + 6):  # noqa: B020 - goes on
            post(alice, number)
        first.process.kill()
        first.process.wait()
        first = nodes("first")
        alice.visit(first)

    until(lambda: len(found(first, "article")) == number, DEADLINE, first.told)
