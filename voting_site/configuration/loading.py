"""Load the settings, and report all invalid ones at once."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from voting_site.configuration import data_directory, dotenv
from voting_site.configuration.kinds import BadSetting
from voting_site.configuration.secret_key import check_key, secret_key
from voting_site.configuration.store_urls import check_apart, store_url
from voting_site.configuration.variables import VARIABLES


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
        texts = dotenv.assignments(base_dir) | dict(os.environ)
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
