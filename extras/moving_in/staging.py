"""What a source has, in one form: an SQLite file that an adapter fills, and that the import reads in its order.

A source has its rows in any order, and a million comments do not fit into memory. Ids are those of the source, as
text; times are Unix seconds. What a source does not know is NULL. The files of an export have the same tables.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple


class Column(NamedTuple):
    """A column. `kind`: id, text, time, number, or flag (0 or 1). Only a trusted successor gets a private one."""

    kind: str
    means: str
    is_private: bool


_DESCRIBED = """
site
name text Name of the site.
url text Address of the site.
description text What the site is about.

member (id)
id id Their id; in an export the name.
name text The name.
joined time When they joined.
about text What they write about themselves, in Markdown.
inviter id Who invited them.
address text* Their email address.
password text* A hash as Django keeps it, such as `bcrypt$$2a$10$…`.
banned_at time* When they were banned.
ban_reason text* Why.
ban_ends time* When the ban ends.
is_deleted flag Whether the account was deleted there.
ban_scope text* What the ban forbids: `posting`, `voting` or `both`.

tag (id)
id id The group; in an export its slug.
title text Its title.
description text What it is about, in Markdown.
is_closed flag Whether only members see it.

article (id)
id id The article.
title text Its title.
link text What it links to.
text text Its text, in Markdown.
author id Who posted it: a member, or an account that is not there, such as `~` for a deleted one.
time time When it was posted.
votes number Votes for it; without `opposes`, less those against it.
opposes number Votes against it.
closes time When voting on it ends.
edited time When it was last changed.
removed text Why moderators removed it, or that its author withdrew it.
locked text Why its discussion is locked.
path text An address that no pattern of the format reads: path and query.
views number Page views that count.
visitors number Unique visitors, estimated.

article_tag (article, tag)
article id The article.
tag id A group that it is in.

comment (id)
id id The comment.
article id The article that it is on.
parent id The comment that it replies to.
author id Who wrote it, as for articles.
time time When it was posted.
text text In Markdown.
votes number Votes for it; without `opposes`, less those against it.
opposes number Votes against it.
closes time When voting on it ends.
edited time When it was last changed.
removed text Why moderators removed it.
is_deleted flag Whether its author deleted it, so that only its place is left.
path text An address that no pattern of the format reads: path and query.

vote
member id* Who voted.
article id* The article,
comment id* or the comment.
value number* 1 for it, -1 against it.
time time* When; of votes on comments it is not known.

saved
member id* Who saved it.
article id* The article.
time time* When.

hidden
member id* Who hides it.
article id* The article.

follow
member id* Who follows it.
tag id* The group.
is_hidden flag* Whether the member hides it instead.

log
time time When it was done.
actor id Who did it; `~` for a deleted account, `*` for the site, `*NAME` for a rule.
action text A word of the moderation log, such as `remove-comment`.
article id The article that it is about.
comment id The comment.
member id The member.
reason text The reason given.
subject text The title of the article or the group then, or the name of a host.
details text What changed: a JSON object of texts.

alias (kind, old_id)
kind text What it is of: `article`, `comment`, `member` or `group`.
old_id id A further id, such as a former name, or that of an article that was merged into another.
id id What is here by that id.

former (source, kind, old_id)
source text A site that had moved in before: the name that it was given.
format text The format in which its addresses are read.
host text Where it was.
kind text As of an alias, or `path`.
old_id id The id that it had there; of the kind `path` an address.
id id What is here by that id; of the kind `path` with its kind, such as `article 12`.

