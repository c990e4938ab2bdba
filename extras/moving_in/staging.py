"""What a source has, in one form: an SQLite file that an adapter fills, and that the import reads in its order.

A source has its rows in any order, and a million comments do not fit into memory. Ids are those of the source, as
text; times are Unix seconds. What a source does not know is NULL.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

TABLES: Mapping[str, str] = {
    "site": "name, url, description",
    "member": "id PRIMARY KEY, name, joined, about, inviter, address, password, banned_at, ban_reason, ban_ends, "
    "is_deleted",
    "tag": "id PRIMARY KEY, title, description",
    "article": "id PRIMARY KEY, title, link, text, author, time, votes, opposes, closes, edited, removed, locked, "
    "path",
    "article_tag": "article, tag, PRIMARY KEY (article, tag)",
    "comment": "id PRIMARY KEY, article, parent, author, time, text, votes, opposes, closes, edited, removed, "
    "is_deleted, path",
    "vote": "member, article, comment, value, time",
    "saved": "member, article, time",
    "hidden": "member, article",
    "follow": "member, tag, is_hidden",
    "log": "time, actor, action, article, comment, member, reason",
    "alias": "kind, old_id, id, PRIMARY KEY (kind, old_id)",
    "bad": "place, reason",
}
"""Columns by table.

`member.password` is as Django keeps it, such as `bcrypt$$2a$10$…`. `article.author` and `comment.author` are a
member's id, or NULL if it is unknown. `votes` and `opposes` are counts; without `opposes`, `votes` is net.
`removed` and `locked` are reasons. `path` is an address that no pattern of the format reads. `vote.value` is 1 or
-1; `follow.is_hidden` is 1 for a tag that the member hides. `log.action` is a word of the moderation log, such as
`remove-comment`. `alias` has further old ids of what is here by `id`, such as a former name or an article that was
merged into another; its kind is a `Kind`. `bad` has what the adapter could not read: where, such as
`posts.csv:12`, and why.
"""

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
def staged(path: Path) -> Iterator[Staging]:
    """Open the staging file at the path, which is made if it is not there."""
    staging = Staging(path)
    try:
        yield staging
    finally:
        staging.close()
