"""A small server of Lemmy, with rows of every kind: in PostgreSQL with the columns of 0.19, or as its API answers.

Columns are those of crates/db_schema/src/schema.rs of github.com/LemmyNet/lemmy at 0.19.3; 0.18.5 lacks the tables
of `NOT_IN_018`. A community of another server, and what was written there, does not come.
"""

HASH = "$2b$12$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy"
NASTY = "It's a \"test\" of \\n, \\\\. and\r\n\ttabs; ''twos'', 日本語 🦞"

_TYPES = {
    "person": "id int, name varchar(255), display_name varchar(255), avatar text, banned bool DEFAULT false, "
    "published timestamptz, updated timestamptz, actor_id varchar(255), bio text, local bool DEFAULT true, "
    "private_key text, deleted bool DEFAULT false, bot_account bool DEFAULT false, ban_expires timestamptz, "
    "instance_id int DEFAULT 1",
    "local_user": "id int, person_id int, password_encrypted text, email text, email_verified bool DEFAULT false, "
    "admin bool DEFAULT false, totp_2fa_secret text",
    "site": "id int, name varchar(20), sidebar text, published timestamptz, description varchar(150), "
    "actor_id varchar(255), private_key text",
    "local_site": "id int, site_id int, private_instance bool DEFAULT false",
    "community": "id int, name varchar(255), title varchar(255), description text, removed bool DEFAULT false, "
    "published timestamptz, deleted bool DEFAULT false, nsfw bool DEFAULT false, actor_id varchar(255), "
    "local bool DEFAULT true, hidden bool DEFAULT false, visibility varchar(20) DEFAULT 'Public'",
    "post": "id int, name varchar(200), url varchar(512), body text, creator_id int, community_id int, "
    "removed bool DEFAULT false, locked bool DEFAULT false, published timestamptz, updated timestamptz, "
    "deleted bool DEFAULT false, nsfw bool DEFAULT false, ap_id varchar(255), local bool DEFAULT true",
    "post_aggregates": "post_id int, comments bigint, score bigint, upvotes bigint, downvotes bigint",
    "comment": "id int, creator_id int, post_id int, content text, removed bool DEFAULT false, published "
    "timestamptz, "
    "updated timestamptz, deleted bool DEFAULT false, ap_id varchar(255), local bool DEFAULT true, path ltree",
    "comment_aggregates": "comment_id int, score bigint, upvotes bigint, downvotes bigint",
    "post_like": "post_id int, person_id int, score smallint, published timestamptz",
    "comment_like": "person_id int, comment_id int, post_id int, score smallint, published timestamptz",
    "post_saved": "post_id int, person_id int, published timestamptz",
    "post_hide": "post_id int, person_id int, published timestamptz",
    "community_follower": "community_id int, person_id int, published timestamptz, pending bool DEFAULT false",
    "community_block": "person_id int, community_id int, published timestamptz",
    "mod_remove_post": "id int, mod_person_id int, post_id int, reason text, removed bool, when_ timestamptz",
    "mod_lock_post": "id int, mod_person_id int, post_id int, locked bool, when_ timestamptz",
    "mod_remove_comment": "id int, mod_person_id int, comment_id int, reason text, removed bool, when_ "
    "timestamptz",
    "mod_ban": "id int, mod_person_id int, other_person_id int, reason text, banned bool, expires timestamptz, "
    "when_ timestamptz",
    "comment_saved": "comment_id int, person_id int, published timestamptz",
    "community_person_ban": "community_id int, person_id int, published timestamptz, expires timestamptz",
    "mod_ban_from_community": "id int, mod_person_id int, other_person_id int, community_id int, reason text, "
    "banned bool, expires timestamptz, when_ timestamptz",
    "private_message": "id int, creator_id int, recipient_id int, content text",
}
NOT_IN_018 = ("post_hide",)

