"""The key table and docs/data-model.md agree with a store in full use."""

import json
import re
import time
from collections import defaultdict
from pathlib import Path

import pytest

from articles.domain import extras
from articles.domain.articles import Choice, ImportedArticle
from articles.domain.comments import EDIT_SECONDS
from articles.domain.measurements import WebCounts
from articles.domain.moderation_log import OPERATOR
from articles.domain.ranking import Parameters
from articles.repository import Confirmation, Repository
from articles.repository.lists import hot
from articles.repository.ranking import parameters
from articles.repository.store import keys as key_names, scripts
from articles.repository.store.keys import TABLE, Key, Keys, recognise, split_prefix
from articles.repository.store.scan import survey
from articles.repository.store.schema import RESTORING
from bench import documentation
from tests.cases import for_each
from tests.cast import BOB, MALLORY, MODERATOR
from tests.clock import DAY, Clock
from tests.every_server import names_in
from tests.factories import comment_on, link, post, view
from tests.lua_files import section_of
from tests.repository.usage import note_ballots, read_all, use, use_up_limits, warm
from tests.rules import connect, default_rules
from tests.store_state import is_rewriting_file, problems
from tests.waiting import until

pytestmark = pytest.mark.one_shard

PAGE = (Path(__file__).parents[2] / "docs" / "data-model.md").read_text("utf-8")


OF_EXTRAS = [(extras.FOLDER / name / "README.md").read_text("utf-8") for name in extras.names()]


def table(heading: str, page: str = PAGE) -> list[dict[str, str]]:
    """Return the rows of the table under a heading, by column; [] without the heading."""
    section = re.search(rf"^##+ {re.escape(heading)}\n(.*?)(?=^##+ |\Z)", page, re.MULTILINE | re.DOTALL)
    lines = [line for line in section[1].splitlines() if line.startswith("|")] if section else []
    if not lines:
        return []
    header, _, *rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [dict(zip(header, row, strict=True)) for row in rows]


def documented_fields() -> dict[str, dict[str, bool]]:
    """Return, for each key, the fields of its hash and whether each is always present."""
    fields: dict[str, dict[str, bool]] = defaultdict(dict)
    for row in (row for page in (PAGE, *OF_EXTRAS) for row in table("Fields", page)):
        fields[row["Key"].strip("`")][row["Field"].strip("`")] = row["There"] == "always"
    return fields


FIELDS = documented_fields()
DESCRIBED = documentation.described("\n".join([PAGE, *OF_EXTRAS]))


def kind_of(name: str) -> Key:
    """Return the row of the key table that a name belongs to."""
    (kind,) = recognise([name])
    assert kind, name
    return kind


@pytest.fixture
def began() -> float:
    """The time at which the test began: the server's own clock keeps running while the store is used."""
    return time.monotonic()


@pytest.fixture
def used(began: float, repository: Repository, clock: Clock) -> Repository:
    """A store in which every feature has been used."""
    use(repository, clock)
    clock.advance(3 * DAY)
    post(repository, 50, ("redis", "python"))
    assert not repository.articles.post(9, "user9", "Again", link(50)).is_new
    for choice in (Choice.OPPOSE, Choice.NONE, Choice.VOTE):
        repository.votes.cast(13, 77, choice)
    repository.groups.create("群组", "群组")
    repository.groups.assign(13, ["群组"], ["redis"])
    read_all(repository, clock)
    clock.advance(91 * DAY)
    for article_id in (3, 13):
        view(repository, article_id, 1)
    away = repository.archive.get_counters([4, 9])
    assert repository.archive.store(away) == 2
    repository.archive.restore(9, next(kept for kept in away if kept.article_id == 9))
    for number in (51, 52, 53):
        clock.advance(60)
        view(repository, post(repository, number, ("python", "群组")), 1)
    repository.history.record()
    assert repository.measurements.record(lambda: WebCounts(1.0, 0, 0, 0, {"+Inf": 0}))
    repository.members.save(9, 13, wanted=True)
    late = comment_on(repository, 13, "Late")
    clock.advance(EDIT_SECONDS + 1)
    repository.comments.edit(late, BOB, "Later")
    repository.comments.remove(late, MODERATOR, "Spam")
    repository.comments.cast(comment_on(repository, 13, "Another", 9), 10, Choice.OPPOSE)
    post(repository, 54, poster=MALLORY)
    comment_on(repository, 13, "Buy", MALLORY)
    assert list(repository.sweeps.remove(MALLORY, clock() - 1, "5", MODERATOR, "Spam")) == [True, True]
    repository.comments.lock(13, MODERATOR, "Too heated")
    assert repository.account_deletion.advance(2, "user2", "", lambda: True) == ""
    note_ballots(repository)
    repository.note_remembered()
    repository.changes.get_copy()
    warm(repository, "python", "群组")
    assert problems(repository) == []
    return repository


