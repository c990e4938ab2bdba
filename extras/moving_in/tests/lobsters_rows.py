"""A small site of lobsters, with rows of every kind, in the columns of its schema of 2026, 2018 or in MariaDB.

Columns are those of db/schema.rb of github.com/lobsters/lobsters; what a version does not have is left out.
"""

import sqlite3
from contextlib import closing

HASH = "$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy"
NASTY = "It's a \"test\"\\n of 'quotes', (brackets); \\'escapes\\\\\r\n\ttabs, 日本語 🦞 and ''twos''"

COLUMNS = {
    "users": "id username email password_digest created_at is_admin password_reset_token session_token about "
    "invited_by_user_id is_moderator karma banned_at banned_by_user_id banned_reason deleted_at settings "
    "show_email",
    "usernames": "id username user_id created_at renamed_away_at",
    "stories": "id created_at user_id url normalized_url title description short_id is_deleted score flags "
    "is_moderated "
    "hotness markeddown_description comments_count merged_story_id user_is_author last_edited_at token",
    "comments": "id created_at updated_at short_id story_id confidence_order user_id parent_comment_id "
    "thread_id comment "
    "score flags confidence markeddown_comment is_deleted is_moderated is_from_email hat_id last_edited_at",
    "votes": "id user_id story_id comment_id vote reason updated_at",
    "tags": "id tag description privileged is_media active hotness_mod",
    "taggings": "id story_id tag_id",
    "tag_filters": "id created_at updated_at user_id tag_id",
    "hidden_stories": "id user_id story_id created_at",
    "saved_stories": "id created_at updated_at user_id story_id",
    "moderations": "id created_at updated_at moderator_user_id story_id comment_id user_id action reason tag_id",
    "messages": "id created_at author_user_id recipient_user_id subject body short_id",
}
IN_2018 = {
    "is_deleted": "is_expired",
    "score": "upvotes",
    "flags": "downvotes",
}  # of stories; comments: the last two
NOT_IN_2018 = ("last_edited_at", "normalized_url", "token", "show_email", "confidence_order")

