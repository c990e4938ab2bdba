"""Fixtures that all tests share: a real store, a clock, the cast, and repositories."""

import gc
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import hypothesis
import pytest
from django.apps import apps
from django.conf import settings
from django.core.cache import caches
from django.db.models.signals import post_migrate
from django.test import Client
from django.utils import translation
from pytest_django import DjangoDbBlocker, Settings

from accounts import member_ids
from accounts.models import User
from articles import site
from articles.configuration import choices
from articles.domain.articles import ArticleId
from articles.domain.limits import Rate
from articles.domain.rules import Rules
from articles.models import KnownStore
from articles.repository import Repository
from articles.web import ballots, extras, rights, wiring
from articles.web.groups import forget_liveliness
from articles.web.rules import acting
from moderation import subjects
from tests import naming
from tests.clock import DAY, Clock
from tests.factories import browser_of, member, reserve_ids
from tests.rules import RATES, connect, default_rules
from tests.store_state import REPOSITORY_DATABASE, client_of, set_clock
from tests.topologies import of_this_run
from tests.topologies.node import Node
from tests.topologies.of_this_run import Databases
from tests.waiting import fill_once
from voting_site.embedded import Supervisor

# A shell that starts the tests in the background lets them ignore Ctrl-C; the sites and commands that they start
# and interrupt would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

SEED = os.environ.get("FUZZ_SEED", "")
"""Seed of random examples and sequences; without one, they are the same in every run."""

# A busy machine must not make an example fail, and shrinking a failing one may take minutes.
hypothesis.settings.register_profile(
    "patient",
    deadline=None,
    derandomize=not SEED,
    database=None,
    phases=[one for one in hypothesis.Phase if one is not hypothesis.Phase.shrink],
    suppress_health_check=[hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.function_scoped_fixture],
)
hypothesis.settings.register_profile(
    "shrinking", hypothesis.settings.get_profile("patient"), phases=[*hypothesis.Phase]
)
hypothesis.settings.load_profile("patient")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--named", metavar="WORDS", help="as -k, but collects only files whose path or text has the words"
    )


@pytest.hookimpl(tryfirst=True)  # before Hypothesis reads it
def pytest_configure(config: pytest.Config) -> None:
    if SEED:
        config.option.hypothesis_seed = SEED
    if config.option.named:
        config.option.keyword = config.option.named


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files that cannot have the named tests: collecting all takes seconds in every process."""
    named, is_file = config.option.named, collection_path.suffix == ".py"
    return True if named and is_file and not naming.may_have(named, collection_path) else None


_ROOT = Path(__file__).parent

FEW_FILES = 12  # files whose tests one process runs sooner than several, each of which starts for some seconds


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    named = config.option.named
    files = [path for folder in config.getini("testpaths") for path in (_ROOT / folder).rglob("test_*.py")]
    return 0 if named and sum(naming.may_have(named, path) for path in files) <= FEW_FILES else None


START_PROCESSES = (
    "archive",
    "browser",
    "chaos",
    "commands",
    "deploy",
    "embedded",
    "extras",
    "fuzz",
    "site",
    "topologies",
)
"""Folders whose tests may start a store or a site by themselves."""

SITES = {"start", "start_on", "module_start", "filled_data", "public_site"}  # fixtures that start a whole site
_MAKEFILE = (_ROOT / "Makefile").read_text()
STARTING_SITES = re.findall("^STARTING_SITES = (.*)", _MAKEFILE, re.MULTILINE)[0].split()
"""Folders in which `make test-site` looks for tests."""

NODES = {"cluster_node", "cluster", "bare_cluster", "replicated", "replication", "mirrored"}
"""Fixtures that start several servers, or one of a cluster."""

STORES = {"store_paths", "server", "private"} | NODES  # fixtures that start a store


@pytest.hookimpl(tryfirst=True)  # before tests are selected by their marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests that attack, that start a whole site or several servers, and those that need no process as fast.

    A test marked as fast by mistake fails.
    """
    for item in items:
        top, *rest = item.path.relative_to(_ROOT).parts
        folder = rest[0] if top == "tests" else top
        fixtures = getattr(item, "fixturenames", ())
        if folder == "attacks":
            item.add_marker(pytest.mark.hostile)
        if not SITES.isdisjoint(fixtures):
            item.add_marker(pytest.mark.site)
        if any(item.iter_markers("site")):
            assert folder in ("browser", "extras", *STARTING_SITES), f"`make test-site` leaves out {folder}"
        if not NODES.isdisjoint(fixtures):
            item.add_marker(pytest.mark.nodes)
        starts_servers = any(item.iter_markers("nodes")) or any(item.iter_markers("topology"))
        if folder not in START_PROCESSES and STORES.isdisjoint(fixtures) and not starts_servers:
            item.add_marker(pytest.mark.fast)
    of_this_run.select(config, items)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Keep the garbage collector away from the collected tests and imported modules, which live until the end."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


