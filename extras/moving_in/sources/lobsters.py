"""Sites that run the code of lobsters: their SQLite file, a dump of their MariaDB or MySQL, or its server.

Tables and columns are those of db/schema.rb of github.com/lobsters/lobsters from 2014 to 2026: `is_expired` became
`is_deleted`, `upvotes` became `score`, a name that a member gave up is in `usernames`. Addresses are those of its
config/routes.rb. Messages, notes of moderators, flags and hats stay behind.
"""

from collections.abc import Callable, Mapping
from typing import Any

from extras.moving_in.models import Kind
from extras.moving_in.sources import Format, old_addresses
from extras.moving_in.sources.rows import Rows
from extras.moving_in.sources.tables import opened, stage
from extras.moving_in.staging import Staging

_WANTED = {
    "users": "id INTEGER PRIMARY KEY, username, email, password_digest, created_at, about, "
    "invited_by_user_id INTEGER, banned_at, banned_reason, deleted_at",
    "usernames": "username, user_id INTEGER",
    "stories": "id INTEGER PRIMARY KEY, short_id, user_id INTEGER, created_at, title, url, description, "
    "is_deleted, is_expired, score INTEGER, upvotes INTEGER, merged_story_id INTEGER, last_edited_at",
    "comments": "id INTEGER PRIMARY KEY, short_id, story_id INTEGER, parent_comment_id INTEGER, user_id INTEGER, "
    "created_at, updated_at, last_edited_at, comment, is_deleted, is_moderated, score INTEGER, upvotes INTEGER",
    "votes": "user_id INTEGER, story_id INTEGER, comment_id INTEGER, vote INTEGER, updated_at",
    "tags": "id INTEGER PRIMARY KEY, tag, description",
    "taggings": "story_id INTEGER, tag_id INTEGER",
    "tag_filters": "user_id INTEGER, tag_id INTEGER",
    "hidden_stories": "user_id INTEGER, story_id INTEGER",
    "saved_stories": "user_id INTEGER, story_id INTEGER, created_at",
    "moderations": "id INTEGER PRIMARY KEY, created_at, moderator_user_id INTEGER, story_id INTEGER, "
    "comment_id INTEGER, user_id INTEGER, action, reason",
}

# `place`: the story that has a story's discussion, after up to 20 merges. `removal`: why moderators deleted.
_TABLES = """
CREATE TEMP TABLE place AS
    WITH RECURSIVE walk (story_id, at, merges) AS (
        SELECT id, id, 0 FROM stories
        UNION ALL SELECT story_id, merged_story_id, merges + 1 FROM walk JOIN stories ON id = at
        WHERE merged_story_id <> 0 AND merges < 20
    )
    SELECT walk.story_id, short_id AS article, walk.story_id <> at AS is_merged
    FROM walk JOIN stories ON id = at WHERE merged_story_id IS NULL;
CREATE UNIQUE INDEX temp.by_story ON place (story_id);
CREATE TEMP TABLE removal AS
    SELECT story_id, comment_id, nullif(reason, '') AS reason, max(id) FROM moderations
    WHERE ' ' || action LIKE '% deleted story%' OR action = 'deleted comment' GROUP BY story_id, comment_id;
CREATE TEMP TABLE merged AS
    SELECT article, char(10, 10) || group_concat('[' || title || '](' || url || ')', char(10, 10)) AS links
    FROM (SELECT * FROM place JOIN stories ON id = story_id WHERE is_merged AND url <> '' ORDER BY id)
    GROUP BY article;
"""

