"""The Lua scripts: their headers, what they include and call, and that each stays within its shard."""

import re
from collections.abc import Iterator
from contextlib import closing
from itertools import product
from pathlib import Path

import pytest
import redis
from hypothesis import given, settings, strategies as st

from articles.domain import ranking
from articles.domain.articles import LATEST, Choice
from articles.domain.comments import lower_bound
from articles.domain.errors import EditingClosed, VotingClosed
from articles.domain.lists import Order
from articles.domain.members import PLACEHOLDERS
from articles.domain.moderation_log import Actor
from articles.domain.ranking import Parameters
from articles.repository.store import schema, scripts
from articles.repository.store.connection import Store
from tests.cases import for_each
from tests.cast import ALICE, BOB
from tests.clock import DAY, Clock
from tests.factories import link, post
from tests.lua_files import (
    BUILT_IN,
    FOLDERS,
    LIBRARIES,
    body_of,
    declared,
    exported,
    header_of,
    reachable,
    used,
)
from tests.repository.everything import use_all
from tests.repository.usage import note_ballots
from tests.rules import connect, default_rules
from tests.store_state import REPOSITORY_DATABASE, new_client, problems
from tests.topologies.node import Node
from tests.waiting import until
from voting_site.embedded.binary import find_binary

pytestmark = pytest.mark.one_shard

PYTHON = Path(scripts.__file__).parents[2]
ALL = (*LIBRARIES, *scripts.names())
LIMIT = 40  # lines of code; the audits and the repairs check up to seven things at once, a view has
# five ways to end, a search three ways to find, a place three ways to be found, an imported comment six to end
LONGER = {
    "audit/articles", "audit/comments", "audit/flags", "imports/enter_comments", "ranking/find_places",
    "lists/read_unseen", "repair/articles", "repair/comments", "repair/flags", "readership/record_view",
}  # fmt: skip

NEWER = re.compile(
    r"'(?:LMPOP|BLMPOP|ZMPOP|BZMPOP|SINTERCARD|ZINTERCARD|FUNCTION|FCALL|EXPIRETIME|PEXPIRETIME|LCS|HEXPIRE|HGETEX)'"
    r"|redis\.(?:register_function|setresp|acl_check_cmd|REDIS_VERSION)"
    r"|'EXPIRE',[^)]*,\s*'(?:NX|XX|GT|LT)'"
    r"|'SET',[^)]*'NX'[^)]*'GET'|'SET',[^)]*'GET'[^)]*'NX'"
    r"|^#!",
    re.IGNORECASE | re.MULTILINE,
)


of_scripts = for_each("name", scripts.names())
of_libraries = for_each("library", LIBRARIES)
of_parts = for_each("part", [*LIBRARIES, *scripts.names()])  # run a test on each script and each library


def test_the_package_contains_only_scripts_and_libraries():
    paths = ((folder, path) for folder in FOLDERS for path in folder.rglob("*") if path.is_file())
    files = {str(path.relative_to(folder)) for folder, path in paths}
    assert files == {f"{scripts.file_of(name)}.lua" for name in (*LIBRARIES, *scripts.names())}


@of_scripts
def test_a_script_header_states_arguments_result_cost_and_keys(name):
    assert scripts.text(name).startswith("--[[\n")
    header = header_of(name)

    positions = [header.find(f"\n{section}  ") for section in ("KEYS", "ARGV", "Returns", "Cost", "TOUCHES")]
    assert all(position > 0 for position in positions), f"a section is missing in {name}"
    assert positions == sorted(positions)
    assert re.search(r"\nCost  .*O\(", header)


@of_scripts
def test_a_script_names_every_key_and_argument_it_uses(name):
    header, body = header_of(name), scripts.text(name).partition("]]")[2]

    for table in ("KEYS", "ARGV"):
        section = re.search(rf"\n{table}  (.*?)\n(?=[A-Z])", header, re.DOTALL)
        assert section
        named = [int(number) for number in re.findall(r"(?:^|\s{2,})(\d+)(?=\s|…)", section[1])]
        assert named == list(range(1, len(named) + 1))
        used = {int(number) for number in re.findall(rf"{table}\[(\d+)\]", body)}
        assert used <= set(named)


@of_scripts
def test_a_script_is_short(name):
    assert name in LONGER or body_of(name).count("\n") <= LIMIT


@of_scripts
def test_a_script_uses_nothing_newer_than_redis_6_2(name):
    assert not NEWER.search(scripts.source(name))


@of_scripts
def test_a_script_uses_neither_the_servers_clock_nor_its_randomness(name):
    """But for the order of changes, which is the server's own."""
    of_changes = rf"(?ms)^local function ({'|'.join(exported('lib/changes'))})\(.*?^end$"
    source = re.sub(of_changes, "", scripts.source(name))

    assert not re.search(r"'TIME'|'RANDOMKEY'|'SRANDMEMBER'|'SPOP'|math\.random|os\.", source)