def pytest_runtest_setup() -> None:
    """Forget the language of the page that a test before asked for."""
    translation.deactivate()


@pytest.fixture(autouse=True)
def _starts_no_store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail a fast test that starts a store."""
    if request.node.get_closest_marker("fast"):
        for starting in ((Supervisor, "begin"), (Node, "_start")):
            monkeypatch.setattr(*starting, lambda *_: pytest.fail("A fast test starts a store."))
        monkeypatch.setattr(settings, "STORE_OPENER", "contextlib.nullcontext")


@pytest.fixture(autouse=True)
def _account_ids_need_no_store(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let the accounts database alone give out ids in a test that has no store."""
    with pytest.MonkeyPatch.context() as own:  # a test may undo what `monkeypatch` did
        if STORES.isdisjoint(getattr(request, "fixturenames", ())):
            own.setattr(member_ids, "reserve", lambda _count=1: member_ids.highest() + 1)
            own.setattr(member_ids, "note", lambda _highest: None)
        yield


@pytest.fixture(autouse=True)
def _the_owner_has_chosen_nothing(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let settings be read in a test without a database."""
    has_database = {"db", "transactional_db"}.intersection(getattr(request, "fixturenames", ()))
    with pytest.MonkeyPatch.context() as own:
        if not has_database and not request.node.get_closest_marker("django_db"):
            no_rows = SimpleNamespace(objects=SimpleNamespace(values_list=lambda *_: ()))
            own.setattr(choices, "apps", SimpleNamespace(get_model=lambda *_: no_rows))
        yield


@pytest.fixture(scope="session", autouse=True)
def _known_choices() -> None:
    """Load the owner's choices once: a process that never could asks everyone for a login."""
    no_rows = SimpleNamespace(objects=SimpleNamespace(values_list=lambda *_: ()))
    with pytest.MonkeyPatch.context() as own:
        own.setattr(choices, "apps", SimpleNamespace(get_model=lambda *_: no_rows))
        choices.version()
    choices.forget()


@pytest.fixture(scope="session")
def store_paths(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Databases]:
    """Start the store of the whole test run where the settings expect it: usually the embedded server."""
    with of_this_run.started(tmp_path_factory.mktemp("topology")) as databases:
        yield databases


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def rules() -> Rules:
    return default_rules()


# The repository


@pytest.fixture
def server_url(store_paths: Databases) -> str:
    """The URL of an empty database on the real server."""
    url = store_paths.url(REPOSITORY_DATABASE)
    client_of(url).flushdb()
    return url


@pytest.fixture(params=of_this_run.SHARDS, ids=of_this_run.repository_id)
def repository(request: pytest.FixtureRequest, server_url: str, clock: Clock, rules: Rules) -> Repository:
    """An empty repository on the real server with four shards, with one if the test is marked; on a cluster 16."""
    empty = connect(client_of(server_url), shards=request.param, rules=rules, clock=clock)
    empty.upgrade()
    return empty


# The site in this process


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None) -> Iterator[None]:
    """Keep the accounts where this run has them."""
    with of_this_run.accounts_database():
        yield


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    with django_db_blocker.unblock():
        reserve_ids()
    post_migrate.connect(reserve_ids, sender=apps.get_app_config("accounts"))


@pytest.fixture
def new_site(store_paths: Databases, db: None) -> Iterator[Callable[[], Repository]]:
    """A function that empties the store of the site's own pages, and returns its repository."""
    client = client_of(settings.STORE_URL)

    def begin() -> Repository:
        client.flushdb()
        KnownStore.objects.all().delete()
        caches["default"].clear()
        _forget_repositories()
        with pytest.MonkeyPatch.context() as own:  # all tests use one server
            own.setattr(Repository, "check_server", lambda _: None)
            return wiring.repository()

    yield begin
    client.flushdb()  # it remembers accounts that are rolled back
    caches["default"].clear()
    _forget_repositories()