_QUERIES = (
    ("member", """
    SELECT u.username AS id, u.username AS name, unix(u.created_at) AS joined, u.about AS about,
        i.username AS inviter, u.email AS address, 'bcrypt$' || u.password_digest AS password,
        unix(u.banned_at) AS banned_at, u.banned_reason AS ban_reason, u.deleted_at IS NOT NULL AS is_deleted
    FROM users u LEFT JOIN users i ON i.id = u.invited_by_user_id WHERE u.username <> ''"""),
    ("alias", """
    SELECT 'member' AS kind, n.username AS old_id, u.username AS id
    FROM usernames n JOIN users u ON u.id = n.user_id
    WHERE lower(n.username) NOT IN (SELECT lower(username) FROM users)
    UNION ALL
    SELECT 'article', short_id, article FROM place JOIN stories ON id = story_id WHERE is_merged"""),
    ("tag", "SELECT tag AS id, tag AS title, description FROM tags"),
    ("article", """
    SELECT s.short_id AS id, s.title AS title, s.url AS link, u.username AS author, unix(s.created_at) AS time,
        coalesce(s.description, '') || coalesce(m.links, '') AS text,
        max(0, coalesce(v.votes, s.upvotes, s.score, 0)) AS votes, 0 AS opposes,
        CASE WHEN unix(s.last_edited_at) > unix(s.created_at) + 60 THEN unix(s.last_edited_at) END AS edited,
        CASE WHEN NOT truth(coalesce(s.is_deleted, s.is_expired)) THEN NULL
            WHEN r.story_id IS NOT NULL THEN coalesce(r.reason, 'Removed by a moderator.')
            ELSE 'Withdrawn by its author.' END AS removed
    FROM stories s LEFT JOIN users u ON u.id = s.user_id LEFT JOIN merged m ON m.article = s.short_id
        LEFT JOIN (SELECT story_id, count(*) AS votes FROM votes WHERE comment_id IS NULL AND vote = 1
            GROUP BY story_id) v ON v.story_id = s.id
        LEFT JOIN removal r ON r.story_id = s.id AND r.comment_id IS NULL
    WHERE s.merged_story_id IS NULL"""),
    ("article_tag", """
    SELECT article, tag FROM taggings JOIN place p USING (story_id) JOIN tags ON tags.id = tag_id
    WHERE NOT p.is_merged"""),
    ("comment", """
    SELECT c.short_id AS id, article, parent.short_id AS parent, u.username AS author, unix(c.created_at) AS time,
        CASE WHEN truth(c.is_deleted) > truth(c.is_moderated) THEN '' ELSE c.comment END AS text,
        max(0, coalesce(v.votes, c.upvotes, c.score, 0)) AS votes, 0 AS opposes,
        CASE WHEN unix(coalesce(c.last_edited_at, c.updated_at)) > unix(c.created_at) + 60
            THEN unix(coalesce(c.last_edited_at, c.updated_at)) END AS edited,
        CASE WHEN truth(c.is_moderated) THEN coalesce(r.reason, 'Removed by a moderator.') END AS removed,
        truth(c.is_deleted) > truth(c.is_moderated) AS is_deleted
    FROM comments c JOIN place p ON p.story_id = c.story_id LEFT JOIN users u ON u.id = c.user_id
        LEFT JOIN comments parent ON parent.id = c.parent_comment_id
        LEFT JOIN (SELECT comment_id, count(*) AS votes FROM votes WHERE vote = 1
            GROUP BY comment_id) v ON v.comment_id = c.id
        LEFT JOIN removal r ON r.comment_id = c.id"""),
    ("vote", """
    SELECT u.username AS member, CASE WHEN v.comment_id IS NULL THEN p.article END AS article,
        c.short_id AS comment, 1 AS value, unix(v.updated_at) AS time
    FROM votes v JOIN users u ON u.id = v.user_id JOIN place p ON p.story_id = v.story_id
        LEFT JOIN comments c ON c.id = v.comment_id
    WHERE v.vote = 1 AND (v.comment_id IS NULL AND NOT p.is_merged OR c.id IS NOT NULL)"""),
    ("saved", """
    SELECT DISTINCT u.username AS member, article, unix(s.created_at) AS time
    FROM saved_stories s JOIN users u ON u.id = s.user_id JOIN place p USING (story_id)"""),
    ("hidden", """
    SELECT DISTINCT u.username AS member, article
    FROM hidden_stories s JOIN users u ON u.id = s.user_id JOIN place p USING (story_id)"""),
    ("follow", """
    SELECT DISTINCT u.username AS member, tag, 1 AS is_hidden
    FROM tag_filters f JOIN users u ON u.id = f.user_id JOIN tags t ON t.id = f.tag_id"""),
    ("log", """
    SELECT time, actor, action, article, comment, member, reason FROM (
        SELECT unix(m.created_at) AS time, coalesce(a.username, '*') AS actor, p.article AS article,
            c.short_id AS comment, u.username AS member, CASE
                WHEN m.action = 'deleted comment' THEN 'remove-comment'
                WHEN m.action = 'undeleted comment' THEN 'restore-comment'
                WHEN ' ' || m.action LIKE '% deleted story%' THEN 'remove'
                WHEN ' ' || m.action LIKE '% undeleted story%' THEN 'restore'
                WHEN p.article IS NOT NULL AND m.comment_id IS NULL THEN 'edit'
                WHEN u.id IS NOT NULL AND m.action = 'Banned' THEN 'ban'
                WHEN u.id IS NOT NULL AND m.action = 'Unbanned' THEN 'lift-ban'
            END AS action,
            CASE WHEN m.story_id IS NOT NULL AND m.action NOT LIKE '%deleted story%'
                THEN rtrim(m.action || ': ' || coalesce(m.reason, ''), ': ') ELSE m.reason END AS reason
        FROM moderations m LEFT JOIN users a ON a.id = m.moderator_user_id LEFT JOIN users u ON u.id = m.user_id
            LEFT JOIN place p ON p.story_id = m.story_id LEFT JOIN comments c ON c.id = m.comment_id
    ) WHERE action IS NOT NULL ORDER BY time"""),
)  # fmt: skip