_T = "2020-01-{:02} 10:00:00".format
ROWS = {
    "users": [
        {"id": 1, "username": "Alice", "email": "alice@old.example", "password_digest": HASH, "created_at": _T(1),
         "about": NASTY, "is_admin": 1, "session_token": "secret"},
        {"id": 2, "username": "bob-2", "email": "bob@old.example", "password_digest": HASH, "created_at": _T(2),
         "invited_by_user_id": 1, "banned_at": _T(20), "banned_by_user_id": 1, "banned_reason": "Spam"},
        {"id": 3, "username": "carol", "email": "carol@old.example", "password_digest": HASH, "created_at": _T(3),
         "invited_by_user_id": 2, "deleted_at": _T(21)},
    ],
    "usernames": [
        {"id": 1, "username": "Alice", "user_id": 1, "created_at": _T(5)},
        {"id": 2, "username": "alicia", "user_id": 1, "created_at": _T(1), "renamed_away_at": _T(5)},
    ],
    "stories": [
        {"id": 11, "short_id": "aaaaa1", "user_id": 1, "created_at": _T(4), "title": NASTY[:60],
         "description": NASTY,
         "url": "", "score": 3, "flags": 1, "last_edited_at": "2020-01-04 12:00:00"},
        {"id": 12, "short_id": "bbbbb2", "user_id": 2, "created_at": _T(5), "title": "Removed", "is_deleted": 1,
         "is_moderated": 1, "url": "https://example.com/removed", "score": 1, "last_edited_at": _T(5)},
        {"id": 13, "short_id": "ccccc3", "user_id": 2, "created_at": _T(6), "title": "Withdrawn", "is_deleted": 1,
         "url": "https://example.com/withdrawn", "score": 1, "last_edited_at": _T(6)},
        {"id": 14, "short_id": "ddddd4", "user_id": 3, "created_at": _T(7), "title": "Merged",
         "merged_story_id": 15,
         "url": "https://example.com/merged", "score": 1, "last_edited_at": _T(7)},
        {"id": 15, "short_id": "eeeee5", "user_id": 3, "created_at": _T(7), "title": "Merged too",
         "merged_story_id": 11, "url": "https://example.com/too", "score": 1, "last_edited_at": _T(7)},
    ],
    "comments": [
        {"id": 21, "short_id": "xaaaaa", "story_id": 11, "user_id": 2, "thread_id": 1, "comment": NASTY,
         "created_at": _T(8), "updated_at": "2020-01-08 11:00:00", "last_edited_at": "2020-01-08 11:00:00"},
        {"id": 22, "short_id": "xbbbbb", "story_id": 11, "user_id": 1, "parent_comment_id": 21, "thread_id": 1,
         "comment": "Their own", "is_deleted": 1, "created_at": _T(9), "updated_at": _T(9),
         "last_edited_at": _T(9)},
        {"id": 23, "short_id": "xccccc", "story_id": 11, "user_id": 3, "parent_comment_id": 22, "thread_id": 1,
         "comment": "Rude", "is_deleted": 1, "is_moderated": 1, "created_at": _T(10), "updated_at": _T(10),
         "last_edited_at": _T(10)},
        {"id": 24, "short_id": "xddddd", "story_id": 14, "user_id": 1, "thread_id": 2,
         "comment": "On the merged one",
         "created_at": _T(11), "updated_at": _T(11), "last_edited_at": _T(11)},
    ],
    "votes": [
        {"id": 31, "user_id": 1, "story_id": 11, "vote": 1, "reason": "", "updated_at": _T(12)},
        {"id": 32, "user_id": 2, "story_id": 11, "vote": 1, "reason": "", "updated_at": _T(12)},
        {"id": 33, "user_id": 3, "story_id": 11, "vote": -1, "reason": "S", "updated_at": _T(12)},
        {"id": 34, "user_id": 1, "story_id": 11, "comment_id": 21, "vote": 1, "reason": "", "updated_at": _T(13)},
        {"id": 35, "user_id": 3, "story_id": 11, "comment_id": 21, "vote": -1, "reason": "U",
         "updated_at": _T(13)},
        {"id": 36, "user_id": 1, "story_id": 14, "vote": 1, "reason": "", "updated_at": _T(13)},
    ],
    "tags": [
        {"id": 41, "tag": "programming", "description": "Use when nothing else applies", "active": 1},
        {"id": 42, "tag": "c++", "active": 1}, {"id": 43, "tag": "unused", "active": 0},
    ],
    "taggings": [
        {"id": 1, "story_id": 11, "tag_id": 41}, {"id": 2, "story_id": 11, "tag_id": 42},
        {"id": 3, "story_id": 12, "tag_id": 42}, {"id": 4, "story_id": 14, "tag_id": 43},
    ],
    "tag_filters": [{"id": 1, "user_id": 2, "tag_id": 42, "created_at": _T(14), "updated_at": _T(14)}],
    "hidden_stories": [{"id": 1, "user_id": 2, "story_id": 11}],
    "saved_stories": [{"id": 1, "user_id": 3, "story_id": 15, "created_at": _T(15), "updated_at": _T(15)}],
    "moderations": [
        {"id": 51, "created_at": _T(16), "moderator_user_id": 1, "story_id": 12, "action": "deleted story",
         "reason": "Off-topic"},
        {"id": 52, "created_at": _T(17), "moderator_user_id": 1, "comment_id": 23, "action": "deleted comment",
         "reason": "Unkind"},
        {"id": 53, "created_at": _T(18), "story_id": 11, "action": 'changed title from "A" to "B"', "reason": ""},
        {"id": 54, "created_at": _T(19), "moderator_user_id": 1, "comment_id": 22, "action": "undeleted comment"},
        {"id": 55, "created_at": _T(20), "moderator_user_id": 1, "user_id": 2, "action": "Banned",
         "reason": "Spam"},
        {"id": 56, "created_at": _T(22), "moderator_user_id": 1, "tag_id": 42, "action": "Created new tag c++"},
    ],
    "messages": [{"id": 61, "author_user_id": 1, "recipient_user_id": 2, "subject": "Private", "body": "Secret"}],
}  # fmt: skip


def _day(day, hour=10):
    return 1577836800 + (day - 1) * 86400 + hour * 3600


