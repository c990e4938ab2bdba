"""Files of other sites with rows of every kind, and what has to be staged of each, row by row."""

import json

from extras.moving_in.tests.readme import block

T = 1_367_424_000  # 2013-05-01 16:00 UTC


def written(path, items):
    path.write_text("".join(f"{json.dumps(item)}\n" for item in items), "utf-8")
    return path


def members(*names):
    return [(name, name, *(None,) * 9) for name in names]


SUBMISSION = {"id": "abc", "title": "A &amp; B", "author": "Ann", "created_utc": T, "score": 12,
              "subreddit": "py", "url": "https://a.example/?a=1&amp;b=2", "is_self": False, "selftext": "",
              "edited": False}  # fmt: skip
COMMENT = {"id": "c1", "link_id": "t3_abc", "parent_id": "t3_abc", "author": "Bob", "created_utc": T + 5,
           "score": -3, "body": "1 &lt; 2", "edited": T + 60}  # fmt: skip
REDDIT = [
    SUBMISSION,
    SUBMISSION | {"id": "self", "is_self": True, "url": "https://www.reddit.com/r/py/comments/self/x/",
                  "selftext": "*Hi*", "created_utc": str(T + 1), "link_flair_text": "News",
                  "edited": T + 9, "locked": True},
    SUBMISSION | {"id": "bare", "is_self": True, "author": "[deleted]", "created_utc": T + 2},
    SUBMISSION | {"id": "rem", "is_self": True, "selftext": "[removed]", "score": 0, "created_utc": T + 3},
    SUBMISSION | {"id": "spam", "removed_by_category": "moderator", "created_utc": T + 1},
    SUBMISSION | {"id": "own", "removed_by_category": "deleted", "created_utc": T + 2},
    COMMENT,
    COMMENT | {"id": "c2", "parent_id": "t1_c1", "body": "[removed]", "author": "[deleted]", "edited": False},
    COMMENT | {"id": "c3", "parent_id": "t1_c2", "body": "[deleted]", "edited": True},
    COMMENT | {"id": "c4", "parent_id": "t1_lost"},
    COMMENT | {"id": "c5", "link_id": "t3_lost"},
    COMMENT | {"id": "c1", "body": "Edited", "score": 4},
]  # fmt: skip
_LINK, _BY_MODS, _BY_AUTHOR = "https://a.example/?a=1&b=2", "Removed by moderators.", "Deleted by its author."
REDDIT_STAGED = {
    "member": members("Ann", "Bob"),
    "tag": [("News", "News", None), ("py", "py", None)],
    "alias": [("group", "news", "News"), ("member", "ann", "Ann"), ("member", "bob", "Bob")],
    "article": [
        ("abc", "A & B", _LINK, "", "Ann", T, 12, None, None, None, None, None, None),
        ("bare", "A & B", "", "A & B", None, T + 2, 12, None, None, None, None, None, None),
        ("own", "A & B", _LINK, "", "Ann", T + 2, 12, None, None, None, _BY_AUTHOR, None, None),
        ("rem", "A & B", "", "[removed]", "Ann", T + 3, 0, None, None, None, _BY_MODS, None, None),
        ("self", "A & B", "", "*Hi*", "Ann", T + 1, 12, None, None, T + 9, None, "Locked on Reddit.", None),
        ("spam", "A & B", _LINK, "", "Ann", T + 1, 12, None, None, None, _BY_MODS, None, None),
    ],
    "article_tag": [
        ("abc", "py"), ("bare", "py"), ("own", "py"), ("rem", "py"), ("self", "News"), ("self", "py"),
        ("spam", "py"),
    ],
    "comment": [
        ("c1", "abc", None, "Bob", T + 5, "Edited", 4, None, None, T + 60, None, 0, None),
        ("c2", "abc", "c1", None, T + 5, "", -3, None, None, None, _BY_MODS, 0, None),
        ("c3", "abc", "c2", "Bob", T + 5, "", -3, None, None, None, None, 1, None),
        ("c4", "abc", "lost", "Bob", T + 5, "1 < 2", -3, None, None, T + 60, None, 0, None),
        ("lost", "abc", None, None, T + 4.999, "", None, None, None, None, None, 1, None),
    ],
    "bad": [("comment c5", "Its article is missing.")],
}  # fmt: skip

STORY = {"id": 1, "type": "story", "by": "ann", "time": T, "title": "Hello", "url": "https://a.example/",
         "score": 7}  # fmt: skip
REPLY = {"id": 3, "type": "comment", "by": "bob", "time": T + 9, "parent": 2,
         "text": 'a <i>b</i> *c*<p><a href="https:&#x2F;&#x2F;x.example">x</a>'}  # fmt: skip
