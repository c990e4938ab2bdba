"""Servers of Lemmy 0.18 and 0.19: a dump of their PostgreSQL, the server, or the public API of version 3.

Tables and columns are those of crates/db_schema/src/schema.rs of github.com/LemmyNet/lemmy; the API's objects have
the same names. Addresses are those of routes.ts of LemmyNet/lemmy-ui and of the server's feeds. What comes are
the server's own communities, with all that was written in them; people of other servers have their host after
their name.
"""

import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from extras.moving_in.models import Kind
from extras.moving_in.sources import BadSource, Format, old_addresses
from extras.moving_in.sources.rows import Rows
from extras.moving_in.sources.tables import connected, create, opened, stage
from extras.moving_in.staging import Staging
from outgoing.fetching import Fetch, NotFetched, checked
from outgoing.posting import WORLD, pause_in

_LOG = "id INTEGER PRIMARY KEY, mod_person_id INTEGER, reason, when_"
_WANTED = {
    "person": "id INTEGER PRIMARY KEY, name, actor_id, local, bio, published, banned, ban_expires, deleted",
    "local_user": "person_id INTEGER, email, password_encrypted",
    "community": "id INTEGER PRIMARY KEY, name, title, description, local, removed, deleted, visibility",
    "post": "id INTEGER PRIMARY KEY, name, url, body, creator_id INTEGER, community_id INTEGER, published, "
    "updated, removed, deleted, locked",
    "post_aggregates": "post_id INTEGER PRIMARY KEY, upvotes INTEGER, downvotes INTEGER",
    "comment": "id INTEGER PRIMARY KEY, content, creator_id INTEGER, post_id INTEGER, path, published, updated, "
    "removed, deleted",
    "comment_aggregates": "comment_id INTEGER PRIMARY KEY, upvotes INTEGER, downvotes INTEGER",
    "post_like": "person_id INTEGER, post_id INTEGER, score INTEGER, published",
    "comment_like": "person_id INTEGER, comment_id INTEGER, score INTEGER, published",
    "post_saved": "person_id INTEGER, post_id INTEGER, published",
    "post_hide": "person_id INTEGER, post_id INTEGER",
    "community_follower": "person_id INTEGER, community_id INTEGER, pending",
    "community_block": "person_id INTEGER, community_id INTEGER",
    "mod_remove_post": f"{_LOG}, post_id INTEGER, removed",
    "mod_remove_comment": f"{_LOG}, comment_id INTEGER, removed",
    "mod_lock_post": f"{_LOG}, post_id INTEGER, locked",
    "mod_ban": f"{_LOG}, other_person_id INTEGER, banned",
}

# `here`: what comes. `who`: the people who come: all who have an account there, and others who wrote.
_TABLES = """
CREATE TEMP TABLE group_here AS SELECT id, name FROM community
    WHERE truth(local) AND NOT truth(removed) AND NOT truth(deleted) AND coalesce(visibility, '') <> 'LocalOnly';
CREATE UNIQUE INDEX temp.by_group ON group_here (id);
CREATE TEMP TABLE here AS SELECT post.id FROM post JOIN group_here g ON g.id = community_id;
CREATE UNIQUE INDEX temp.by_post ON here (id);
CREATE TEMP TABLE comment_here AS SELECT comment.id FROM comment JOIN here ON here.id = post_id;
CREATE UNIQUE INDEX temp.by_comment ON comment_here (id);
CREATE TEMP TABLE because AS SELECT action, thing, nullif(reason, '') AS reason, when_, max(id) FROM (
    SELECT 'remove' AS action, post_id AS thing, id, reason, when_, removed AS is_done FROM mod_remove_post
    UNION ALL SELECT 'lock', post_id, id, reason, when_, locked FROM mod_lock_post
    UNION ALL SELECT 'remove-comment', comment_id, id, reason, when_, removed FROM mod_remove_comment
    UNION ALL SELECT 'ban', other_person_id, id, reason, when_, banned FROM mod_ban
    ) WHERE truth(is_done) GROUP BY action, thing;
CREATE UNIQUE INDEX temp.by_thing ON because (action, thing);
CREATE TEMP TABLE who AS
    SELECT id, CASE WHEN truth(local) THEN name ELSE name || '@' || host(actor_id) END AS name FROM person
    WHERE truth(local) OR id IN (
        SELECT creator_id FROM post JOIN here USING (id)
        UNION SELECT creator_id FROM comment JOIN comment_here USING (id));
CREATE UNIQUE INDEX temp.by_person ON who (id);
"""

