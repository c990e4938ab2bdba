"""Read, post, edit and withdraw articles; read the moderation log."""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from ninja import Query, Status
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from accounts.models import MODERATE, POST
from accounts.moderators import EDIT_ANY_ARTICLE
from articles.api import schemas
from articles.api.groups import check_groups, slugs_of
from articles.api.protocol import cursors
from articles.api.protocol.operations import (
    AUTHORS,
    EDITORS,
    ArticleNumber,
    check_scope,
    failing,
    may,
    possible_page,
    router,
)
from articles.api.protocol.problems import Problem
from articles.domain import members, moderation_log as log
from articles.domain.articles import CONTENT, Article
from articles.domain.errors import HeldForApproval, NotThePoster
from articles.text.lines import clean_reason
from articles.web import articles, rights
from articles.web.forms.articles import clean_content
from articles.web.identity import reader_id
from articles.web.wiring import repository


class LogEntry(schemas.Model):
    """An entry in the moderation log."""

    action: log.Action | str = Field(description="Unknown ones are of another version of the site.")
    time: float = Field(description="When it was done, in Unix seconds.")
    actor: str = Field(
        description="Name of the member who did it; empty for the operator, the site itself and deleted accounts."
    )
    rule: str = Field(description="Name of the automatic rule that did it; else empty.")
    article_id: int | None = Field(description="Null if it is not about an article.")
    title: str = Field(
        description="Title of the article or the group at that time; name of the member or the host."
    )
    reason: str = Field(description="Empty if none was given.")
    details: dict[str, str]
    """What changed, by name: the previous title or link, whether the text was added, changed or removed, the
    groups added and removed, and so on."""

    @classmethod
    def of(cls, entry: log.LogEntry) -> "LogEntry":
        return schemas.made(
            cls,
            entry,
            time=entry.at,
            actor="" if entry.actor_name == members.DELETED_NAME or entry.rule else entry.actor_name,
            article_id=entry.article_id or None,
            details={name: value for name, value in entry.details.items() if value},
        )


class LogPage(schemas.NumberedPage):
    """One page of the moderation log, newest first."""

    entries: list[LogEntry]
    searched_to: float | None = Field(
        description="With a filter, the time of the oldest entry that it looked at, in Unix seconds; null without."
    )

    @classmethod
    def of(cls, request: HttpRequest, page: log.LogPage, number: int | None) -> "LogPage":
        entries = [LogEntry.of(entry) for entry in page.entries]
        following = cursors.next_after(request, page.rest) if page.has_next and page.rest else None
        to = page.searched_to or None
        return schemas.made(cls, page, entries=entries, page=number, next_after=following, searched_to=to)


class LogQuery(schemas.PageQuery):
    """Which part of the moderation log."""

    action: log.Action | SkipJsonSchema[None] = Field(
        None, description="Only entries of this action.", examples=["ban"]
    )
    actor: str = Field("", max_length=60, description="Only what this member did.")
    member: str = Field(
        "", max_length=60, description="Only actions on this member, or on what the member posted."
    )
    group: str = Field("", max_length=60)
    """Only actions on this group, by its slug, or on articles that are in it now."""

    @property
    def wanted(self) -> log.LogFilter:
        return log.LogFilter(self.action, self.actor, self.member, self.group)


@router.get("articles/{article_id:article_id}")
def read_article(request: HttpRequest, article_id: ArticleNumber) -> schemas.WholeArticle:
    """One article. Removed articles stay available, with the reason for their removal."""
    return schemas.WholeArticle.of(repository().articles.get(article_id, reader_id(request), with_html=True))


@router.patch("articles/{article_id:article_id}", response=failing(409), auth=EDITORS)
def edit_article(request: HttpRequest, article_id: ArticleNumber, edit: schemas.Edit) -> schemas.WholeArticle:
    """Edit an article.

    Changes the title, the link, the text, the groups, or several of them. You can edit your own article for a few
    minutes after posting (then the response is 409 editing-closed); moderators can edit any article at any time,
    except for its groups. Idempotent.
    """
    reader = reader_id(request)
    before = repository().articles.get(article_id, reader, with_text=True)
    is_own = before.poster == reader
    moderator = rights.may(request.user, EDIT_ANY_ARTICLE) and (is_own or edit.groups is None)
    if moderator and (edit.reason or not is_own):
        check_scope(request, MODERATE)
    moderator = moderator and may(request, MODERATE)
    if not moderator or edit.groups is not None:
        check_scope(request, POST)
    if not moderator and not is_own:
        raise NotThePoster
    if edit.reason and not moderator:
        raise Problem(400, "invalid", _("Only moderators can give a reason."))
    if all(getattr(edit, name) is None for name in (*CONTENT, "groups")):
        raise Problem(400, "invalid", _("Send a title, a link, a text or groups."))
    content = clean_content(edit, before)
    reason = clean_reason(edit.reason) if edit.reason else ""
    join, leave = _changes_of_groups(edit, before)
    articles.edit(request, before, content, join=join, leave=leave, as_moderator=moderator, reason=reason)
    return read_article(request, article_id)