@pytest.fixture
def names(used: Repository, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The keys of the used store during an import, housekeeping, and the application of another weight."""
    with used.imports.lock(), used.lease.acquire():
        used.imports.add([ImportedArticle("T", "https://a.example/", 5, "eve", used.store.now(), 2, 1)])
        used.store.client.set(key_names.HOT_LOCK, "somebody", ex=hot._LOCK_LIFE)
        used.store.client.set(key_names.BACK_LOCK, 1, ex=used.rules.hot_refresh)
        used.pageviews.get_salt(7)
        use_up_limits(used, clock, post(used, 60))
        until(lambda: not is_rewriting_file(used))  # the one that an earlier test began
        assert used.lease.rewrite_file()
        rules = default_rules(votes_per_day=None)
        left_alone = connect(used.store.client, shards=used.store.shards.count, rules=rules)
        assert left_alone.weights.adjust() is None
        version = used.parameters.get_state().version
        used.parameters.apply(Parameters(alpha=1.1), expected=version, actor=MODERATOR, reason="To see")
        warm(used, "python", "群组")
        monkeypatch.setattr(parameters, "ARTICLES_PER_STEP", 1)
        wanted = Parameters(votes_per_day=20)
        used.parameters.apply(
            wanted, expected=version + 1, actor=OPERATOR, reason="", is_chosen=False, learnt_from=40
        )
        assert used.parameters.get_state().applying
        used.account_ids.note(77)
        story, stay = post(used, 61), post(used, 62, poster=9)
        used.votes.cast(story, 10, Choice.VOTE)
        merging = used.merges.merge(story, stay, MODERATOR, "The same story")
        next(merging)
        confirming = connect(used.store.client, shards=used.store.shards.count, confirmation=Confirmation())
        for keys in used.store.shards.all:
            confirming.store.confirm(keys.ranking)
        used.store.client.hset(key_names.SCHEMA, RESTORING, "a backup")
        found = names_in(used.store.client)
        yield found


def test_every_key_of_a_used_store_is_in_the_table_and_in_its_shard(used, names):
    _, foreign = survey(used.store)

    assert foreign == []
    assert None not in set(recognise(names))


def test_every_key_of_the_table_is_in_a_used_store(used, names):
    assert set(TABLE) - {kind_of(name) for name in names} == set()


def test_a_name_matches_one_row_of_the_table(used, names):
    for name in names:
        _, rest = split_prefix(name)
        assert [key for key in TABLE if re.fullmatch(key.pattern, rest)] == [kind_of(name)], name
        assert kind_of(name).of(*kind_of(name).values(rest)) == rest


def test_every_key_has_the_type_in_the_table(used, names):
    for name in names:
        assert used.store.client.type(name) == kind_of(name).type, name


def test_no_key_outlives_its_lifetime_in_the_table(used, names):
    for name in names:
        left, life = used.store.client.ttl(name), kind_of(name).life
        if life is None:
            assert left == -1, name
        else:
            assert 0 < left <= life + 1, name


def test_a_new_key_gets_the_lifetime_in_the_table(began, used, names):
    lives: dict[str, int] = defaultdict(int)
    for name in names:
        key = kind_of(name).name
        lives[key] = max(lives[key], used.store.client.ttl(name))

    for key in TABLE:
        assert key.life is None or lives[key.name] >= 0.95 * key.life - (time.monotonic() - began), key.name


def test_hashes_have_the_documented_fields(used, names):
    seen: dict[str, set[str]] = defaultdict(set)
    for name in names:
        fields = FIELDS.get(key := kind_of(name).name)
        if fields:
            present = set(used.store.client.hkeys(name))
            assert {field for field, always in fields.items() if always} <= present <= fields.keys(), name
            seen[key] |= present

    assert seen == {key: set(fields) for key, fields in FIELDS.items()}


NAMES_OF_FIELDS = {
    "slug": r"[^:,\s]+",
    "slug of a former group": r"[^:,\s]+",
    "id of an article": "[1-9][0-9]*",
    "reason": "bot|prefetch|burst",
    "day:kind": "[0-9]+:(?:counted|visitors|bot|prefetch|burst)",
    "step of housekeeping": "[a-z-]+",
    "moment": "[0-9]+|counters",
    "member id": "[1-9][0-9]*|kept",
}


def test_fields_of_other_hashes_match_the_documented_content(used, names):
    for name in names:
        kind = kind_of(name)
        if kind.type == "hash" and kind.name not in FIELDS:
            field_kind, _, _ = DESCRIBED[kind.name][0].partition(" → ")
            form = NAMES_OF_FIELDS[field_kind]
            assert all(re.fullmatch(form, field) for field in used.store.client.hkeys(name))


@pytest.mark.parametrize("key", [Keys.log, Keys.tunings], ids=lambda key: key.name)
def test_entries_of_the_logs_have_the_documented_parts(used, names, key):
    parts = set(re.findall("`([a-z_]+)`", DESCRIBED[key.name][0]))
    entries = [json.loads(text) for name in names if kind_of(name) is key for text in logged(used, name)]

    assert entries
    assert all(parts - {"learnt_from"} <= set(entry) <= parts for entry in entries)


def logged(repository: Repository, name: str) -> list[str]:
    return repository.store.client.lrange(name, 0, -1)


def test_the_page_has_what_follows_from_the_key_table():
    assert documentation.data_model(PAGE) == PAGE, "run `make docs`"


@for_each("key", TABLE)
def test_the_page_says_what_a_key_holds_and_why(key):
    content, why, _ = DESCRIBED[key.name]

    assert not {content, why} & {"", "?"}


@for_each("name", scripts.names())
def test_a_header_lists_its_keys_in_the_order_of_the_table(name):
    documented = [key.name for key in TABLE]
    named = [part.rpartition(" ")[0] for part in section_of(name, "TOUCHES").split(", ")]
    places = [
        documented.index(re.sub("^<(order|votes)>:", "score:", key.replace(":<order>:", ":best:")))
        for key in named
    ]

    assert places == sorted(places)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("article:42", "article:<id>"), ("{s3}:article:42", "article:<id>"), ("article:", "article:"),
        ("score:", "score:"), ("score:42", "score:<slug>"), ("hot:score", "hot:score"),
        ("hot:score:群组", "hot:score:<slug>"), ("days:", "days:"), ("days:7", "days:<id>"),
        ("seen:7:0123456789abcdef", "seen:<id>:<visitor>"), ("burst:fedcba9876543210", "burst:<network>"),
        ("burst:7:fedcba9876543210", "burst:<id>:<network>"), ("hll:day:19000", "hll:day:<day>"),
        ("salt:19000", "salt:<day>"), ("{s3}:lock:hot", "lock:hot"), ("article:x", None),
        ("article:42\n", None), ("{x}:article:42", None), ("", None),
    ],
)  # fmt: skip
def test_a_key_has_exactly_one_kind(name, kind):
    (key,) = recognise([name])
    assert (key and key.name) == kind