_QUERIES = (
    ("member", """
    SELECT who.name AS id, who.name AS name, unix(p.published) AS joined, p.bio AS about, u.email AS address,
        'bcrypt$' || u.password_encrypted AS password,
        iif(truth(p.banned), coalesce(unix(b.when_), unix(p.published)), NULL) AS banned_at,
        iif(truth(p.banned), unix(p.ban_expires), NULL) AS ban_ends, b.reason AS ban_reason,
        truth(p.deleted) AS is_deleted
    FROM who JOIN person p USING (id) LEFT JOIN local_user u ON u.person_id = p.id
        LEFT JOIN because b ON b.action = 'ban' AND b.thing = p.id"""),
    ("tag", "SELECT c.name AS id, c.title AS title, description FROM community c JOIN group_here USING (id)"),
    ("article", """
    SELECT CAST(p.id AS TEXT) AS id, p.name AS title, p.url AS link, p.body AS text, who.name AS author,
        unix(p.published) AS time, coalesce(a.upvotes, 0) AS votes, coalesce(a.downvotes, 0) AS opposes,
        CASE WHEN unix(p.updated) > unix(p.published) THEN unix(p.updated) END AS edited,
        CASE WHEN truth(p.removed) THEN coalesce(r.reason, 'Removed by a moderator.')
            WHEN truth(p.deleted) THEN 'Withdrawn by its author.' END AS removed,
        CASE WHEN truth(p.locked) THEN coalesce(l.reason, 'Locked by a moderator.') END AS locked
    FROM post p JOIN here USING (id) LEFT JOIN who ON who.id = p.creator_id
        LEFT JOIN post_aggregates a ON a.post_id = p.id
        LEFT JOIN because r ON r.action = 'remove' AND r.thing = p.id
        LEFT JOIN because l ON l.action = 'lock' AND l.thing = p.id"""),
    ("article_tag", """
    SELECT CAST(p.id AS TEXT) AS article, g.name AS tag
    FROM post p JOIN group_here g ON g.id = p.community_id"""),
    ("comment", """
    SELECT CAST(c.id AS TEXT) AS id, CAST(c.post_id AS TEXT) AS article, parent(c.path) AS parent,
        who.name AS author, unix(c.published) AS time, iif(truth(c.deleted), '', c.content) AS text,
        coalesce(a.upvotes, 0) AS votes, coalesce(a.downvotes, 0) AS opposes,
        CASE WHEN unix(c.updated) > unix(c.published) THEN unix(c.updated) END AS edited,
        CASE WHEN truth(c.removed) THEN coalesce(r.reason, 'Removed by a moderator.') END AS removed,
        truth(c.deleted) AS is_deleted
    FROM comment c JOIN comment_here USING (id) LEFT JOIN who ON who.id = c.creator_id
        LEFT JOIN comment_aggregates a ON a.comment_id = c.id
        LEFT JOIN because r ON r.action = 'remove-comment' AND r.thing = c.id"""),
    ("vote", """
    SELECT name AS member, CAST(post_id AS TEXT) AS article, NULL AS comment, score AS value,
        unix(published) AS time
    FROM post_like JOIN here ON here.id = post_id JOIN who ON who.id = person_id WHERE score IN (1, -1)
    UNION ALL SELECT name, NULL, CAST(comment_id AS TEXT), score, unix(published)
    FROM comment_like JOIN comment_here c ON c.id = comment_id JOIN who ON who.id = person_id
    WHERE score IN (1, -1)"""),
    ("saved", """
    SELECT name AS member, CAST(post_id AS TEXT) AS article, unix(published) AS time
    FROM post_saved JOIN here ON here.id = post_id JOIN who ON who.id = person_id"""),
    ("hidden", """
    SELECT name AS member, CAST(post_id AS TEXT) AS article
    FROM post_hide JOIN here ON here.id = post_id JOIN who ON who.id = person_id"""),
    ("follow", """
    SELECT who.name AS member, g.name AS tag, 0 AS is_hidden
    FROM community_follower JOIN group_here g ON g.id = community_id JOIN who ON who.id = person_id
    WHERE NOT truth(pending)
    UNION ALL SELECT who.name, g.name, 1
    FROM community_block JOIN group_here g ON g.id = community_id JOIN who ON who.id = person_id"""),
    ("log", """
    SELECT unix(when_) AS time, coalesce(a.name, '~') AS actor, action, article, comment, member,
        nullif(reason, '') AS reason FROM (
        SELECT when_, mod_person_id AS by, reason, iif(truth(removed), 'remove', 'restore') AS action,
            CAST(post_id AS TEXT) AS article, NULL AS comment, NULL AS member
        FROM mod_remove_post JOIN here ON here.id = post_id
        UNION ALL SELECT when_, mod_person_id, reason, iif(truth(locked), 'lock', 'unlock'), CAST(post_id AS TEXT),
            NULL, NULL FROM mod_lock_post JOIN here ON here.id = post_id
        UNION ALL SELECT when_, mod_person_id, reason, iif(truth(removed), 'remove-comment', 'restore-comment'),
            NULL, CAST(comment_id AS TEXT), NULL FROM mod_remove_comment JOIN comment_here c ON c.id = comment_id
        UNION ALL SELECT when_, mod_person_id, reason, iif(truth(banned), 'ban', 'lift-ban'), NULL, NULL, m.name
        FROM mod_ban JOIN who m ON m.id = other_person_id
    ) LEFT JOIN who a ON a.id = by ORDER BY time"""),
)  # fmt: skip


