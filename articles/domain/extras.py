"""Extras: folders that can be deleted, each a Django app with all that it adds to the site.

`rows.py` of an extra has `ROWS`: what the core's tables get from it, read before Django is ready. `apps.py` has
one class of `articles.web.extras.Extra`: what runs. Django finds models, migrations, commands, `static/` and
`locale/`. Found by name are `pages.py` with `urlpatterns`, operations of the API in it or in `api.py`, with `TAGS`
for their first parts, `doctor.py` with `CHECKS`, `process.py` with a process beside the web server, templates in
`jinja2/`, `worker.js`, and `tests/doors.py`: see `tests/extras.py`.

Rows of an extra refer to others than accounts without a constraint in the database (`db_constraint=False`): they
stay there after its folder was deleted, and must not keep others. They go with what they refer to, an account that
is deleted as well, as `on_delete` says; for what went while the folder was not there, the next start does that.

This module and `articles.web.extras` are the contract. They name no extra.
"""

import ast
import keyword
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

T = TypeVar("T")

FOLDER = Path(__file__).parents[2] / "extras"


class BadExtra(SystemExit):
    """An extra is not what it should be: the process ends with a sentence for the operator, wherever it began."""


class Setting(NamedTuple):
    """A variable that the operator can set, as `voting_site.configuration.variables.Variable` describes it."""

    name: str
    kind: str
    """A kind of `voting_site.configuration.kinds`, or "choice"."""

    default: str
    low: int = 0
    high: int = 0
    in_browser: bool = False
    choices: Mapping[str, str] = {}
    """Of the kind "choice": the possible texts, with their labels."""

    label: str = ""
    help: str = ""
    page: str = ""
    """Of one that can be changed in the browser: a page of `articles.views.owner.settings`."""


class Family(NamedTuple):
    """Variables whose names the operator completes, such as GONG_EAST and GONG_EAST_LABEL."""

    name: str
    """Of the one value of Django's settings that they make."""

    pattern: str
    """What matches their names."""

    module: str
    """It has `parse(texts)`: makes the value of the texts of all variables, by name, or raises BadSetting."""


class Limit(NamedTuple):
    """A rate limit, as `articles.domain.limits.Limit` describes it."""

    name: str
    per: str
    default: str
    wide: int = 0
    label: str = ""
    """What administrators read, who can change it."""

    sentence: str = ""
    """What a member reads who has used it up."""


class Refusal(NamedTuple):
    """An error, which has added itself to the table of `articles.domain.errors`, with its sentence."""

    error: type[Exception]
    key: str
    """Its code of the API, or the `sentence` that it names instead."""

    sentence: str


class Key(NamedTuple):
    """A kind of key in every shard of the store, as `articles.repository.store.keys.Key` describes it."""

    name: str
    type: str
    life: int | None = None
    in_backup: str = "copied"


class Process(Protocol):
    """A process beside the web server, as `keep()` of `process.py` yields it, or None if none is wanted."""

    @property
    def is_settled(self) -> bool:
        """Whether it runs."""

    def watch(self) -> None:
        """Start it again if it has ended."""

    def renew(self) -> None:
        """Let the program's current files run."""


class FormButton(NamedTuple):
    """A button that an extra adds to a form of the core: the form is shown again, and not processed."""

    view: str
    name: str
    limits: tuple[str, ...]
    """Taken instead of those of the form."""


