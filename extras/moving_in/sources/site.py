"""Sites of this software: a folder that `export_site` wrote. Its addresses are those of `articles/urls.py`."""

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from extras.moving_in.models import Kind
from extras.moving_in.sources import BadSource, Format, old_addresses
from extras.moving_in.sources.rows import Rows, objects
from extras.moving_in.staging import COLUMNS, Staging

NAME, VERSION, MANIFEST = "article-voting-site", 1, "manifest.json"
FEEDS = ("atom", "rss", "json")


def fill(source: str, staging: Staging, _options: Mapping[str, Any], reach: Callable[[int], object]) -> None:
    folder, rows = Path(source), Rows(staging, reach)
    for name, facts in _files(folder).items():
        table, path = name.removesuffix(".jsonl"), folder / name
        if table not in COLUMNS or table == "bad":
            continue
        if path.is_symlink() or not path.is_file():
            raise BadSource(f"{path} cannot be read: it is no file.")
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != facts.get("sha256"):
            rows.reject(name, "The file is not as it was exported: what can be read of it comes.")
        rows.read(objects(path), partial(_stage, rows, table))
    rows.settle()


def _files(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the files that the manifest names, and what it says of each. Raises BadSource."""
    if not (folder / MANIFEST).is_file():
        raise BadSource(f"{folder} is not an export of this software: there is no {MANIFEST}.")
    try:
        manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
        if manifest["format"] == NAME and manifest["version"] > VERSION:
            software = manifest["software"]
            raise BadSource(f"{folder} is an export of version {software}, which writes others: import it there.")
        files = {str(name): dict(facts) for name, facts in manifest["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadSource(f"{folder / MANIFEST} is damaged: it is not the manifest of an export.") from error
    if manifest["format"] != NAME:
        raise BadSource(f"{folder / MANIFEST} is of other software: it has the format {manifest['format']!r}.")
    return files


def _stage(rows: Rows, table: str, row: Mapping[str, Any]) -> None:
    rows.add(table, **{name: value for name, value in row.items() if name in COLUMNS[table]})


_END, _MORE = r"(?:\?.*)?", r"(?:.*)?"

FORMAT = Format(
    fill,
    old_addresses(
        (Kind.COMMENT, rf"/comments/(\d+)/{_MORE}", ""),
        (Kind.ARTICLE, rf"/articles/(\d+)/{_MORE}", ""),
        (Kind.MEMBER, rf"/users/([^/?]+)/{_MORE}", ""),
        (Kind.GROUP, rf"/groups/([^,/?]+)/{_MORE}", ""),
        *((Kind.ARTICLE, rf"/feeds/articles/(\d+)/comments\.{form}{_END}", form) for form in FEEDS),
        *((Kind.MEMBER, rf"/feeds/users/([^/?]+)\.{form}{_END}", form) for form in FEEDS),
        *((Kind.GROUP, rf"/feeds/groups/([^,/?]+)\.{form}{_END}", form) for form in FEEDS),
    ),
    is_like_here=True,
)
