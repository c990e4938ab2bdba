"""What changed since a client last asked, so that a mirror can follow the site."""

import json
from hashlib import blake2b

from django.http import HttpRequest
from django.utils.translation import gettext as _
from ninja import Query
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from articles.api import schemas
from articles.api.comments import Comment
from articles.api.protocol import cursors
from articles.api.protocol.operations import failing, router
from articles.api.protocol.problems import Problem
from articles.configuration import choices
from articles.domain import comments as domain
from articles.domain.articles import Article
from articles.domain.comments import article_of
from articles.repository import Changed, ChangesLostError, Repository
from articles.web.wiring import repository

MOST = 50  # changes in a response: each may have a text of 80 KB, and HTML of 200 KB


class ChangesQuery(schemas.Model):
    """Since when."""

    since: str | SkipJsonSchema[None] = None
    """next_since of the previous response. Without it, the response has next_since, but no changes."""


class Change(schemas.Model):
    """An article or a comment that changed, as it is now."""

    time: float = Field(description="When it changed last, in Unix seconds.")
    article_id: int
    comment_id: int | None = Field(description="Null if the article changed.")
    article: schemas.WholeArticle | None = Field(
        description="Null if a comment changed, or if you cannot see the article."
    )
    comment: Comment | None
    """Null if the article changed, or if you cannot see the comment. It has no text once it is removed or deleted;
    depth, replies and cut are 0."""


class ChangeLog(schemas.Model):
    """Changes, the earliest first."""

    changes: list[Change] = Field(description="At most 50, each article and each comment once.")
    next_since: str = Field(description="The parameter since for what follows.")
    has_next: bool = Field(description="Whether more changes follow at once; if not, ask again later.")
    groups_changed: bool
    """Whether groups were created, renamed, described or merged, or have other readers: read them again."""


@router.get("changes", response=failing(410))
def list_changes(request: HttpRequest, query: Query[ChangesQuery]) -> ChangeLog:  # noqa: ARG001 - ninja's
    """What changed.

    Articles and comments that were posted, edited, removed, restored, merged or locked, and articles that were
    voted on, each as it is now, without your own choices. The changes of the ten seconds before a response come
    again in the next one. If since is too old, or if a group got other readers, the response is 410: read
    everything again, with a new since.
    """
    repo, state = repository(), cursors.since_in(request)
    seen_by = _digest([repo.changes.get_copy(), repo.changes.get_closed()])
    groups = _digest_of_groups(repo)
    place, known = ((state["at"], state["last"]), state["groups"]) if state else (None, groups)
    try:
        if state and state["seen_by"] != seen_by:
            raise ChangesLostError
        part = repo.changes.read_part(place, MOST)
    except ChangesLostError:
        message = _("What changed since then is no longer known. Read everything again, with a new “since”.")
        raise Problem(410, "changes-lost", message) from None
    at, last = part.place
    following = {"seen_by": seen_by, "at": at, "last": last, "groups": groups}
    return ChangeLog(
        changes=[_described(*one) for one in repo.changes.read_changed(part.changed)],
        next_since=cursors.next_since(request, following),
        has_next=part.has_next,
        groups_changed=known != groups,
    )


def _described(one: Changed, article: Article | None, comment: domain.Comment | None) -> Change:
    return Change(
        time=one.at,
        article_id=article_of(one.id) if one.is_comment else one.id,
        comment_id=one.id if one.is_comment else None,
        article=schemas.WholeArticle.of(article) if article else None,
        comment=Comment.of(comment) if comment else None,
    )


def _digest_of_groups(repo: Repository) -> str:
    """Return a digest of all that the reader sees of the groups, but for their articles. Two round trips."""
    titles, descriptions = repo.groups.get_titles(), repo.groups.get_descriptions()
    for_members = choices.closed_groups()
    return _digest([[one, titles[one], descriptions.get(one, ""), one in for_members] for one in sorted(titles)])


def _digest(value: object) -> str:
    return blake2b(json.dumps(value).encode(), digest_size=8).hexdigest()