_T = "2023-07-{:02}T10:00:00.250000Z".format
ROWS = {
    "site": [
        {"id": 1, "name": "Lemmings", "description": "A place", "actor_id": "https://lemmy.example/",
         "private_key": "k"},
        {"id": 2, "name": "Other", "description": "Elsewhere", "actor_id": "https://other.example/"},
    ],
    "local_site": [{"id": 1, "site_id": 1}],
    "person": [
        {"id": 1, "name": "alice", "actor_id": "https://lemmy.example/u/alice", "bio": NASTY, "published": _T(1)},
        {"id": 2, "name": "bob", "actor_id": "https://lemmy.example/u/bob", "published": _T(2), "banned": True,
         "ban_expires": _T(30)},
        {"id": 3, "name": "alice", "actor_id": "https://other.example/u/alice", "local": False,
         "published": _T(1)},
        {"id": 4, "name": "voter", "actor_id": "https://other.example/u/voter", "local": False,
         "published": _T(1)},
        {"id": 5, "name": "gone", "actor_id": "https://lemmy.example/u/gone", "published": _T(3), "deleted": True},
    ],
    "local_user": [
        {"id": 11, "person_id": 1, "password_encrypted": HASH, "email": "alice@old.example", "admin": True},
        {"id": 12, "person_id": 2, "password_encrypted": HASH},
    ],
    "community": [
        {"id": 21, "name": "rust", "title": "Rust and crabs", "description": NASTY, "published": _T(1),
         "actor_id": "https://lemmy.example/c/rust"},
        {"id": 22, "name": "elsewhere", "title": "Elsewhere", "local": False, "published": _T(1),
         "actor_id": "https://other.example/c/elsewhere"},
        {"id": 23, "name": "closed", "title": "Removed", "removed": True, "published": _T(1),
         "actor_id": "https://lemmy.example/c/closed"},
        {"id": 24, "name": "ours", "title": "Members only", "visibility": "LocalOnly", "published": _T(1),
         "actor_id": "https://lemmy.example/c/ours"},
    ],
    "post": [
        {"id": 31, "name": "A link", "url": "https://example.com/a", "body": NASTY, "creator_id": 1,
         "community_id": 21,
         "published": _T(4), "updated": _T(5), "ap_id": "https://lemmy.example/post/31"},
        {"id": 32, "name": "From elsewhere", "body": "Text", "creator_id": 3, "community_id": 21,
         "published": _T(5),
         "locked": True, "ap_id": "https://other.example/post/9"},
        {"id": 33, "name": "Removed", "body": "Spam", "creator_id": 2, "community_id": 21, "published": _T(6),
         "removed": True, "ap_id": "https://lemmy.example/post/33"},
        {"id": 34, "name": "Deleted", "body": "", "creator_id": 5, "community_id": 21, "published": _T(7),
         "deleted": True, "ap_id": "https://lemmy.example/post/34"},
        {"id": 35, "name": "Elsewhere", "creator_id": 4, "community_id": 22, "published": _T(7),
         "ap_id": "https://other.example/post/10"},
        {"id": 36, "name": "Ours", "creator_id": 1, "community_id": 24, "published": _T(7),
         "ap_id": "https://lemmy.example/post/36"},
    ],
    "post_aggregates": [
        {"post_id": 31, "comments": 3, "score": 1, "upvotes": 2, "downvotes": 1},
        {"post_id": 32, "comments": 0, "score": 1, "upvotes": 1, "downvotes": 0},
        {"post_id": 33, "comments": 0, "score": 1, "upvotes": 1, "downvotes": 0},
        {"post_id": 34, "comments": 0, "score": 1, "upvotes": 1, "downvotes": 0},
    ],
    "comment": [
        {"id": 41, "post_id": 31, "creator_id": 2, "content": NASTY, "published": _T(8), "path": "0.41",
         "updated": _T(9), "ap_id": "https://lemmy.example/comment/41"},
        {"id": 42, "post_id": 31, "creator_id": 3, "content": "Rude", "published": _T(9), "path": "0.41.42",
         "removed": True, "ap_id": "https://other.example/comment/1"},
        {"id": 43, "post_id": 31, "creator_id": 1, "content": "Mine", "published": _T(10), "path": "0.41.42.43",
         "deleted": True, "ap_id": "https://lemmy.example/comment/43"},
        {"id": 44, "post_id": 35, "creator_id": 1, "content": "Elsewhere", "published": _T(10), "path": "0.44",
         "ap_id": "https://lemmy.example/comment/44"},
    ],
    "comment_aggregates": [
        {"comment_id": 41, "score": 0, "upvotes": 1, "downvotes": 1},
        {"comment_id": 42, "score": 1, "upvotes": 1, "downvotes": 0},
        {"comment_id": 43, "score": 1, "upvotes": 1, "downvotes": 0},
    ],
    "post_like": [
        {"post_id": 31, "person_id": 1, "score": 1, "published": _T(4)},
        {"post_id": 31, "person_id": 2, "score": -1, "published": _T(4)},
        {"post_id": 31, "person_id": 4, "score": 1, "published": _T(4)},
        {"post_id": 35, "person_id": 1, "score": 1, "published": _T(8)},
    ],
    "comment_like": [
        {"comment_id": 41, "post_id": 31, "person_id": 2, "score": 1, "published": _T(8)},
        {"comment_id": 41, "post_id": 31, "person_id": 1, "score": -1, "published": _T(9)},
        {"comment_id": 44, "post_id": 35, "person_id": 1, "score": 1, "published": _T(9)},
    ],
    "post_saved": [{"post_id": 31, "person_id": 2, "published": _T(11)}],
    "post_hide": [{"post_id": 32, "person_id": 2, "published": _T(11)}],
    "community_follower": [
        {"community_id": 21, "person_id": 1, "published": _T(3)},
        {"community_id": 21, "person_id": 4, "published": _T(3)},
        {"community_id": 21, "person_id": 2, "published": _T(3), "pending": True},
    ],
    "community_block": [{"community_id": 21, "person_id": 2, "published": _T(3)}],
    "mod_remove_post": [
        {"id": 1, "mod_person_id": 1, "post_id": 33, "reason": "Spam", "removed": True, "when_": _T(12)},
        {"id": 4, "mod_person_id": 1, "post_id": 33, "reason": "Still spam", "removed": True, "when_": _T(14)},
        {"id": 2, "mod_person_id": 1, "post_id": 31, "reason": "", "removed": True, "when_": _T(12)},
        {"id": 3, "mod_person_id": 1, "post_id": 31, "removed": False, "when_": _T(13)},
    ],
    "mod_lock_post": [{"id": 1, "mod_person_id": 1, "post_id": 32, "locked": True, "when_": _T(14)}],
    "mod_remove_comment": [
        {"id": 1, "mod_person_id": 1, "comment_id": 42, "reason": "Unkind", "removed": True, "when_": _T(15)},
    ],
    "mod_ban": [
        {"id": 1, "mod_person_id": 1, "other_person_id": 2, "reason": "Spam", "banned": True, "expires": _T(30),
         "when_": _T(16)},
        {"id": 2, "mod_person_id": 1, "other_person_id": 4, "reason": "Bot", "banned": True, "when_": _T(16)},
    ],
    "comment_saved": [{"comment_id": 41, "person_id": 1, "published": _T(11)}],
    "community_person_ban": [{"community_id": 21, "person_id": 1, "published": _T(16)}],
    "mod_ban_from_community": [
        {"id": 1, "mod_person_id": 2, "other_person_id": 1, "community_id": 21, "reason": "Rude", "banned": True,
         "when_": _T(16)},
    ],
    "private_message": [{"id": 1, "creator_id": 1, "recipient_id": 2, "content": "Secret"}],
}  # fmt: skip


