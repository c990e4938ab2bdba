"""Write what follows from the code: python -m bench.documentation

The tables of docs/configuration.md, docs/limits.md and docs/data-model.md from those of settings, limits and keys,
and from the headers of the scripts; which extra uses which door, in docs/architecture.md; deploy/store.acl from
the commands and keys that the site uses. What a setting means, a limit limits and a key holds is written on these
pages, and stays.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

from articles.domain import extras
from articles.domain.limits import LIMITS, PROVIDER_SHARE
from articles.repository.store import scripts
from articles.repository.store.keys import DAY, HOUR, MINUTE, TABLE, Place
from articles.repository.store.permissions import as_acl
from articles.web.extras import Extra
from voting_site.configuration.variables import VARIABLES

ROOT = Path(__file__).parents[1]
CONFIGURATION, DATA_MODEL = ROOT / "docs" / "configuration.md", ROOT / "docs" / "data-model.md"
LIMITS_PAGE, ARCHITECTURE = ROOT / "docs" / "limits.md", ROOT / "docs" / "architecture.md"
ACL = ROOT / "deploy" / "store.acl"

HEADINGS: Mapping[Place, str] = {
    Place.SHARD: "Keys in every shard",
    Place.FIRST: "Keys of the first shard only",
    Place.OUTSIDE: "Keys outside the shards",
}

_HEADER = (
    "| Key | Type | Content | Written by | Lives | Backup | Why |\n| --- | --- | --- | --- | --- | --- | --- |\n"
)
_UNITS = {DAY: "day", HOUR: "hour", MINUTE: "minute", 1: "second"}
_FOLLOWED = re.compile("every writer of `(.*)`")


def rows_in(text: str, columns: int) -> dict[str, list[str]]:
    """Return the rows of a page's tables with so many columns, by the name that each begins with."""
    rows = [line[2:-2].split(" | ") for line in text.splitlines() if line.startswith("| `")]
    return {row[0].split("`")[1]: row for row in rows if len(row) == columns}


def described(text: str) -> dict[str, tuple[str, str, list[str]]]:
    """Return what docs/data-model.md says of each key: what it holds, why, and what writes it besides scripts."""
    return {
        name: (content, why, [one for one in writers.split("; ") if not one.startswith("`")])
        for name, (_, _type, content, writers, _life, _backup, why) in rows_in(text, 7).items()
    }


def tables(text: str, extra: str = "") -> dict[str, str]:
    """Return the table of each place, in Markdown, by the heading that it follows; `text` describes the keys."""
    known = described(text)
    return {heading: _HEADER + "".join(_rows(place, known, extra)) for place, heading in HEADINGS.items()}


def _owner(name: str, rows: Callable[[str], Iterable[Any]]) -> str:
    """Return the extra whose rows of a table have this name; "" for the core."""
    return next((extra for extra in extras.names() if any(row.name == name for row in rows(extra))), "")


def writers(name: str) -> frozenset[str]:
    """Return the names of the core's scripts whose headers say that they write the key; of an extra's key, its."""
    if owner := _owner(name, extras.all_keys):
        own = (script for script in scripts.names() if extra_of(script) == owner)
        return frozenset(script for script in own if scripts.touches(script).get(name) == "rw")
    scripts_of_core = (script for script in scripts.names() if not extra_of(script))
    return frozenset(script for script in scripts_of_core if scripts.touches(script).get(name) == "rw")


def extra_of(script: str) -> str:
    """Return the extra that a script is in; "" for the core."""
    folders = ((name, extras.FOLDER / name / "lua" / f"{script}.lua") for name in extras.names())
    return next((name for name, path in folders if path.exists()), "")


def _rows(place: Place, known: Mapping[str, tuple[str, str, list[str]]], extra: str) -> Iterator[str]:
    for key in TABLE:
        if key.place is place and _owner(key.name, extras.all_keys) == extra:
            content, why, others = known.get(key.name, ("?", "?", []))
            life, backup = life_in_words(key.life), key.in_backup.value
            cells = (f"`{key.name}`", key.type, content, _writers(key.name, others), life, backup, why)
            yield f"| {' | '.join(cells)} |\n"


def _writers(name: str, others: list[str]) -> str:
    """Return what writes a key: others than scripts, scripts, and those that write another key as well."""
    followed = [one for one in others if _FOLLOWED.fullmatch(one)]
    own = writers(name).difference(*(writers(_FOLLOWED.fullmatch(one)[1]) for one in followed))
    named = [" ".join(f"`{script}`" for script in sorted(own))] if own else []
    return "; ".join([*(one for one in others if one not in followed), *named, *followed])


