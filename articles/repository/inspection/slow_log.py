"""The server's log of slow commands in readable form: scripts by name, without secrets, cut to a line."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from articles.repository.store import scripts

_WORDS = 6
_LONGEST = 40
_CACHED = "cache:"


@dataclass(frozen=True, slots=True)
class SlowCommand:
    """A slow command: `at` in Unix seconds; the server ran it for `seconds`."""

    at: float
    seconds: float
    command: str


def slow_command(entry: Sequence[Any]) -> SlowCommand:
    """Parse an undecoded entry of SLOWLOG GET. Some servers put a number before the arguments."""
    words = next(part for part in entry[3:] if isinstance(part, list))
    return SlowCommand(at=float(entry[1]), seconds=entry[2] / 1e6, command=readable(words))


def readable(words: Sequence[bytes]) -> str:
    """Return a command in one line: its first words, each cut; a script by name instead of digest or text."""
    first, *rest = [_word(word) for word in words[:_WORDS]]
    if first.upper() in ("EVALSHA", "EVAL") and rest:
        rest[0] = _script_name(words[1])
    return " ".join([first, *rest, *(["…"] if len(words) > _WORDS else [])])


def _word(word: bytes) -> str:
    text = word.decode("utf-8", "backslashreplace")
    if _CACHED in text:  # the cache may share the server, and session keys are as secret as passwords
        return f"{_CACHED}…"
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[: _LONGEST + 1])
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _script_name(word: bytes) -> str:
    text = word.decode("utf-8", "replace")
    if text.startswith("-- "):  # sent as text; the log keeps its start
        name = text[3:].partition("\n")[0]
        return name if name in _scripts().values() else "(script)"
    return _scripts().get(text, "(script)")


@cache
def _scripts() -> dict[str, str]:
    """Return the names of all scripts by digest."""
    return {scripts.digest(name): name for name in scripts.names()}
