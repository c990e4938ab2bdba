"""Load the settings from the environment and the file `.env`, and report all invalid ones at once.

`.env` is in the checkout: lines `NAME=value`, overridden by the environment.
"""

import io
import os
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

import environ

from articles.configuration.kinds import BadSetting, noted
from articles.domain import extras
from voting_site.configuration import data_directory
from voting_site.configuration.data_directory import check_key, secret_key
from voting_site.configuration.service_urls import is_one_database, store_url
from voting_site.configuration.variables import GONE, NAMES, VARIABLES

_ASSIGNMENT = re.compile(r"(?:export )?([A-Za-z_][A-Za-z0-9_]*)=.*")
_LOOSE = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=.*")


def assignments(base_dir: Path) -> dict[str, str]:
    """Return the values by name; none without a file. Raises BadSetting if the file cannot be read."""
    lines = [line for line in _lines(base_dir) if _ASSIGNMENT.fullmatch(line)]
    reader: Any = type("_Reader", (environ.Env,), {"ENVIRON": {}})  # keep os.environ unchanged
    reader.read_env(io.StringIO("\n".join(lines)))
    return dict(reader.ENVIRON)


def warnings(base_dir: Path) -> Iterator[str]:
    """Yield a sentence for every line of the file without effect, and for every name that is not a setting.

    Of the environment, only for names that were settings.
    """
    yield from (gone_sentence(name) for name in GONE if os.environ.get(name))
    unknown: dict[str, None] = {}
    try:
        lines = _lines(base_dir)
    except BadSetting:
        return
    for number, line in enumerate(lines, start=1):
        if _ASSIGNMENT.fullmatch(line) is None and line.strip() and not line.lstrip().startswith("#"):
            yield f"Line {number} of the file .env has no effect: it is not NAME=value, without spaces."
        if (assignment := _LOOSE.fullmatch(line)) and not (
            assignment[1] in NAMES or any(re.fullmatch(one.pattern, assignment[1]) for one in extras.families())
        ):
            unknown[assignment[1]] = None
    for name in unknown:
        if name in GONE:
            yield gone_sentence(name)
            continue
        near = get_close_matches(name.upper(), NAMES, 1)
        hint = f"; did you mean {near[0]}?" if near else "."
        yield f"The file .env sets {name}, which is not a setting of the site{hint}"


def gone_sentence(name: str) -> str:
    """Return what replaces a setting of an earlier version."""
    return f"{name} is not a setting any more: {GONE[name]}"


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


def load(base_dir: Path) -> dict[str, Any]:
    """Return all values by name, from the environment and `base_dir/.env` (the environment takes precedence).

    Families of variables of extras have one value each.
    FIXED_SETTINGS are the texts of those that are set there, of the settings that could be changed in the browser.

    DATA_DIR and BACKUP_DIR are absolute. SECRET_KEY is never empty: a missing key is created once
    all settings are valid. Raises BadSetting with a sentence for each mistake.
    """
    mistakes: list[str] = []
    values: dict[str, Any] = {}
    texts: Mapping[str, str] = os.environ
    with noted(mistakes):
        texts = assignments(base_dir) | dict(os.environ)
    for variable in VARIABLES:
        with noted(mistakes):
            values[variable.name] = variable.parse(texts.get(variable.name, ""))
    for family in extras.families():
        with noted(mistakes):
            values[family.name] = import_module(family.module).parse(texts)
    values["FIXED_SETTINGS"] = {
        variable.name: text
        for variable in VARIABLES
        if variable.in_browser and (text := texts.get(variable.name, "").strip())
    }
    data_dir = base_dir
    if "DATA_DIR" in values:
        with noted(mistakes):
            values["DATA_DIR"] = data_dir = data_directory.placed(base_dir, values["DATA_DIR"])
            if not values.get("SECRET_KEY"):
                check_key(data_dir)
    if values.get("BACKUP_DIR"):
        with noted(mistakes):
            values["BACKUP_DIR"] = data_directory.for_backups(base_dir, values["BACKUP_DIR"], data_dir)
    cache, store = values.get("CACHE_URL"), values.get("REDIS_URL")
    if cache and store is not None and is_one_database(store_url(store, data_dir), cache):
        mistakes.append("CACHE_URL and REDIS_URL must not be the same database.")
    if mistakes:
        raise BadSetting(*mistakes)
    values["SECRET_KEY"] = values["SECRET_KEY"] or secret_key(data_dir)
    return values
