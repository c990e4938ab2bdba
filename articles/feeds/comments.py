"""Entries of feeds of comments."""

from collections.abc import Iterable
from typing import TypeAlias

from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _

from articles.domain.articles import Article
from articles.domain.discussion.comments import Comment
from articles.feeds.writing import Feed, Item, clean, moment

Commented: TypeAlias = tuple[Comment, Article]
"""A shown comment, and the article that it is on."""


def comment_item(feed: Feed, comment: Comment, article: Article) -> Item:
    """Return the entry of a comment."""
    page, posted = feed.site + reverse("articles:comment", args=[comment.id]), moment(comment.posted_at)
    author, title = clean(comment.author_name), clean(article.title)
    about = format_html('<a href="{}">{}</a>', feed.site + reverse("articles:article", args=[article.id]), title)
    return {
        "title": _("%(name)s on “%(title)s”") % {"name": author or _("[deleted]"), "title": title},
        "link": page,
        "comments": page,
        "description": format_html("<p>{}</p>", format_html(_("On %(article)s") % {"article": "{}"}, about)),
        "content": feed.absolute(str(comment.html)),
        "unique_id": feed.id_of(f"comment/{comment.id}", comment.posted_at),
        "unique_id_is_permalink": False,
        "pubdate": posted,
        "updateddate": posted if comment.edited_at is None else moment(comment.edited_at),
        "author_name": author or None,
        "author_link": feed.site + reverse("articles:profile", args=[author]) if author else None,
    }


def facts_of(comments: Iterable[Commented]) -> list[object]:
    """Return everything that the entries contain."""
    return [(c.id, c.html, c.author_name, c.posted_at, c.edited_at, a.title) for c, a in comments]