def _at(day):
    return 1688169600 + (day - 1) * 86400 + 36000.25


STAGED = {
    "member": [
        ("alice", "alice", _at(1), NASTY, None, "alice@old.example", f"bcrypt${HASH}", None, None, None, 0),
        ("alice@other.example", "alice@other.example", _at(1), None, None, None, None, None, None, None, 0),
        ("bob", "bob", _at(2), None, None, None, f"bcrypt${HASH}", _at(16), "Spam", _at(30), 0),
        ("gone", "gone", _at(3), None, None, None, None, None, None, None, 1),
    ],
    "tag": [("rust", "Rust and crabs", NASTY)],
    "article": [
        ("31", "A link", "https://example.com/a", NASTY, "alice", _at(4), 2, 1, None, _at(5), None, None, None),
        ("32", "From elsewhere", None, "Text", "alice@other.example", _at(5), 1, 0, None, None, None,
         "Locked by a moderator.", None),
        ("33", "Removed", None, "Spam", "bob", _at(6), 1, 0, None, None, "Still spam", None, None),
        ("34", "Deleted", None, "", "gone", _at(7), 1, 0, None, None, "Withdrawn by its author.", None, None),
    ],
    "article_tag": [("31", "rust"), ("32", "rust"), ("33", "rust"), ("34", "rust")],
    "comment": [
        ("41", "31", None, "bob", _at(8), NASTY, 1, 1, None, _at(9), None, 0, None),
        ("42", "31", "41", "alice@other.example", _at(9), "Rude", 1, 0, None, None, "Unkind", 0, None),
        ("43", "31", "42", "alice", _at(10), "", 1, 0, None, None, None, 1, None),
    ],
    "vote": [
        ("alice", None, "41", -1, _at(9)), ("alice", "31", None, 1, _at(4)), ("bob", None, "41", 1, _at(8)),
        ("bob", "31", None, -1, _at(4)),
    ],
    "saved": [("bob", "31", _at(11))],
    "hidden": [("bob", "32")],
    "follow": [("alice", "rust", 0), ("bob", "rust", 1)],
    "log": [
        (_at(12), "alice", "remove", "31", None, None, None),
        (_at(12), "alice", "remove", "33", None, None, "Spam"),
        (_at(13), "alice", "restore", "31", None, None, None),
        (_at(14), "alice", "lock", "32", None, None, None),
        (_at(14), "alice", "remove", "33", None, None, "Still spam"),
        (_at(15), "alice", "remove-comment", None, "42", None, "Unkind"),
        (_at(16), "alice", "ban", None, None, "bob", "Spam"),
    ],
}  # fmt: skip
"""What has to be staged of it, row by row, in the order of the first columns."""