class View(NamedTuple):
    """What the core's tables have of a view. One without a row needs an account on a site for members."""

    name: str
    """Of its address, such as "articles:lab"."""

    is_open: bool = False
    """Whether it needs no account on a site for members: it shows no content of the site."""

    limits: tuple[str, ...] | None = None
    """Limits of its form, if others than `changes`."""

    limits_of_reading: tuple[str, ...] = ()
    cache: Literal["", "list", "feed"] = ""
    """How `articles.web.caching` treats it, as the list or the feed that it is; "": it sets its own headers."""

    parameters: tuple[str, ...] = ()
    """Parameters that make another page of it, if it is cached."""

    is_for_scripts: bool = False
    """Whether only scripts use it: refusals are JSON, whatever their Accept header says."""

    is_crawled: bool = True
    """Whether robots.txt lets crawlers in."""

    may_wait: bool = False
    """Whether it may wait for another server, so that no page of the site waits behind it: a form, or a page
    below /login/."""

    is_login_page: bool = False
    """Whether login and logout do not lead back to it, as to all pages of the core about accounts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """What an extra adds to the core's tables. Texts are English, marked with `N_`."""

    settings: tuple[Setting, ...] = ()
    families: tuple[Family, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    """Sentences about input that is refused, by the code of `articles.text.lines.InvalidInput`."""

    backed_up: tuple[str, ...] = ()
    """Labels of models whose rows a backup has, each after those that it refers to."""

    not_backed_up: tuple[str, ...] = ()
    limits: tuple[Limit, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    keys: tuple[Key, ...] = ()
    article_fields: tuple[str, ...] = ()
    """Fields of an article's hash that are read with its HTML, into `Article.extras`. A redaction empties them."""

    buttons: tuple[FormButton, ...] = ()
    views: tuple[View, ...] = ()
    hosts: tuple[str, ...] = ()
    """Settings with hosts, beside the site's own, for which `Extra.answer_for_host` answers."""

    other_origins: tuple[str, ...] = ()
    """Beginnings of addresses below which programs in pages of other origins may read feeds and JSON."""
    sign_ups: tuple[str, ...] = ()
    """Relations of members who have signed up with an account elsewhere, as the record of a month counts them."""

    hashers: tuple[str, ...] = ()
    """Dotted names of hashers that know passwords from elsewhere: the first login hashes them by the site's own.

    They wait for `accounts.passwords.turn`, as those do.
    """

    crawlers_skip: tuple[str, ...] = ()
    """Last parts of addresses below an article that robots.txt excludes."""


@cache
def names() -> tuple[str, ...]:
    """Return the names of the extras that are there, sorted. Raises BadExtra."""
    found = sorted(path.parent.name for path in FOLDER.glob("*/apps.py"))
    for name in found:
        if not name.isidentifier() or keyword.iskeyword(name):
            raise BadExtra(f"extras/{name}: the name of a folder here is letters, digits and _, such as my_extra.")
    return tuple(found)


def installed_apps(others: Iterable[str]) -> list[str]:
    """Return the apps of the extras, beside those of others. Raises BadExtra."""
    labels = {app.rpartition(".")[2]: app for app in others}
    for name in names():
        if name in labels:
            raise BadExtra(f"extras/{name} has the label of the app {labels[name]}: give the folder another name.")
        _check_class(name)
    return [f"extras.{name}" for name in names()]


def _check_class(name: str) -> None:
    """Check that `apps.py` has one class of the app, which names its folder. Raises BadExtra."""
    tree = ast.parse((FOLDER / name / "apps.py").read_text("utf-8"))
    own = [
        node
        for node in tree.body
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base).endswith("Extra") for base in node.bases)
    ]
    if len(own) != 1:
        found = " and ".join(node.name for node in own) or "none"
        raise BadExtra(f"extras/{name}/apps.py needs one class of articles.web.extras.Extra, and has {found}.")
    if f"name = 'extras.{name}'" not in map(ast.unparse, own[0].body):
        raise BadExtra(f"extras/{name}/apps.py: the class {own[0].name} needs the name 'extras.{name}'.")


@cache
def _rows() -> Mapping[str, Rows]:
    """Return the rows of each extra. Raises BadExtra."""
    found = {}
    for name in names():
        path = FOLDER / name / "rows.py"
        if impure := sorted(set(_imports(path, name)) if path.exists() else ()):
            raise BadExtra(f"extras/{name}/rows.py imports {', '.join(impure)}: rows import only what is pure.")
        rows = getattr(import_module(f"extras.{name}.rows"), "ROWS", None) if path.exists() else Rows()
        if not isinstance(rows, Rows):
            raise BadExtra(f"extras/{name}/rows.py has no ROWS of the type Rows.")
        found[name] = rows
    for what, of in _UNIQUE.items():
        refuse_clashes(what, {f"extras/{name}": of(rows) for name, rows in found.items()})
    return found


_UNIQUE: Mapping[str, Callable[[Rows], Iterable[str]]] = {
    "setting": lambda rows: [*(one.name for one in rows.settings), *(one.name for one in rows.families)],
    "limit": lambda rows: [one.name for one in rows.limits],
    "refusal": lambda rows: [*(one.key for one in rows.refusals), *rows.inputs],
    "key": lambda rows: [one.name.partition(":")[0] for one in rows.keys],
    "field of articles": lambda rows: rows.article_fields,
}
"""Names that two extras cannot have, by what they are of."""