NEWS = [
    REPLY,
    {"id": 2, "type": "comment", "deleted": True, "time": T + 5, "parent": 1},
    {"id": 4, "type": "comment", "by": "bob", "dead": True, "time": T + 9, "parent": 1, "text": "No"},
    {"id": 5, "type": "comment", "by": "bob", "time": T, "parent": 99, "text": "Lost"},
    {"id": 6, "type": "comment", "by": "bob", "time": T, "parent": 6, "text": "Circle"},
    STORY,
    STORY | {"id": 10, "url": None, "text": "Ask &amp; tell", "dead": True},
    {"id": 11, "type": "story", "deleted": True, "time": T},
    STORY | {"id": 12, "type": "poll", "url": None, "text": None, "parts": [13], "time": T + 1},
    {"id": 13, "type": "pollopt", "by": "ann", "time": T + 1, "poll": 12, "text": "Yes", "score": 3},
    STORY | {"id": 14, "type": "job", "by": None, "score": 1, "time": T + 2},
    {"id": "ann", "created": T - 100, "karma": 5, "about": "I<p>am"},
]
_DEAD = "Dead on Hacker News."
NEWS_STAGED = {
    "member": [("ann", "ann", T - 100, "I\n\nam", *(None,) * 7), *members("bob")],
    "article": [
        ("1", "Hello", "https://a.example/", "", "ann", T, 7, None, None, None, None, None, None),
        ("10", "Hello", "", "Ask &amp; tell", "ann", T, 7, None, None, None, _DEAD, None, None),
        ("11", "[deleted]", "", "[deleted]", None, T, None, None, None, None, _BY_AUTHOR, None, None),
        ("12", "Hello", "", "Hello", "ann", T + 1, 7, None, None, None, None, None, None),
        ("14", "Hello", "https://a.example/", "", None, T + 2, 1, None, None, None, None, None, None),
    ],
    "comment": [
        ("13", "12", None, "ann", T + 1, "Yes", 3, None, None, None, None, 0, None),
        ("2", "1", None, None, T + 5, "", None, None, None, None, None, 1, None),
        ("3", "1", "2", "bob", T + 9, "a *b* \\*c\\*\n\n[x](https://x.example)", *(None,) * 5, 0, None),
        ("4", "1", None, "bob", T + 9, "No", None, None, None, None, _DEAD, 0, None),
    ],
    "bad": [("comment 5", "Its article is missing."), ("comment 6", "Its article is missing.")],
}

MAPPING = block("From anything else", "toml")
POSTS = (
    "\ufeffnumber,headline,url,body,who,created,labels,address\r\n"
    f'1,"A ""quoted"", title",https://a.example/,,ann,{T}500,one | two,/2013/a.html\r\n'
    f'2,Text,,"<b>two</b>\r\nlines",,{T}000,,\r\n'
)
TALK = [
    {"kind": "reply", "id": 7, "on": 1, "by": {"name": "bob"}, "at": "2013-05-01T18:00:01+02:00", "text": "Hi"},
    {"kind": "like", "id": 8},
    {"kind": "reply", "id": 9, "on": 2, "by": None, "at": "2013-05-01 16:00:00", "text": "UTC"},
    {"kind": "reply", "id": 11, "on": 2, "below": 9, "at": T + 3, "text": "Below"},
    {"kind": "reply", "id": 10, "on": 2, "at": "yesterday"},
]
LINES_STAGED = {
    "member": members("ann", "bob"),
    "tag": [("one", "one", None), ("two", "two", None)],
    "article": [
        ("1", 'A "quoted", title', "https://a.example/", "", "ann", T + 0.5, 1, *(None,) * 5, "/2013/a.html"),
        ("2", "Text", None, "**two** lines", None, T, 1, *(None,) * 6),
    ],
    "article_tag": [("1", "one"), ("1", "two")],
    "comment": [
        ("11", "2", "9", None, T + 3, "Below", *(None,) * 7),
        ("7", "1", None, "bob", T + 1, "Hi", *(None,) * 7),
        ("9", "2", None, None, T, "UTC", *(None,) * 7),
    ],
    "bad": [("talk.jsonl:5", "The time is neither a number nor ISO 8601.")],
}

BEGIN = (
    '<?xml version="1.0"?><rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel>'
)
RSS = f"""{BEGIN}<title>Blog</title><link>https://old.example/</link>
<item><title>Fish &amp;amp; &lt;b&gt;chips&lt;/b&gt;</title>
<link>https://www.blog.example/2013/caf%C3%A9?p=%C3%A9</link><guid>7</guid><author>ann@old.example (Ann)</author>
<category>Food</category><pubDate>Wed, 01 May 2013 16:00:00 GMT</pubDate><description>Short</description>
<content:encoded><![CDATA[<p>Whole <b>text</b><script>x</script>]]></content:encoded></item>
<item><title>Elsewhere</title><link>https://a.example/</link><author>bob@old.example</author>
<pubDate>Wed, 01 May 2013 18:00:00 +0200</pubDate></item>
<item><description>No title, no link</description></item></channel></rss>"""
FEED_STAGED = {
    "member": members("Ann"),
    "tag": [("Food", "Food", None)],
    "alias": [("group", "food", "Food"), ("member", "ann", "Ann")],
    "article": [
        ("7", "Fish & chips", None, "Whole **text**", "Ann", T, 1, *(None,) * 5, "/2013/café?p=%C3%A9"),
        ("https://a.example/", "Elsewhere", "https://a.example/", "", None, T, 1, *(None,) * 6),
    ],
    "article_tag": [("7", "Food")],
    "bad": [("entry 3", "The field 'id' of the article is missing.")],
}


def write_files(folder):
    """Write the files that the commands of the README name."""
    for name in ("dumps", "tables"):
        (folder / name).mkdir()
    written(folder / "dumps/RC.jsonl", REDDIT)
    written(folder / "items.jsonl", NEWS)
    (folder / "map.toml").write_text(MAPPING, "utf-8")
    (folder / "tables/posts.csv").write_text(POSTS, "utf-8", newline="")
    written(folder / "tables/talk.jsonl", TALK)
    (folder / "feed.xml").write_text(RSS, "utf-8")