# Libraries


OWNER = {exported_name: library for library in LIBRARIES for exported_name in exported(library)}


@of_scripts
def test_a_source_begins_with_its_name_and_has_only_the_functions_of_libraries_that_it_calls(name):
    source, function = scripts.source(name), re.compile(r"(?m)^local function (\w+)")

    assert source.startswith(f"-- {name}\n")
    assert sorted(function.findall(source)) == sorted(function.findall(reachable(name)))
    assert sum(source.count(f"local {constant} =") for constant in scripts.CONSTANTS) <= len(
        set(re.findall(r"\b[A-Z]\w+\b", reachable(name))) & scripts.CONSTANTS.keys()
    )


@of_parts
def test_every_name_is_declared_generated_or_built_in(part):
    assert used(part) <= OWNER.keys() | scripts.CONSTANTS.keys() | BUILT_IN


@of_parts
def test_no_part_declares_a_name_of_a_library_or_a_constant(part):
    own = exported(part) if part in LIBRARIES else frozenset()

    assert declared(part) & (OWNER.keys() | scripts.CONSTANTS.keys()) <= own


def test_no_two_libraries_declare_the_same_name():
    assert len(OWNER) == sum(len(exported(library)) for library in LIBRARIES)


def test_every_function_in_a_library_is_used():
    calls = {name: len(re.findall(rf"\b{name}\b", "".join(map(body_of, LIBRARIES)))) for name in OWNER}
    outside = set().union(*map(used, scripts.names()))

    assert {name for name, count in calls.items() if count == 1 and name not in outside} == set()


@of_libraries
def test_a_library_states_its_purpose_and_is_short(library):
    assert scripts.text(library).startswith("--[[\n")
    assert header_of(library).strip().endswith(".")
    assert scripts.text(library).count("\n") < 150


@of_libraries
def test_a_library_compiles_with_what_it_needs(store_paths, library):
    assert new_client(store_paths.url(REPOSITORY_DATABASE)).script_load(scripts.source(library))


@of_parts
def test_a_part_defines_no_global(part):
    assert "function" not in re.findall(r"(\S+)\s+function \w+", re.sub(r"\blocal function", "", body_of(part)))
    assert not re.search(r"(?m)^\s*function \w", body_of(part))


# Numbers that Python and Lua share


SPELLED = {
    LATEST: "253_?402_?300_?800",
    ranking.ONE_POINT: r"4_?294_?967_?296|1 << 32|2 ?\*\* ?32",
    PLACEHOLDERS.stop: "2_?000_?000_?000",
}


@for_each("number", SPELLED)
def test_a_number_that_python_and_lua_share_is_written_once(number):
    texts = [path.read_text("utf-8") for path in PYTHON.rglob("*.py")]

    assert sum(len(re.findall(rf"\b(?:{SPELLED[number]})\b", text)) for text in texts) == 1
    assert not any(re.search(rf"\b(?:{number}|{number - 1})\b", body_of(part)) for part in ALL)


def test_a_large_number_in_lua_has_a_name():
    units = {"1000", "3600", "86400"}  # milliseconds; seconds in an hour and in a day
    for part in ALL:
        for line in body_of(part).splitlines():
            large = set(re.findall(r"(?<![\w.'])\d{4,}(?![\w.'])", line)) - units
            assert not large or re.match(r"local [A-Z]", line), f"{part}: {line}"


# On the server


@of_scripts
def test_every_script_compiles_on_the_server(store_paths, name):
    client = new_client(store_paths.url(REPOSITORY_DATABASE))

    assert client.script_load(scripts.source(name)) == scripts.digest(name)


# A real cluster node