@pytest.fixture
def site_store(new_site: Callable[[], Repository]) -> Repository:
    """The repository of the site's own pages, on an empty store."""
    repository = new_site()
    site.site_text("")  # what an administrator wrote is read before the test, which may count queries
    site.find_block("")
    acting.check_name("")
    choices.version()
    return repository


@pytest.fixture
def later(site_store: Repository) -> Clock:
    """The clock of the site's pages and tasks, at the present."""
    clock = Clock(site_store.store.now())
    set_clock(site_store, clock)
    set_clock(wiring.patient_repository(), clock)
    return clock


@pytest.fixture
def time_of(site_store: Repository) -> Clock:
    """The clock of the site, which closes articles when a test says so."""
    now = Clock(site_store.store.now())
    set_clock(site_store, now)
    site_store.clock.accept()
    return now


@pytest.fixture
def let_pass(site_store: Repository, time_of: Clock) -> Callable[[float], int]:
    """A function that lets days pass, and makes the ballot records that are due then; it returns how many."""

    def days(number: float) -> int:
        time_of.advance(number * DAY)
        site_store.clock.accept()
        made = ballots.record_closed(site_store, 60)
        for step in extras.steps():
            step.work(site_store, 60)
        return made

    return days


@pytest.fixture
def close(let_pass: Callable[[float], int]) -> Callable[[], int]:
    """A function that lets voting on all articles end, and records it."""
    return lambda: let_pass(7.01)


def _forget_repositories() -> None:
    wiring.forget_repositories()
    site.forget_texts()
    site.forget_hosts()
    choices.forget()
    rights.forget_waiting()
    acting.forget()
    forget_liveliness()


@pytest.fixture
def alice(db: None) -> User:
    return member("alice")


@pytest.fixture
def bob(db: None) -> User:
    return member("bob")


@pytest.fixture
def carol(db: None) -> User:
    """A moderator."""
    return member("carol", moderator=True)


@pytest.fixture
def mallory(db: None) -> User:
    return member("mallory")


@pytest.fixture
def article(site_store: Repository, alice: User) -> ArticleId:
    """An article posted by alice in the group python."""
    site_store.groups.create("python", "Python")
    return site_store.articles.post(alice.pk, "alice", "A title", "https://example.org/a", ["python"]).id


@pytest.fixture
def limits(settings: Settings) -> Callable[..., None]:
    """Return what turns rate limits on, with these rates by name, None for no limit; a later call adds to them."""

    def limit(**changes: Rate | None) -> None:
        merged = {**(settings.LIMITS or RATES), **changes}
        settings.LIMITS = {name: rate for name, rate in merged.items() if rate}
        wiring.forget_repositories()

    return limit


@pytest.fixture
def limits_clock(site_store: Repository, limits: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Turn rate limits on. Their clock stands still, so that nothing is refilled unless a test advances it."""
    limits()
    clock = Clock(time.time())
    monkeypatch.setattr(wiring, "connect", partial(wiring.connect, clock=clock))
    wiring.forget_repositories()
    return clock


@pytest.fixture
def hurry(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Return what lets each long act of a moderator end after its first step, or take its time again."""
    return lambda ends: monkeypatch.setattr(subjects, "BUDGET_SECONDS", -1 if ends else 60)


@pytest.fixture
def strict() -> Client:
    """A browser that enforces CSRF checks."""
    return browser_of(strict=True)


# Files


@pytest.fixture(scope="session")
def static_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Collect the static files, which takes some seconds."""
    return fill_once(tmp_path_factory, "gathered", _gather) / "static"


def _gather(data_dir: Path) -> None:
    of_this_test = dict(os.environ, DATA_DIR=str(data_dir), DJANGO_SETTINGS_MODULE="voting_site.settings")
    gather = "import django; django.setup(); from voting_site.serving import static_files; static_files.gather()"
    subprocess.run([sys.executable, "-c", gather], cwd=settings.BASE_DIR, env=of_this_test, check=True)


@pytest.fixture
def shared_dir() -> Path:
    """The folder of real data and edge cases; skip the test where it is absent."""
    folder = Path(settings.SHARED_DIR)
    if not folder.is_dir():
        pytest.skip("the shared data folder is not here; set SHARED_DIR to it")
    return folder
