"""docs/data-model.md against a store in full use, both ways."""

import json
import re
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import pytest

from articles.domain.articles import Choice, ImportedArticle
from articles.domain.moderation import OPERATOR
from articles.domain.ranking import Parameters
from articles.domain.rules import Rules
from articles.repository import Repository, connect
from articles.repository.lists import hot
from articles.repository.ranking import parameters
from articles.repository.store import keys as key_names
from articles.repository.store import scripts
from tests.clock import Clock
from tests.repository.lua_files import touches
from tests.repository.usage import DAY, MODERATOR, link, post, problems, read_all, use, view, warm

PAGE = (Path(__file__).parents[2] / "docs" / "data-model.md").read_text("utf-8")

SECTIONS = {
    "Keys in every shard": "shard",
    "Keys of the first shard only": "first",
    "Keys outside the shards": "none",
}
VARIABLES = {
    "<id>": "[1-9][0-9]*",
    "<user>": "[1-9][0-9]*",
    "<slug>": r"[^:,\s]+",
    "<word>": r"[^:,\s]+",
    "<digest>": "[0-9a-f]{32}",
    "<visitor>": "[0-9a-f]{16}",
    "<network>": "[0-9a-f]{16}",
    "<day>": "[0-9]+",
    "<span>": "(?:day|week|month)",
}
SECONDS = {"s": 1, "minutes": 60, "h": 3600, "days": 86400}


@dataclass(frozen=True)
class Row:
    """A documented key. `life` in seconds, None for good."""

    key: str
    place: str
    type: str
    content: str
    writers: str
    life: int | None
    fields: frozenset[str]
    required: frozenset[str]

    def holds(self, place: str, name: str) -> bool:
        pattern = re.escape(self.key)
        for variable, form in VARIABLES.items():
            pattern = pattern.replace(re.escape(variable), form)
        return place in PLACES[self.place] and re.fullmatch(pattern, name) is not None


PLACES = {"shard": {"shard", "first"}, "first": {"first"}, "none": {"none"}}


def table(heading: str) -> list[dict[str, str]]:
    """The rows of the table under a heading, by column."""
    section = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert section, heading
    lines = [line for line in section[1].splitlines() if line.startswith("|")]
    header, _, *rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [dict(zip(header, row, strict=True)) for row in rows]


def life(text: str) -> int | None:
    if text == "for good":
        return None
    number, unit = text.split()
    return int(number) * SECONDS[unit]


def documented() -> list[Row]:
    fields: dict[str, dict[str, bool]] = defaultdict(dict)
    for row in table("Fields"):
        fields[row["Key"].strip("`")][row["Field"].strip("`")] = row["There"] == "always"
    rows = []
    for heading, place in SECTIONS.items():
        for row in table(heading):
            key = row["Key"].strip("`")
            own = fields.pop(key, {})
            rows.append(
                Row(
                    key=key,
                    place=place,
                    type=row["Type"],
                    content=row["Content"],
                    writers=row["Written by"],
                    life=life(row["Lives"]),
                    fields=frozenset(own),
                    required=frozenset(name for name, always in own.items() if always),
                )
            )
    assert not fields, f"fields of undocumented keys: {sorted(fields)}"
    return rows


ROWS = documented()


def split_name(repository: Repository, name: str) -> tuple[str, str]:
    """Where a key stands, and its name there."""
    for at, keys in enumerate(repository.store.shards.all):
        if keys.prefix and name.startswith(keys.prefix):
            return "first" if at == 0 else "shard", name.removeprefix(keys.prefix)
    return "none", name


def rows_of(repository: Repository, name: str) -> list[Row]:
    place, rest = split_name(repository, name)
    places = {"first", "none"} if repository.store.shards.count == 1 else {place}
    return [row for row in ROWS if any(row.holds(one, rest) for one in places)]


@pytest.fixture
def began() -> float:
    """When the test began: the server's own clock goes on while the store is used."""
    return time.monotonic()


@pytest.fixture
def used(began: float, repository: Repository, clock: Clock) -> Repository:
    """A store in which everything was done."""
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
    repository.members.save(9, 13, wanted=True)
    assert repository.account_deletion.advance(2, "user2", "", lambda: True) == ""
    warm(repository, "python", "群组")
    assert problems(repository) == []
    return repository