def life_in_words(seconds: int | None) -> str:
    """Return a time to live in the largest unit that gives two or more, as in "9 days"."""
    if seconds is None:
        return "for good"
    size = next((size for size in _UNITS if seconds >= 2 * size), 1)
    return f"{seconds // size} {_UNITS[size]}s"


def data_model(text: str, extra: str = "") -> str:
    """Return docs/data-model.md, or the README.md of an extra, with the tables of keys rewritten.

    The rest stays, also what they say of keys.
    """
    for heading, table in tables(text, extra).items():
        text = _replace_table(text, heading, table)
    return text


def _replace_table(text: str, heading: str, table: str) -> str:
    before = rf"^#+ {heading}\n(?:(?!^[|#]).*\n)*"
    return re.sub(rf"({before})(?:\|.*\n)+", lambda match: match[1] + table, text, flags=re.MULTILINE)


def limits_page(text: str, extra: str = "") -> str:
    """Return docs/limits.md, or the README.md of an extra, with the table of its limits rewritten."""
    known = rows_in(text, 4)
    rows = ["| name | default | what is limited | per |", "| --- | --- | --- | --- |"]
    for limit in LIMITS:
        if _owner(limit.name, extras.limits) != extra:
            continue
        wide = f"; {limit.wide} times as many per wide network, {limit.wide * PROVIDER_SHARE} times per provider"
        action = known.get(limit.name, "???")[2]
        rows.append(f"| `{limit.name}` | `{limit.default}` | {action} | {limit.per}{wide if limit.wide else ''} |")
    return _replace_table(text, "Every limit", "\n".join(rows) + "\n")


def configuration(text: str, extra: str = "") -> str:
    """Return docs/configuration.md, or the README.md of an extra, with the table of its settings rewritten."""
    known = rows_in(text, 5)
    rows = ["| variable | kind | default | range | meaning |", "| --- | --- | --- | --- | --- |"]
    for v in VARIABLES:
        if _owner(v.name, extras.settings) != extra:
            continue
        default = f"`{v.default}`" if v.default else "(empty)"
        mark, meaning = " ✎" if v.in_browser else "", known.get(v.name, "?")[-1]
        rows.append(f"| `{v.name}`{mark} | {v.kind} | {default} | {v.range or '–'} | {meaning} |")
    return _replace_table(text, "Settings" if extra else "Configuration", "\n".join(rows) + "\n")


def readme(text: str, extra: str) -> str:
    """Return the README.md of an extra with its tables rewritten."""
    return data_model(limits_page(configuration(text, extra), extra), extra)


_BY_NAME = (
    "models.py", "migrations", "pages.py", "api.py", "doctor.py", "process.py", "worker.js", "management",
    "jinja2", "lua", "static", "locale",
)  # fmt: skip
"""What the site finds in the folder of an extra by its name."""


def doors(extra: str) -> str:
    """Return the row of an extra in the table of doors: what is found by name, its rows, its methods."""
    rows, found = extras.rows_of(extra), vars(import_module(f"extras.{extra}.apps")).values()
    (own,) = (one for one in found if type(one) is type and issubclass(one, Extra) and one is not Extra)
    cells = (
        [name for name in _BY_NAME if (extras.FOLDER / extra / name).exists()],
        [one.name for one in fields(rows) if getattr(rows, one.name)],
        [name for name in ("ready", *vars(Extra)) if name in vars(own) and callable(getattr(own, name))],
    )
    return f"| `{extra}` | {' | '.join(', '.join(f'`{name}`' for name in cell) or '–' for cell in cells)} |"


def architecture(text: str) -> str:
    """Return docs/architecture.md with the table of doors rewritten."""
    rows = ["| extra | found by name | rows | methods |", "| --- | --- | --- | --- |", *map(doors, extras.names())]
    return _replace_table(text, "Extras", "\n".join(rows) + "\n")


def main() -> None:
    readmes = {extras.FOLDER / name / "README.md": name for name in extras.names()}
    pages = {
        **{path: readme(path.read_text("utf-8"), name) for path, name in readmes.items()},
        CONFIGURATION: configuration(CONFIGURATION.read_text("utf-8")),
        LIMITS_PAGE: limits_page(LIMITS_PAGE.read_text("utf-8")),
        DATA_MODEL: data_model(DATA_MODEL.read_text("utf-8")),
        ARCHITECTURE: architecture(ARCHITECTURE.read_text("utf-8")),
        ACL: as_acl(),
    }
    for path, text in pages.items():
        path.write_text(text, "utf-8")
        print(f"{path} written.")


if __name__ == "__main__":
    main()