def lemmy_sql(*, of_018=False):
    """Return it as SQL for PostgreSQL; times of 0.18 have no time zone."""
    lines = ["CREATE EXTENSION IF NOT EXISTS ltree;"]
    for table, columns in _TYPES.items():
        if of_018 and table in NOT_IN_018:
            continue
        typed = columns.replace("timestamptz", "timestamp") if of_018 else columns
        lines.append(f"CREATE TABLE {table} ({typed});")
        for row in ROWS[table]:
            values = ", ".join(
                f"'{value}'" if isinstance(value, bool) else "NULL" if value is None else _quoted(value)
                for value in row.values()
            )
            lines.append(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({values});")
    return "\n".join(lines)


def _quoted(value):
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"


# The API tells no votes, saved posts, addresses or passwords, and only what everybody may read.


def _whole(table, row):
    own = {
        part.split()[0]: {"false": False, "true": True}.get(part.split()[-1]) for part in _TYPES[table].split(", ")
    }
    return {name: value for name, value in {**own, **row}.items() if value is not None and "private" not in name}


def _one(table, key, number):
    return next((_whole(table, row) for row in ROWS[table] if row[key] == number), None)


def _is_public(row):
    return not (row.get("removed") or row.get("deleted") or "visibility" in row) and row.get("local", True)


def _views(kind):
    """Yield the views of a list of the API, the oldest first."""
    people, posts = (lambda number: _one("person", "id", number)), (lambda number: _one("post", "id", number))
    if kind == "community":
        yield from ({"community": _whole("community", row), "counts": {"community_id": row["id"]}}
                    for row in ROWS["community"] if _is_public(row))  # fmt: skip
    elif kind == "post":
        yield from ({"post": _whole("post", row), "creator": people(row["creator_id"]), "saved": False,
                     "community": _one("community", "id", row["community_id"]),
                     "counts": _one("post_aggregates", "post_id", row["id"])}
                    for row in ROWS["post"] if _is_public(row) and row["community_id"] == 21)  # fmt: skip
    else:
        yield from ({"comment": {**_whole("comment", row), **({"content": ""} if row.get("deleted") else {})},
                     "creator": people(row["creator_id"]), "post": posts(row["post_id"]),
                     "community": _one("community", "id", 21),
                     "counts": _one("comment_aggregates", "comment_id", row["id"])}
                    for row in ROWS["comment"] if row["post_id"] == 31)  # fmt: skip


def api_page(path, query):
    """Return what the API answers to a request, whose query is a dict of texts."""
    first, most = (int(query.get("page", 1)) - 1) * int(query.get("limit", 10)), int(query.get("limit", 10))
    if path == "site":
        return {"site_view": {"site": _whole("site", ROWS["site"][0]), "local_site": {"id": 1, "site_id": 1}}}
    if path == "modlog":
        log = {}
        for table, key, other in (
            ("mod_remove_post", "removed_posts", "post"),
            ("mod_lock_post", "locked_posts", "post"),
            ("mod_remove_comment", "removed_comments", "comment"),
            ("mod_ban", "banned", "banned_person"),
        ):
            log[key] = [
                {table: row, "moderator": _one("person", "id", row["mod_person_id"]),
                 other: _one(other.removeprefix("banned_"), "id",
                 row.get("other_person_id") or row.get(f"{other}_id"))}
                for row in ROWS[table][first : first + most]
            ]  # fmt: skip
        return log
    kind = path.removesuffix("/list")
    return {{"community": "communities"}.get(kind, f"{kind}s"): [*_views(kind)][first : first + most]}


def at_times_later(seconds):
    """Return SQL that moves all times."""
    return "\n".join(
        f"UPDATE {table} SET {column} = {column} + interval '{seconds} seconds';"
        for table, columns in _TYPES.items()
        for part in columns.split(", ")
        if " timestamptz" in part and (column := part.split()[0])
    )