@pytest.fixture(scope="module")
def cluster_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[redis.Redis]:
    """A real cluster node that serves every slot."""
    node = Node(tmp_path_factory.mktemp("cluster") / "node", find_binary(), settings={"cluster-enabled": "yes"})
    try:
        until(node.answers, told=node.log)
        node.run("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        until(lambda: "cluster_state:ok" in node.text("CLUSTER", "INFO"), told=node.log)
        with closing(new_client(f"redis://{node.address}")) as client:
            yield client
    finally:
        node.discard()


@pytest.fixture
def strict(cluster_node: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Prefix each script with `#!lua`, so that the node refuses keys of other slots; return the names that ran."""
    plain, ran = scripts.source, list[str]()

    def source(name: str) -> str:
        return f"#!lua\n{plain(name)}"

    def digest(name: str) -> str:
        ran.append(name)
        return cluster_node.script_load(source(name))

    cluster_node.flushall()
    monkeypatch.setattr(scripts, "source", source)
    monkeypatch.setattr(scripts, "digest", digest)
    # A cluster has no transactions across slots: only the reach of each script matters here.
    monkeypatch.setattr(Store, "run_together", Store.run_many)
    yield ran
    cluster_node.script_flush()


def test_every_script_stays_in_its_shard_on_a_cluster_node(cluster_node, strict):
    clock = Clock()
    repository = connect(cluster_node, shards=4, clock=clock, rules=default_rules(hot_size=3))
    schema.stamp(repository.store)
    post(repository, 100)
    clock.advance(1)
    use_all(repository, clock)
    repository.store.run("schema/raise_version", ["schema:"], [schema.LAYOUT_VERSION])
    closing = post(repository, 101)
    clock.advance(8 * DAY)
    assert closing in note_ballots(repository)

    assert problems(repository) == []
    assert set(strict) == set(scripts.names())


# The formula in Lua and in Python

EXACT = settings(max_examples=60)
moments = st.integers(1, 4_000_000_000_000).map(lambda milliseconds: milliseconds / 1000)
weights = st.integers(1, 86_400)


@EXACT
@given(moments, weights, st.lists(st.tuples(st.integers(2, 9), st.sampled_from(Choice)), max_size=4))
def test_the_score_in_the_store_equals_the_pure_function_exactly(store_paths, posted_at, votes_per_day, casts):
    check_score(new_client(store_paths.url(REPOSITORY_DATABASE)), posted_at, votes_per_day, casts)


def check_score(
    client: redis.Redis, posted_at: float, votes_per_day: int, casts: list[tuple[int, Choice]]
) -> None:
    client.flushdb()
    rules = default_rules(votes_per_day=votes_per_day)
    repository = connect(client, rules=rules, clock=Clock(posted_at))
    schema.stamp(repository.store)
    repository.groups.create("a", "A")
    article_id = post(repository, 1, ("a",))
    repository.lists.get_page(Order.SCORE, slug="a")
    for user, choice in casts:
        repository.votes.cast(article_id, user, choice)

    article = repository.articles.get(article_id)

    exact = ranking.score(posted_at, article.points, seconds_per_point=Parameters(votes_per_day).seconds_per_point)
    assert article.score == exact
    names = repository.store.shards.of(article_id)
    for name in (names.order(Order.SCORE), names.group_order(Order.SCORE, "a")):
        assert client.zscore(name, str(article_id)) == exact
    assert client.zscore(names.order(Order.TIME), str(article_id)) == article.posted_at == posted_at
    assert problems(repository) == []


LOWER_BOUNDS = """
local found, most = {}, tonumber(ARGV[1])
for count = 0, most * most - 1 do
  found[#found + 1] = string.format('%.17g', lower_bound(math.floor(count / most), count % most))
end
return table.concat(found, ' ')
"""


def test_the_lower_bound_in_the_store_equals_the_pure_function_exactly(store_paths):
    client = new_client(store_paths.url(REPOSITORY_DATABASE))
    formulas = scripts.CONSTANTS["QUANTILE"] + scripts.text("lib/formulas")

    bounds = client.eval(formulas + LOWER_BOUNDS, 0, 301).split(" ")

    counts = product(range(301), repeat=2)
    wrong = [
        pair for pair, bound in zip(counts, bounds, strict=True) if float(bound).hex() != lower_bound(*pair).hex()
    ]
    assert wrong == []


@EXACT
@given(moments, st.sampled_from([-1000, -1, 0, 1, 1000]))
def test_a_window_ends_at_the_same_millisecond_in_lua_and_in_python(store_paths, posted_at, late):
    client, clock = new_client(store_paths.url(REPOSITORY_DATABASE)), Clock(posted_at)
    client.flushdb()
    repository = connect(client, clock=clock)
    schema.stamp(repository.store)
    article_id = post(repository, 1)
    article = repository.articles.get(article_id)

    clock.now = round(article.closes_at + late / 1000, 3)
    if article.is_open(clock()):
        repository.votes.cast(article_id, BOB, Choice.VOTE)
    else:
        with pytest.raises(VotingClosed):
            repository.votes.cast(article_id, BOB, Choice.VOTE)

    poster = Actor(ALICE, "alice")
    clock.now = round(posted_at + repository.rules.edit_window + late / 1000, 3)
    if article.may_be_edited_by(ALICE, clock(), repository.rules.edit_window):
        repository.articles.edit(article_id, poster, "New", link(1), moderator=False)
    else:
        with pytest.raises(EditingClosed):
            repository.articles.edit(article_id, poster, "New", link(1), moderator=False)