bad
place text Where something cannot be read, such as `posts.csv:12`.
reason text Why.
"""


def _tables() -> Iterator[tuple[str, str, dict[str, Column]]]:
    """Yield the name of each table, its key, and its columns."""
    for part in _DESCRIBED.strip().split("\n\n"):
        head, *rows = part.splitlines()
        name, _space, key = head.partition(" ")
        columns = (row.split(" ", 2) for row in rows)
        yield name, key, {one: Column(kind.rstrip("*"), means, kind[-1] == "*") for one, kind, means in columns}


COLUMNS: dict[str, dict[str, Column]] = {name: columns for name, _key, columns in _tables()}
"""Columns by table. `bad` has what an adapter could not read."""

TABLES: Mapping[str, str] = {
    name: ", ".join([*columns, *([f"PRIMARY KEY {key}"] if key else [])]) for name, key, columns in _tables()
}
"""Columns and key by table, as SQL has them."""

_FILE = {"file": "one PRIMARY KEY, mark, is_whole"}  # which source the rows are of, and whether all are there

_INDEXES = (
    "comment (article, time)", "vote (article)", "vote (comment)", "saved (member)",
    "hidden (member)", "follow (member)",
)  # fmt: skip
_ROWS = 5_000  # rows that are written together
_IN_ORDER = "ORDER BY time, length(id), id"


class Staging:
    """The rows of one source."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._db.row_factory = sqlite3.Row
        self._db.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -32000;")
        for name, columns in {**TABLES, **_FILE}.items():
            self._db.execute(f"CREATE TABLE IF NOT EXISTS {name} ({columns})")

    def empty(self, table: str) -> None:
        """Delete the rows of a table, which an interrupted run left."""
        self._db.execute(f"DELETE FROM {table}")  # noqa: S608 # nosec B608 - our names

    def close(self) -> None:
        self._db.close()

    def fill(
        self,
        table: str,
        columns: Sequence[str],
        rows: Iterable[Sequence[Any]],
        reach: Callable[[int], object] = lambda _: None,
        *,
        replaces: bool = False,
    ) -> None:
        """Add rows with these columns, and tell `reach` how many, batch by batch. Known ids are left out.

        `replaces`: unless the new row is the later version, which replaces the known one.
        """
        names, places = ", ".join(columns), ", ".join("?" * len(columns))
        line = f"INSERT OR {'REPLACE' if replaces else 'IGNORE'} INTO {table} ({names}) VALUES ({places})"  # noqa: S608 # nosec B608 - our names
        waiting = iter(rows)
        while batch := [tuple(row) for row in islice(waiting, _ROWS)]:
            self._db.execute("BEGIN")
            self._db.executemany(line, batch)
            self._db.execute("COMMIT")
            reach(len(batch))

    def finish(self) -> None:
        """Make the indexes by which the import reads. Call it when all rows are there."""
        for number, index in enumerate(_INDEXES):
            self._db.execute(f"CREATE INDEX IF NOT EXISTS index_{number} ON {index}")
        for kind, table in (("member", "member"), ("group", "tag")):  # links spell names in any case
            self._db.execute(
                f"INSERT OR IGNORE INTO alias SELECT '{kind}', lower(id), id FROM {table} WHERE id <> lower(id)"  # noqa: S608 # nosec B608 - our names
            )
        self._db.execute("UPDATE file SET is_whole = 1")

    def run(self, statement: str) -> None:
        """Run a statement of an adapter, to complete what it filled."""
        self._db.execute(statement)

    @property
    def mark(self) -> str:
        """What tells the source from others, and from itself after a change; "" before any."""
        row = self._db.execute("SELECT mark FROM file").fetchone()
        return str(row[0]) if row else ""

    @mark.setter
    def mark(self, mark: str) -> None:
        self._db.execute("INSERT OR IGNORE INTO file VALUES (1, ?, 0)", [mark])

    @property
    def is_whole(self) -> bool:
        """Whether all rows of the source are there."""
        return bool(self.count("file", "is_whole = 1"))

    def rows_to_enter(self) -> int:
        """Return how many rows the import goes through."""
        return sum(map(self.count, ("member", "article", "comment", "saved", "hidden", "follow")))

    def count(self, table: str, where: str = "1", values: Sequence[Any] = ()) -> int:
        line = f"SELECT count(*) FROM {table} WHERE {where}"  # noqa: S608 # nosec B608 - our names
        (number,) = self._db.execute(line, values).fetchone()
        return int(number)

    def rows(self, table: str, where: str = "", values: Sequence[Any] = (), *, order: str = "") -> Iterator[Any]:
        """Yield rows, which have their columns by name, as they are read."""
        clause = f" WHERE {where}" if where else ""
        line = f"SELECT * FROM {table}{clause} {order}"  # noqa: S608 # nosec B608 - our names
        for row in self._db.execute(line, values):  # noqa: UP028 - it would close the cursor, after the file
            yield row

    def articles(self) -> Iterator[Any]:
        """Yield the articles, the oldest first."""
        return self.rows("article", order=_IN_ORDER)

    def comments_of(self, article: str) -> Iterator[Any]:
        """Yield the comments of an article, the oldest first: none before the one that it replies to."""
        return self.rows("comment", "article = ?", [article], order=_IN_ORDER)

    def of(self, table: str, column: str, value: str) -> list[Any]:
        """Return the rows of a table that belong to one thing, such as the votes on an article."""
        return list(self.rows(table, f"{column} = ?", [value]))


@contextmanager
def staged(path: Path, mark: str = "") -> Iterator[Staging]:
    """Open the staging file at the path, which is made if it is not there, or if it is of another source."""
    with closing(Staging(path)) as staging:
        is_another = staging.mark not in (mark, "")
    if mark and is_another:
        drop(path)
    with closing(Staging(path)) as staging:
        if mark:
            staging.mark = mark
        yield staging


def drop(path: Path) -> None:
    """Delete the staging file at the path."""
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink()
