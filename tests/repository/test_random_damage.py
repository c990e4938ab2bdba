"""Keys damaged at random: what the audit says, the repair repairs, and nothing else changes."""

import random
import re
from collections.abc import Callable

import pytest

from articles.repository import Repository
from articles.repository.store.keys import BY_NAME, InBackup, Key, recognise
from tests.cast import ALICE
from tests.clock import Clock
from tests.every_server import names_in
from tests.repository.damaging import KINDS, replace_by_another_type
from tests.repository.usage import merge_two, use
from tests.store_state import contents, problems

pytestmark = [pytest.mark.hostile, pytest.mark.needs("few shards")]

SEEDS = [0, pytest.param(1, marks=pytest.mark.long)]
STRAY, STRAY_COMMENT = "999999", "999999000001"

REBUILT = [name for name in KINDS if BY_NAME[name].in_backup is InBackup.REBUILT]
LEFT_ALONE = (
    r"^votes \d+, voters", r"^opposes \d+, opposers", "^a user is in both voter sets",
    "^page views .* visitors", "^its page views are damaged",
    "^its counters are archived and here", "^no such",
)  # fmt: skip
"""Findings that name damage of which nothing in the store says how it should be."""

Harm = Callable[[random.Random, Repository, str], None]


@pytest.fixture
def sound(repository: Repository, clock: Clock) -> dict[str, object]:
    """A store in use; what it held."""
    use(repository, clock)
    merge_two(repository)
    repository.members.save(ALICE, 9, wanted=True)
    repository.repair.run()
    assert problems(repository) == []
    return kept(repository)


def kept(repository: Repository) -> dict[str, object]:
    """Return the store's lasting contents."""
    found = contents(repository)
    lasting = (name for name, kind in zip(found, recognise(found), strict=True) if kind and _is_lasting(kind))
    return {name: found[name] for name in lasting}


def _is_lasting(kind: Key) -> bool:
    return kind.in_backup is not InBackup.OMITTED


def lose_the_key(_rng: random.Random, repository: Repository, name: str) -> None:
    repository.store.client.delete(name)


def lose_an_entry(rng: random.Random, repository: Repository, name: str) -> None:
    client = repository.store.client
    entries = {"zset": lambda: client.zrange(name, 0, -1), "set": lambda: client.smembers(name)}
    entry = rng.choice(sorted(entries[client.type(name)]()))
    client.execute_command("ZREM" if client.type(name) == "zset" else "SREM", name, entry)


def add_a_stray(rng: random.Random, repository: Repository, name: str) -> None:
    """Add an entry of the right form that belongs to nothing."""
    client = repository.store.client
    entry = STRAY_COMMENT if re.search("comment|replies|flag", name) else STRAY
    if client.type(name) == "zset":
        client.zadd(name, {entry: rng.randrange(10**9)})
    else:
        client.sadd(name, entry)


def move_an_entry(rng: random.Random, repository: Repository, name: str) -> None:
    client = repository.store.client
    if client.type(name) == "zset":
        entry, score = rng.choice(client.zrange(name, 0, -1, withscores=True))
        client.zadd(name, {entry: score + rng.choice((-1, 1)) * rng.randrange(1, 1000)})


HARMS: dict[str, Harm] = {
    "the key is lost": lose_the_key,
    "an entry is lost": lose_an_entry,
    "a stray entry": add_a_stray,
    "an entry elsewhere": move_an_entry,
    "another type": lambda _rng, repository, name: replace_by_another_type(repository.store.client, name),
}


def mend(repository: Repository) -> list[str]:
    """Audit, which changes nothing, and repair; return what the audit says then, without what is left alone."""
    damaged = contents(repository)
    problems(repository)
    assert contents(repository) == damaged, "the audit writes"
    repository.repair.run()
    return [str(one) for one in repository.audit.run() if not re.search("|".join(LEFT_ALONE), one.problem)]


def any_key(rng: random.Random, repository: Repository, kind: str) -> str:
    found = sorted(names_in(repository.store.client))
    return rng.choice(
        [name for name, known in zip(found, recognise(found), strict=True) if known == BY_NAME[kind]]
    )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", REBUILT)
def test_a_damaged_list_is_as_before_once_it_is_repaired(repository, sound, kind, seed):
    rng = random.Random(f"{kind} {seed}")
    for how, harm in HARMS.items():
        name = any_key(rng, repository, kind)
        harm(rng, repository, name)

        assert mend(repository) == [], (name, how)
        assert kept(repository) == sound, (name, how)


def test_a_backup_lacks_nothing_that_is_not_rebuilt(repository, sound):
    found = names_in(repository.store.client)
    for name, kind in zip(found, recognise(found), strict=True):
        if kind and kind.in_backup is InBackup.REBUILT:
            repository.store.client.delete(name)

    repository.repair.rebuild()

    assert kept(repository) == sound
