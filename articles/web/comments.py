"""The acts of authors on comments: each has one function, which pages and the API call.

It checks who may, takes the limits, changes the store, and notifies the members whom a text mentions. What happens
at every comment, edit or deletion belongs here.
"""

from contextlib import suppress
from functools import partial

from django.http import HttpRequest

from articles.domain.articles import ArticleId
from articles.domain.comments import Comment, CommentId
from articles.domain.errors import ArticleRemoved, CommentNotFound
from articles.domain.members import UserId
from articles.web import limits
from articles.web.hiding import Topic
from articles.web.identity import actor, writer
from articles.web.mentions import NO_AUDIENCE, audience_of
from articles.wiring import repository


def post(request: HttpRequest, article_id: ArticleId, text: str, parent: CommentId | None) -> CommentId:
    """Post a comment with a clean text. Raises Banned, LimitReached, and the errors of `Comments.post`."""
    author = writer(request, lambda: repository().articles.get(article_id).groups)
    limits.take_comment(request)
    replied_to: list[UserId] = []
    if parent is not None:
        with suppress(CommentNotFound, ArticleRemoved):  # posting raises them
            replied_to = [repository().comments.get(parent).author]
    audience = audience_of(request, text, partial(_topic, article_id), article_id, replied_to=replied_to)
    return repository().comments.post(
        article_id,
        author.id,
        author.name,
        text,
        parent=parent,
        mentioned=audience.mentioned,
        spared=audience.spared,
    )


def _topic(article_id: ArticleId) -> Topic:
    article = repository().articles.get(article_id)
    return Topic(article.title, article.link, article.groups, article.id, article.poster)


def edit(request: HttpRequest, before: Comment, text: str) -> None:
    """Change the text of the member's comment. Raises Banned, LimitReached, and the errors of `Comments.edit`."""
    author = writer(request, lambda: repository().articles.get(before.article).groups)
    limits.take_edit(request)
    topic = partial(_topic, before.article)
    audience = audience_of(request, text, topic, before.article, before=before.text)
    repository().comments.edit(
        before.id, author.id, text, mentioned=audience.mentioned, unmentioned=audience.unmentioned
    )


def delete(request: HttpRequest, comment_id: CommentId) -> None:
    """Delete the member's comment, even on a removed article. Neither a ban nor a lock forbids it.

    Raises the errors of `Comments.delete`.
    """
    comments, author = repository().comments, actor(request).id
    audience = NO_AUDIENCE
    with suppress(ArticleRemoved):  # its notices are hidden with it
        before = comments.get(comment_id, author)
        topic = partial(_topic, before.article)
        audience = audience_of(request, "", topic, before.article, before=before.text)
    comments.delete(comment_id, author, unmentioned=audience.unmentioned)