def fill(source: str, staging: Staging, _options: Mapping[str, Any], reach: Callable[[int], object]) -> None:
    if not source.startswith(("https://", "http://")):
        needed = ("person", "community", "post", "comment", "post_like", "comment_like")
        with opened(source, _WANTED, needed, reach) as db:
            _stage(db, Rows(staging, reach))
        return
    # What was read stays until all is there: a run that was interrupted goes on where it was.
    answers = staging.path.with_name(f"{staging.path.name}-answers")
    with closing(connected(str(answers))) as db:
        create(db, {**_WANTED, "reached": "list PRIMARY KEY, page INTEGER"})
        _read(source, db, reach)
        _stage(db, Rows(staging, lambda _: None))
    answers.unlink()


def _stage(db: sqlite3.Connection, rows: Rows) -> None:
    db.create_function("parent", 1, _parent, deterministic=True)
    db.create_function("host", 1, lambda address: "".join(str(address).split("/")[2:3]), deterministic=True)
    db.executescript(_TABLES)
    stage(db, rows, _QUERIES)


def _parent(path: object) -> str | None:
    """Return the comment that one replies to, by its path, such as 0.12.345; None for the article."""
    above = str(path).split(".")[-2:-1]
    return above[0] if above and above[0] != "0" else None


PAUSE_SECONDS = 0.4  # between requests: a server allows 180 in a minute, unless its administrators say otherwise
_SECONDS = 30.0  # for one answer: a server skips the posts before a page one by one
_RETRIES, _MOST, _PARTS = 6, 50, 5  # _MOST things on a page, or a fifth and a twenty-fifth where texts are long


_LISTS = (
    "community/list?type_=Local&sort=Old&show_nsfw=true", "post/list?type_=Local&sort=Old&show_nsfw=true",
    "comment/list?type_=Local&sort=Old", "modlog?type_=All",
)  # fmt: skip
_PEOPLE = ("creator", "moderator", "commenter", "banned_person")  # objects of `person`