@pytest.fixture
def names(used: Repository, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Its keys in the middle of an import, of housekeeping, and of applying another weight."""
    with used.imports.lock(), used.lease.acquire():
        used.imports.add([ImportedArticle("T", "https://a.example/", 5, "eve", used.store.now(), 2, 1)])
        used.store.client.set(key_names.REFRESHING, "somebody", ex=hot._LOCK_LIFE)
        used.store.client.set(key_names.GOING_BACK, 1, ex=used.rules.hot_refresh)
        used.pageviews.get_salt(7)
        assert used.lease.rewrite_file()
        rules = Rules(votes_per_day=None)
        left_alone = connect(used.store.client, shards=used.store.shards.count, rules=rules)
        assert left_alone.weights.adjust() is None
        version = used.parameters.get_state().version
        used.parameters.apply(Parameters(alpha=1.1), expected=version, actor=MODERATOR, reason="To see")
        warm(used, "python", "群组")
        monkeypatch.setattr(parameters, "STEP", 1)
        wanted = Parameters(votes_per_day=20)
        used.parameters.apply(
            wanted, expected=version + 1, actor=OPERATOR, reason="", is_chosen=False, learnt_from=40
        )
        assert used.parameters.get_state().applying
        found = list(used.store.client.scan_iter(count=1000))
        yield found


def test_every_key_of_a_used_store_is_documented_once(used, names):
    for name in names:
        assert len(rows_of(used, name)) == 1, name


def test_every_documented_key_is_in_a_used_store(used, names):
    there = {row.key for name in names for row in rows_of(used, name)}

    assert {row.key for row in ROWS} - there == set()


def test_every_key_has_the_documented_type(used, names):
    for name in names:
        (row,) = rows_of(used, name)
        assert used.store.client.type(name) == row.type, name


def test_every_key_lives_as_long_as_documented(used, names):
    for name in names:
        (row,) = rows_of(used, name)
        left = used.store.client.ttl(name)
        if row.life is None:
            assert left == -1, name
        else:
            assert 0 < left <= row.life + 1, name


def test_the_documented_life_is_what_a_new_key_gets(began, used, names):
    lives: dict[str, int] = defaultdict(int)
    for name in names:
        for row in rows_of(used, name):
            lives[row.key] = max(lives[row.key], used.store.client.ttl(name))

    for row in ROWS:
        assert row.life is None or lives[row.key] >= 0.95 * row.life - (time.monotonic() - began), row.key


def test_hashes_have_the_documented_fields(used, names):
    seen: dict[str, set[str]] = defaultdict(set)
    for name in names:
        (row,) = rows_of(used, name)
        if row.fields:
            found = set(used.store.client.hkeys(name))
            assert row.required <= found <= row.fields, name
            seen[row.key] |= found

    assert seen == {row.key: row.fields for row in ROWS if row.fields}


NAMES_OF_FIELDS = {
    "slug": VARIABLES["<slug>"],
    "slug of a former group": VARIABLES["<slug>"],
    "reason": "bot|prefetch|burst",
    "day:kind": "[0-9]+:(?:counted|visitors|bot|prefetch|burst)",
    "step of housekeeping": "[a-z]+",
}


def test_hashes_without_documented_fields_are_named_as_their_content_says(used, names):
    for name in names:
        (row,) = rows_of(used, name)
        if row.type == "hash" and not row.fields:
            kind, _, _ = row.content.partition(" → ")
            assert all(re.fullmatch(NAMES_OF_FIELDS[kind], field) for field in used.store.client.hkeys(name))


@pytest.mark.parametrize("key", ["log:", "tunings:"])
def test_entries_of_the_logs_have_the_documented_parts(used, names, key):
    (row,) = [row for row in ROWS if row.key == key]
    parts = set(re.findall("`([a-z]+)`", row.content))
    entries = [json.loads(text) for name in names if rows_of(used, name) == [row] for text in logged(used, name)]

    assert entries
    assert all(set(entry) == parts for entry in entries)


def logged(repository: Repository, name: str) -> list[str]:
    return repository.store.client.lrange(name, 0, -1)


SCRIPT = re.compile("`([a-z]+_?[a-z]+/[a-z_]+)`")


def writers_of(key: str) -> set[str]:
    """The scripts that a row says write its key, those that it names by another key included."""
    (row,) = [row for row in ROWS if row.key == key]
    others = re.findall("every writer of `([^`]+)`", row.writers)
    return set(SCRIPT.findall(row.writers)).union(*map(writers_of, others))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.key)
def test_the_documented_writers_are_the_scripts_whose_headers_say_so(row):
    assert writers_of(row.key) == {name for name in scripts.names() if touches(name).get(row.key) == "rw"}


@pytest.mark.parametrize("name", scripts.names())
def test_a_header_lists_documented_keys_in_their_order(name):
    documented = [row.key for row in ROWS]

    assert list(touches(name)) == sorted(touches(name), key=documented.index)


def test_the_documented_layout_is_the_one_in_force(used):
    from articles.repository.store import schema

    (version,) = [
        row["Holds"] for row in table("Fields") if (row["Key"], row["Field"]) == ("`schema:`", "`version`")
    ]

    assert version.endswith(f": {schema.LAYOUT_VERSION}")


def test_the_placeholders_are_documented_as_they_are():
    from articles.domain.members import PLACEHOLDERS

    assert f"{PLACEHOLDERS.start:,} to {PLACEHOLDERS.stop - 1:,} are placeholders" in PAGE
