"""The server's log of slow commands, fit to be read by people: scripts by name, nothing secret, nothing long."""

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
    """`at` in Unix seconds, `seconds` it held up the server."""

    at: float
    seconds: float
    command: str


def slow_command(entry: Sequence[Any]) -> SlowCommand:
    """One entry of SLOWLOG GET, undecoded. Some servers put a number before the arguments."""
    words = next(part for part in entry[3:] if isinstance(part, list))
    return SlowCommand(at=float(entry[1]), seconds=entry[2] / 1e6, command=readable(words))


def readable(words: Sequence[bytes]) -> str:
    """A command in one line: its first words, each cut; a script by its name instead of its digest or text."""
    first, *rest = [_word(word) for word in words[:_WORDS]]
    if first.upper() in ("EVALSHA", "EVAL") and rest:
        rest[0] = _script_name(words[1])
    return " ".join([first, *rest, *(["…"] if len(words) > _WORDS else [])])


def _word(word: bytes) -> str:
    text = word.decode("utf-8", "backslashreplace")
    if _CACHED in text:  # the cache shares the server, and keys of sessions are as good as passwords
        return f"{_CACHED}…"
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[: _LONGEST + 1])
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _script_name(word: bytes) -> str:
    text = word.decode("utf-8", "replace")
    if text.startswith("-- "):  # sent whole; the log keeps the beginning
        name = text[3:].partition("\n")[0]
        return name if name in _scripts().values() else "(script)"
    return _scripts().get(text, "(script)")


@cache
def _scripts() -> dict[str, str]:
    """Script by digest."""
    return {scripts.digest(name): name for name in scripts.names()}