def _read(source: str, db: sqlite3.Connection, reach: Callable[[int], object]) -> None:
    """Copy the lists of an API into tables, whose rows are replaced by newer ones. Raises BadSource."""
    base = f"{source.rstrip('/').removesuffix('/api/v3')}/api/v3"
    try:
        _asked(f"{base}/site")["site_view"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BadSource(f"{base} is not the API of a Lemmy server.") from None
    for each in _LISTS:
        (page,) = db.execute("SELECT coalesce(max(page), 0) FROM reached WHERE list = ?", [each]).fetchone()
        before = None
        while views := list(_page(base, each, page + 1, _MOST)):
            if views == before:
                raise BadSource(f"{base}/{each} answers with the same page again and again.")
            db.execute("BEGIN")
            for view in views:
                _insert(db, view)
            page, before = page + 1, views
            db.execute("INSERT OR REPLACE INTO reached VALUES (?, ?)", [each, page])
            db.execute("COMMIT")
            reach(len(views))


def _insert(db: sqlite3.Connection, view: Mapping[str, Any]) -> None:
    """Put the objects of a view into their tables."""
    counts = "comment_aggregates" if "comment" in view else "post_aggregates" if "post" in view else ""
    for name, found in view.items():
        table = counts if name == "counts" else "person" if name in _PEOPLE else name
        if table not in _WANTED or not isinstance(found, dict):
            continue
        columns = [column for part in _WANTED[table].split(", ") if (column := part.split()[0]) in found]
        values = [one if isinstance(one := found[column], bool | None) else str(one) for column in columns]
        line = f"INSERT OR REPLACE INTO {table} ({', '.join(columns)})"
        db.execute(f"{line} VALUES ({', '.join('?' * len(columns))})", values)  # nosec B608 - our names


def _page(base: str, of: str, page: int, most: int) -> Iterator[dict[str, Any]]:
    """Yield the views of a page, in several requests if their texts are too long for one answer."""
    try:
        found = _asked(f"{base}/{of}&limit={most}&page={page}")
    except (ValueError, RecursionError):
        if most < _PARTS:
            raise BadSource(f"{base}/{of} answers with something that is no JSON, or too long.") from None
        for part in range(_PARTS):
            yield from _page(base, of, (page - 1) * _PARTS + part + 1, most // _PARTS)
        return
    for views in found.values() if isinstance(found, dict) else ():  # one list, or one for each kind of the log
        yield from (view for view in views if isinstance(view, dict)) if isinstance(views, list) else ()


def _asked(address: str) -> Any:
    """Return what an address answers, which is JSON, after a pause; errors are tried again. Raises BadSource."""
    host = urlsplit(address).hostname or ""
    pause, problem = PAUSE_SECONDS, ""
    for attempt in range(_RETRIES):
        time.sleep(pause)
        try:
            url = checked(address, private_hosts=[host])  # the operator named it
            fetch = Fetch(WORLD, settings.USER_AGENT, seconds=_SECONDS, private_hosts=[host])
            answer = fetch.request(url, {"Accept": "application/json"})
        except NotFetched as error:
            problem, pause = str(error), 2.0**attempt
            continue
        if answer.status == 200:
            return json.loads(answer.body)
        problem, pause = str(answer.status), pause_in(answer) or PAUSE_SECONDS * 4**attempt
        if answer.status not in (400, 429) and answer.status < 500:  # 0.18 refuses with 400 what is too often
            break
    raise BadSource(f"{address} cannot be read ({problem}). Run the command again later: it goes on where it was.")


_NAME = r"([\w.-]+(?:@[\w.:-]+)?)"
_END = r"(?:\W.*)?"  # a page, a view or a query, and what ends a sentence

FORMAT = Format(
    fill,
    old_addresses(
        (Kind.COMMENT, rf"/post/\d+/(?:comment/)?(\d+){_END}", ""),
        (Kind.ARTICLE, rf"/post/(\d+){_END}", ""),
        (Kind.COMMENT, rf"/comment/(\d+){_END}", ""),
        (Kind.MEMBER, rf"/u/{_NAME}{_END}", ""),
        (Kind.GROUP, rf"/c/{_NAME}{_END}", ""),
        (Kind.GROUP, rf"/feeds/c/{_NAME}\.xml{_END}", "rss"),
        (Kind.MEMBER, rf"/feeds/u/{_NAME}\.xml{_END}", "rss"),
    ),
    {
        "/feeds/all.xml": "/feeds/front.rss", "/feeds/local.xml": "/feeds/front.rss", "/communities": "/groups/",
        "/create_post": "/post/", "/search": "/search/", "/inbox": "/inbox/", "/modlog": "/moderation/",
        "/legal": "/about/", "/home": "/",
    },
)  # fmt: skip
