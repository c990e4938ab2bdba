"""Keys damaged at random: what the audit says, the repair repairs, and nothing else changes."""

import random
import re
from collections.abc import Callable

import pytest

from articles.domain.comments import COMMENTS_PER_ARTICLE
from articles.repository import Repository
from articles.repository.store.attempts import Finding
from articles.repository.store.key_table import BY_NAME, InBackup, Key, recognise
from tests.cast import ALICE
from tests.clock import Clock
from tests.every_server import names_in
from tests.repository.damaging import DAMAGES, KINDS
from tests.repository.usage import merge_two, use
from tests.store_state import contents, problems

pytestmark = [pytest.mark.hostile, pytest.mark.needs("few shards")]

SEEDS = [0, pytest.param(1, marks=pytest.mark.long)]
STRAY, STRAY_COMMENT = "999999", "999999000001"

REBUILT = [name for name in KINDS if BY_NAME[name].in_backup is InBackup.REBUILT]
OF_SUBJECTS = [
    name
    for name in KINDS
    if re.search("<(id|comment|user)>$", name) and BY_NAME[name].in_backup is InBackup.COPIED
]
"""Kinds of keys about one article, comment or member, which the site cannot do without."""

LEFT_ALONE = (
    r"^votes \d+, voters",
    r"^opposes \d+, opposers",
    "^a user is in both voter sets",
    "^page views .* visitors",
    "^its page views are damaged",
    "^its counters are archived and here",
    "^no such",
)
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


def _garbage(how: str) -> Harm:
    return lambda _rng, repository, name: DAMAGES[how](repository.store.client, name) and None


HARMS: dict[str, Harm] = {
    "the key is lost": lose_the_key,
    "an entry is lost": lose_an_entry,
    "a stray entry": add_a_stray,
    "an entry elsewhere": move_an_entry,
    **{how: _garbage(how) for how in DAMAGES},
}


def mend(repository: Repository) -> list[str]:
    """Audit, which changes nothing, and repair; return what the audit says then.

    Without what is left alone, and about subjects that the repair reports.
    """
    damaged, told = contents(repository), list[Finding]()
    problems(repository)
    assert contents(repository) == damaged, "the audit writes"
    repository.repair.run(tell=told.append)
    subjects = set().union(*(subjects_in(finding.subject) for finding in told))
    left = [finding for finding in repository.audit.run() if not subjects & subjects_in(finding.subject)]
    expected = "|".join((*LEFT_ALONE, *(["^cannot be checked"] if told else [])))
    return [str(one) for one in left if not re.search(expected, one.problem)]


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


def spoil_a_field(rng: random.Random, repository: Repository, name: str) -> None:
    """Overwrite or delete one field."""
    client = repository.store.client
    field = rng.choice(sorted(client.hkeys(name)))
    value = rng.choice((None, "7", "1,2,3", "5 5", "1234.000"))
    if value is None:
        client.hdel(name, field)
    else:
        client.hset(name, field, value)


def harms_of(kind: str) -> dict[str, Harm]:
    """Return what can happen to a key of this kind."""
    if "hll:" in kind:
        return {"the key is lost": lose_the_key}
    if BY_NAME[kind].type in ("set", "zset"):
        return HARMS
    others = {how: _garbage(how) for how in DAMAGES} | {"the key is lost": lose_the_key}
    return others | {"a field": spoil_a_field} if BY_NAME[kind].type == "hash" else others


def subjects_in(entry: str) -> set[int]:
    """Return the numbers in an entry: of articles, comments and members; a comment's article stands for it."""
    numbers = map(int, re.findall(r"[0-9]+", entry.partition("}:")[2] or entry))
    return {number // COMMENTS_PER_ARTICLE or number for number in numbers}


def differences(one: dict[str, object], other: dict[str, object]) -> set[str]:
    """Return the entries in which two stores differ, each with its key."""
    return entries(one) ^ entries(other)


def entries(store: dict[str, object]) -> set[str]:
    found = set[str]()
    for name, value in store.items():
        match value:
            case dict():
                found |= {f"{name} {field} ={content}" for field, content in value.items()}
            case set() | list():
                found |= {f"{name} {entry}" for entry in value}
            case _:
                found.add(f"{name} ={value}")
    return found


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 6))])
@pytest.mark.parametrize("kind", OF_SUBJECTS)
def test_damage_to_one_subject_changes_no_other(repository, sound, kind, seed):
    """What differs after the repair is in keys of the damaged article, comment or member, or names it.

    An article whose groups are damaged brings a group of that name.
    """
    rng = random.Random(f"{kind} {seed}")
    name, (how, harm) = any_key(rng, repository, kind), rng.choice(sorted(harms_of(kind).items()))
    harm(rng, repository, name)
    damaged = kept(repository)

    assert mend(repository) == [], (name, how)
    subjects = set().union(*map(subjects_in, differences(sound, damaged)))
    changed = [one for one in differences(sound, kept(repository)) if ":groups: " not in one]
    assert [one for one in changed if not subjects & subjects_in(one)] == [], (name, how)


def test_a_backup_lacks_nothing_that_is_not_rebuilt(repository, sound):
    found = names_in(repository.store.client)
    for name, kind in zip(found, recognise(found), strict=True):
        if kind and kind.in_backup is InBackup.REBUILT:
            repository.store.client.delete(name)

    repository.repair.rebuild()

    assert kept(repository) == sound