STAGED = {
    "member": [
        ("Alice", "Alice", _day(1), NASTY, None, "alice@old.example", f"bcrypt${HASH}", None, None, None, 0),
        ("bob-2", "bob-2", _day(2), None, "Alice", "bob@old.example", f"bcrypt${HASH}", _day(20), "Spam", None, 0),
        ("carol", "carol", _day(3), None, "bob-2", "carol@old.example", f"bcrypt${HASH}", None, None, None, 1),
    ],
    "alias": [("article", "ddddd4", "aaaaa1"), ("article", "eeeee5", "aaaaa1"), ("member", "alice", "Alice"),
              ("member", "alicia", "Alice")],
    "tag": [("c++", "c++", None), ("programming", "programming", "Use when nothing else applies"),
            ("unused", "unused", None)],
    "article": [
        ("aaaaa1", NASTY[:60], "", f"{NASTY}\n\n[Merged](https://example.com/merged)\n\n[Merged too]"
         "(https://example.com/too)", "Alice", _day(4), 2, 0, None, _day(4, 12), None, None, None),
        ("bbbbb2", "Removed", "https://example.com/removed", "", "bob-2", _day(5), 1, 0, None, None,
         "Off-topic", None,
         None),
        ("ccccc3", "Withdrawn", "https://example.com/withdrawn", "", "bob-2", _day(6), 1, 0, None, None,
         "Withdrawn by its author.", None, None),
    ],
    "article_tag": [("aaaaa1", "c++"), ("aaaaa1", "programming"), ("bbbbb2", "c++")],
    "comment": [
        ("xaaaaa", "aaaaa1", None, "bob-2", _day(8), NASTY, 1, 0, None, _day(8, 11), None, 0, None),
        ("xbbbbb", "aaaaa1", "xaaaaa", "Alice", _day(9), "", 1, 0, None, None, None, 1, None),
        ("xccccc", "aaaaa1", "xbbbbb", "carol", _day(10), "Rude", 1, 0, None, None, "Unkind", 0, None),
        ("xddddd", "aaaaa1", None, "Alice", _day(11), "On the merged one", 1, 0, None, None, None, 0, None),
    ],
    "vote": [
        ("Alice", None, "xaaaaa", 1, _day(13)), ("Alice", "aaaaa1", None, 1, _day(12)),
        ("bob-2", "aaaaa1", None, 1, _day(12)),
    ],
    "saved": [("carol", "aaaaa1", _day(15))],
    "hidden": [("bob-2", "aaaaa1")],
    "follow": [("bob-2", "c++", 1)],
    "log": [
        (_day(16), "Alice", "remove", "bbbbb2", None, None, "Off-topic"),
        (_day(17), "Alice", "remove-comment", None, "xccccc", None, "Unkind"),
        (_day(18), "*", "edit", "aaaaa1", None, None, 'changed title from "A" to "B"'),
        (_day(19), "Alice", "restore-comment", None, "xbbbbb", None, None),
        (_day(20), "Alice", "ban", None, None, "bob-2", "Spam"),
    ],
}  # fmt: skip
"""What has to be staged of it, row by row, in the order of the first columns."""


def lobsters_sqlite(path, *, of_2018=False):
    """Write it as an SQLite file of the schema of 2026, or with the names of columns of 2018."""
    with closing(sqlite3.connect(path)) as db:
        for table, names in COLUMNS.items():
            if of_2018 and table == "usernames":
                continue
            columns = [name for name in names.split() if not (of_2018 and name in NOT_IN_2018)]
            renamed = {} if not of_2018 or table not in ("stories", "comments") else IN_2018
            if table == "comments":
                renamed = {old: new for old, new in renamed.items() if old != "is_deleted"}
            db.execute(f"CREATE TABLE {table} ({', '.join(map(_typed, (renamed.get(n, n) for n in columns)))})")
            for row in ROWS[table]:
                own = {
                    renamed.get(name, name): value for name, value in _whole(table, row).items() if name in columns
                }
                db.execute(
                    f"INSERT INTO {table} ({', '.join(own)}) VALUES ({', '.join('?' * len(own))})", [*own.values()]
                )
        db.commit()


def lobsters_mysql():
    """Return it as SQL for MariaDB, with the types of the schema of 2024."""
    lines = ["CREATE DATABASE lobsters DEFAULT CHARACTER SET utf8mb4;", "USE lobsters;"]
    for table, names in COLUMNS.items():
        columns = ", ".join(f"`{name}` {_mysql(name)}" for name in names.split())
        lines.append(f"CREATE TABLE `{table}` ({columns}, PRIMARY KEY (`id`));")
        for row in ROWS[table]:
            own = _whole(table, row)
            values = ", ".join(
                "NULL" if value is None else str(value) if isinstance(value, int) else f"X'{value.encode().hex()}'"
                for value in own.values()
            )
            lines.append(f"INSERT INTO `{table}` ({', '.join(own)}) VALUES ({values});")
    return "\n".join(lines)


def _whole(table, row):
    """Return a row with the values that Rails gives where it has none."""
    defaults = {"is_deleted": 0, "is_moderated": 0} if table in ("stories", "comments") else {}
    if table == "stories":
        defaults |= {"flags": 0}
    if table == "comments":
        defaults |= {"score": 1, "flags": 0}
    return {**defaults, **row}


def _typed(name):
    if name == "id":
        return "id integer PRIMARY KEY AUTOINCREMENT NOT NULL"
    kind = _mysql(name).split("(")[0].split()[0]
    return f'"{name}" {kind.replace("tinyint", "boolean")}'


def _mysql(name):
    if name == "id" or (name.endswith("_id") and name != "short_id"):
        return (
            "bigint(20) unsigned NOT NULL AUTO_INCREMENT" if name == "id" else "bigint(20) unsigned DEFAULT NULL"
        )
    if name.startswith(("is_", "show_", "user_is")) or name in ("active", "vote", "privileged"):
        return "tinyint(1) DEFAULT NULL"
    if name.endswith("_at"):
        return "datetime DEFAULT NULL"
    if name in ("score", "flags", "karma", "comments_count", "upvotes", "downvotes"):
        return "int(11) DEFAULT 0"
    if name == "confidence_order":
        return "binary(3) DEFAULT X'ff005c'"
    return (
        "varchar(250) DEFAULT NULL"
        if name not in ("comment", "description", "about")
        else "mediumtext DEFAULT NULL"
    )
