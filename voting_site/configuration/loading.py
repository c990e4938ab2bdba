"""Load the settings from the environment and the file `.env`, and report all invalid ones at once.

`.env` is in the checkout: lines `NAME=value`, overridden by the environment.
"""

import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import environ

from voting_site.configuration import data_directory
from voting_site.configuration.data_directory import check_key, secret_key
from voting_site.configuration.kinds import BadSetting
from voting_site.configuration.store_urls import check_apart, store_url
from voting_site.configuration.variables import VARIABLES

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


def leaving_one_free(most: int, threads: int) -> int:
    """Return up to `most`, but fewer than the process has threads for pages, and at least one."""
    return max(1, min(most, threads - 1))


class _Mistakes:
    """Collects the messages of invalid settings."""

    def __init__(self) -> None:
        self._sentences: list[str] = []

    @contextmanager
    def collected(self) -> Iterator[None]:
        try:
            yield
        except BadSetting as error:
            self._sentences += error.sentences

    def raise_if_any(self) -> None:
        if self._sentences:
            raise BadSetting(*self._sentences)


def load(base_dir: Path) -> dict[str, Any]:
    """Return all values by name, from the environment and `base_dir/.env` (the environment takes precedence).

    DATA_DIR and BACKUP_DIR are absolute. SECRET_KEY is never empty: a missing key is created once all settings are
    valid. Raises BadSetting with a sentence for each mistake.
    """
    mistakes = _Mistakes()
    texts: Mapping[str, str] = os.environ
    with mistakes.collected():
        texts = assignments(base_dir) | dict(os.environ)
    values: dict[str, Any] = {}
    for variable in VARIABLES:
        with mistakes.collected():
            values[variable.name] = variable.parse(texts.get(variable.name, ""))
    data_dir = base_dir
    if "DATA_DIR" in values:
        with mistakes.collected():
            values["DATA_DIR"] = data_dir = data_directory.placed(base_dir, values["DATA_DIR"])
            if not values.get("SECRET_KEY"):
                check_key(data_dir)
    if values.get("BACKUP_DIR"):
        with mistakes.collected():
            values["BACKUP_DIR"] = data_directory.for_backups(base_dir, values["BACKUP_DIR"], data_dir)
    if "REDIS_URL" in values and "CACHE_URL" in values:
        with mistakes.collected():
            check_apart(store_url(values["REDIS_URL"], data_dir), values["CACHE_URL"])
    mistakes.raise_if_any()
    values["SECRET_KEY"] = values["SECRET_KEY"] or secret_key(data_dir)
    return values
