"""Read the file `.env` in the checkout: lines `NAME=value`, overridden by the environment."""

import io
import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import environ

from voting_site.configuration.kinds import BadSetting

_ASSIGNMENT = re.compile(r"(?:export )?([A-Za-z_][A-Za-z0-9_]*)=.*")
_LOOSE = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=.*")


def assignments(base_dir: Path) -> dict[str, str]:
    """Return the values by name; none without a file. Raises BadSetting if the file cannot be read."""
    lines = [line for line in _lines(base_dir) if _ASSIGNMENT.fullmatch(line)]
    reader: Any = type("_Reader", (environ.Env,), {"ENVIRON": {}})  # keep os.environ unchanged
    reader.read_env(io.StringIO("\n".join(lines)))
    return dict(reader.ENVIRON)


def warnings(base_dir: Path, known: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for every line without effect, and for every name that is not in `known`."""
    names: dict[str, None] = {}
    try:
        lines = _lines(base_dir)
    except BadSetting:
        return
    for number, line in enumerate(lines, start=1):
        if _ASSIGNMENT.fullmatch(line) is None and line.strip() and not line.lstrip().startswith("#"):
            yield f"Line {number} of the file .env has no effect: it is not NAME=value, without spaces."
        if assignment := _LOOSE.fullmatch(line):
            names[assignment[1]] = None
    known = list(known)
    for name in names:
        if name not in known:
            near = get_close_matches(name.upper(), known, 1)
            hint = f"; did you mean {near[0]}?" if near else "."
            yield f"The file .env sets {name}, which is not a setting of the site{hint}"


def _lines(base_dir: Path) -> list[str]:
    path = base_dir / ".env"
    try:
        return path.read_text("utf-8-sig").splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return []
    except UnicodeDecodeError:
        raise BadSetting(f"{path} is not UTF-8 text.") from None
    except OSError as error:
        raise BadSetting(f"{path} cannot be read: {error.strerror}.") from None