def fill(source: str, staging: Staging, _options: Mapping[str, Any], reach: Callable[[int], object]) -> None:
    with opened(source, _WANTED, ("users", "stories", "comments"), reach) as db:
        db.executescript(_TABLES)
        stage(db, Rows(staging, reach), _QUERIES)


_END = r"(?:\W.*)?"  # a title, a format, a page or a query, and what ends a sentence
_MEMBER = r"(?!page\b)([A-Za-z0-9][A-Za-z0-9_-]{0,24})"

FORMAT = Format(
    fill,
    old_addresses(
        (Kind.COMMENT, rf"/s/\w+/[^/?]+/comments/(\w+){_END}", ""),
        (Kind.ARTICLE, rf"/s(?:tories)?/(?!url/|new\b)(\w+){_END}", ""),
        (Kind.COMMENT, rf"/c(?:omments)?/(?!page\b)(\w+){_END}", ""),
        (Kind.GROUP, r"/t/([^,./?]+)(?:,[^./?]*)?\.rss(?:\?.*)?", "rss"),
        (Kind.GROUP, r"/t/([^,./?]+)(?:[,./?].*)?", ""),
        (Kind.MEMBER, rf"/~{_MEMBER}/stories\.rss(?:\?.*)?", "rss"),
        (Kind.MEMBER, rf"/(?:~|@|u/|newest/|threads/){_MEMBER}{_END}", ""),
    ),
    {
        "/rss": "/feeds/front.rss", "/newest.rss": "/feeds/newest.rss", "/active.rss": "/feeds/active.rss",
        "/comments.rss": "/feeds/comments.rss", "/comments/rss": "/feeds/comments.rss", "/top": "/top/",
        "/top.rss": "/feeds/top/all.rss", "/top/rss": "/feeds/top/all.rss", "/hottest": "/", "/newest": "/newest/",
        "/recent": "/newest/", "/recent.rss": "/feeds/newest.rss", "/page": "/", "/users": "/invitations/",
        "/active": "/active/", "/search": "/search/", "/tags": "/groups/",
        "/filters": "/hidden/", "/saved": "/mine/saved/", "/upvoted": "/mine/voted/", "/inbox": "/inbox/",
        "/replies": "/inbox/", "/moderations": "/moderation/", "/stories/new": "/post/", "/about": "/about/",
    },
)  # fmt: skip