def _imports(path: Path, extra: str) -> Iterator[str]:
    """Yield what the rows of an extra import beyond what is pure. What they import of the extra has to be."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for module in modules:
            is_pure = f"{module}.".startswith(("articles.domain.", f"extras.{extra}."))
            if not is_pure and module.partition(".")[0] not in sys.stdlib_module_names:
                yield module


def refuse_clashes(what: str, claims: Mapping[str, Iterable[str]]) -> None:
    """Raise BadExtra for a name that two owners claim: `the core`, or a folder such as `extras/lab`."""
    owners: dict[str, str] = {}
    for owner, claimed in claims.items():
        for name in claimed:
            if owners.setdefault(name, owner) != owner:
                raise BadExtra(f"{owners[name]} and {owner} both have the {what} {name}.")


def refuse_doubles(what: str, names: Iterable[str]) -> None:
    """Raise BadExtra for a name that a table of the core has twice, since an extra claims it as well."""
    for name in (name for name, count in Counter(names).items() if count > 1):
        owner = next(extra for extra, rows in _rows().items() if name in _UNIQUE[what](rows))
        raise BadExtra(f"the core and extras/{owner} both have the {what} {name}.")


def rows_of(extra: str) -> Rows:
    """Return all rows of one extra."""
    return _rows()[extra]


def _all(of: Callable[[Rows], Iterable[T]], extra: str = "") -> tuple[T, ...]:
    """Return rows of one kind: those of one extra, or of all."""
    return tuple(one for name, rows in _rows().items() if extra in (name, "") for one in of(rows))


def settings(extra: str = "") -> tuple[Setting, ...]:
    """Return the settings of one extra, or of all."""
    return _all(lambda rows: rows.settings, extra)


def families() -> tuple[Family, ...]:
    return _all(lambda rows: rows.families)


def inputs() -> dict[str, str]:
    """Return the sentences about input that is refused, by code."""
    return {code: sentence for rows in _rows().values() for code, sentence in rows.inputs.items()}


def backed_up() -> tuple[str, ...]:
    """Return the labels of the models that a backup has."""
    return _all(lambda rows: rows.backed_up)


def not_backed_up() -> tuple[str, ...]:
    """Return the labels of the models that a backup leaves out."""
    return _all(lambda rows: rows.not_backed_up)


def modules(name: str) -> tuple[str, ...]:
    """Return the dotted names of the modules of this name that extras have."""
    return tuple(f"extras.{extra}.{name}" for extra in names() if (FOLDER / extra / f"{name}.py").exists())


def limits(extra: str = "") -> tuple[Limit, ...]:
    """Return the rate limits of one extra, or of all."""
    return _all(lambda rows: rows.limits, extra)


def refusals() -> tuple[Refusal, ...]:
    """Return the refusals of all extras."""
    return _all(lambda rows: rows.refusals)


def all_keys(extra: str = "") -> tuple[Key, ...]:
    """Return the keys of one extra, or of all."""
    return _all(lambda rows: rows.keys, extra)


def article_fields(extra: str = "") -> tuple[str, ...]:
    """Return the fields of articles of one extra, or of all."""
    return _all(lambda rows: rows.article_fields, extra)


def buttons(extra: str = "") -> tuple[FormButton, ...]:
    """Return the buttons in forms of the core of one extra, or of all."""
    return _all(lambda rows: rows.buttons, extra)


def views(extra: str = "") -> tuple[View, ...]:
    """Return what the core's tables have of the views of one extra, or of all."""
    return _all(lambda rows: rows.views, extra)


def hosts(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the hosts, beside the site's own, for which extras answer; `values`: of settings, by name."""
    return tuple(host for rows in _rows().values() for name in rows.hosts for host in values[name])


def other_origins() -> tuple[str, ...]:
    return _all(lambda rows: rows.other_origins)


def sign_ups() -> tuple[str, ...]:
    return _all(lambda rows: rows.sign_ups)


def hashers() -> tuple[str, ...]:
    return _all(lambda rows: rows.hashers)


def crawlers_skip() -> tuple[str, ...]:
    return _all(lambda rows: rows.crawlers_skip)


def script_folders() -> list[Path]:
    """Return the folders of scripts of the store: `lua/<noun>/<verb>.lua`, and libraries in `lua/lib/`."""
    return [path for name in names() if (path := FOLDER / name / "lua").is_dir()]


def template_folders() -> list[Path]:
    """Return the folders of the templates of pages and mails."""
    return [path for name in names() if (path := FOLDER / name / "jinja2").is_dir()]


def worker_parts() -> list[Path]:
    """Return the scripts that follow `static/js/worker.js` in the browser."""
    return [path for name in names() if (path := FOLDER / name / "worker.js").is_file()]