@router.delete("articles/{article_id:article_id}", response=failing(409), auth=AUTHORS)
def withdraw_article(request: HttpRequest, article_id: ArticleNumber) -> schemas.Article:
    """Withdraw your article.

    Removes your own article from every list, for a few minutes after posting (then the response is 409
    withdrawing-closed). Its link can be posted again; moderators can restore the article. Idempotent.
    """
    articles.withdraw(request, article_id)
    return schemas.Article.of(repository().articles.get(article_id, reader_id(request)))


@router.get("articles/{article_id:article_id}/log")
def read_article_log(request: HttpRequest, article_id: ArticleNumber, query: Query[schemas.AfterQuery]) -> LogPage:
    """Moderation history of an article. The entries about one article in the moderation log, newest first."""
    repo, (rest,) = repository(), cursors.state_in(request) or (None,)
    page = repo.moderation_log.get_for_article(repo.articles.get(article_id).id, rest)
    return LogPage.of(request, page, 1 if query.after is None else None)


@router.get("log")
def read_log(request: HttpRequest, query: Query[LogQuery]) -> LogPage:
    """The moderation log.

    Every edit, removal, restoration, lock and ban, and every change to groups, ranking and blocked hosts. With a
    filter, a response can have few entries, or none, and others follow: it looks at a limited number.
    """
    moderation_log, rest = repository().moderation_log, cursors.state_in(request)
    number, wanted = possible_page(query.page), query.wanted
    if wanted and number > 1:
        raise Problem(400, "invalid", _("With a filter, the log has no page numbers: use “after”."))
    page = moderation_log.get_page(number) if number > 1 else moderation_log.find(wanted, rest)
    return LogPage.of(request, page, query.number)


def _changes_of_groups(edit: schemas.Edit, before: Article) -> tuple[list[str], list[str]]:
    """Return the groups to join, and the groups to leave. Raises InvalidInput, Problem."""
    if edit.groups is None:
        return [], []
    repo, slugs = repository(), slugs_of(edit.groups)
    most = max(repo.rules.max_groups_by_poster, len(before.groups))
    check_groups(slugs, {*repo.groups.get_titles(), *before.groups}, at_most=most)
    return [slug for slug in slugs if slug not in before.groups], [s for s in before.groups if s not in slugs]


_LOCATION = {"Location": {"description": "The article's address in the API.", "schema": {"type": "string"}}}


@router.post(
    "articles",
    response={200: schemas.PostedArticle, 202: schemas.Waiting},
    auth=AUTHORS,
    openapi_extra={"responses": {201: {"headers": _LOCATION}, 200: {"headers": _LOCATION}}},
)
def post_article(
    request: HttpRequest, response: HttpResponse, article: schemas.NewArticle
) -> Status[schemas.PostedArticle]:
    """Post an article.

    Your own vote is its first. It needs a link, a text, or both. If the link was posted recently, the response is
    that article, with 200 instead of 201, and nothing is added. If an automatic rule holds it for approval, the
    response is 202.
    """
    repo, content = repository(), clean_content(article)
    groups = slugs_of(article.groups)
    check_groups(groups, repo.groups.get_titles(), at_most=repo.rules.max_groups_by_poster)
    try:
        posted = articles.post(request, content, groups)
    except HeldForApproval as held:
        waiting: Status[schemas.PostedArticle] = schemas.Waiting.answer(held)
        return waiting
    response["Location"] = reverse("api:read_article", args=[posted.id])
    stored = repo.articles.get(posted.id, reader_id(request), with_html=True)
    answer = schemas.PostedArticle.of(stored, existing=not posted.is_new)
    return Status(201 if posted.is_new else 200, answer)
