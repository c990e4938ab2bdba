"""What the reader of an article can do with it: what the acts themselves would not refuse."""

from typing import NamedTuple

from django.http import HttpRequest

from accounts.moderators import ASSIGN_GROUPS, EDIT_ANY_ARTICLE, REDACT, REMOVE_ARTICLES, SEE_VIEWS
from articles.domain.articles import Article
from articles.domain.comments import root_of
from articles.domain.moderation_log import Action
from articles.domain.rules import Rules
from articles.web.identity import is_banned_in, may_moderate, reader_id
from articles.web.rights import acting, check_reversible, decides, may, may_see_subjects, own_groups, why_not


class Abilities(NamedTuple):
    """What the reader of an article can do with it."""

    is_poster: bool = False
    edit: bool = False
    withdraw: bool = False
    remove: bool = False  # and lock its discussion
    restore: bool = False
    unlock: bool = False
    merge: bool = False
    assign_groups: bool = False  # change its groups, or at least take it out of one
    see_views: bool = False
    redact: bool = False
    see_subjects: bool = False


def abilities(request: HttpRequest, article: Article, rules: Rules, now: float) -> Abilities:
    """Return what the acts themselves would not refuse. No round trip, but for moderators of groups."""
    reader = reader_id(request)
    if reader is None:
        return Abilities()
    user, groups, is_poster = request.user, article.groups, reader == article.poster
    is_recent = article.may_be_edited_by(reader, now, rules.edit_window)
    is_banned = is_banned_in(user, groups)
    of_members = Abilities(
        is_poster,
        edit=is_recent and not is_banned,
        withdraw=is_recent,
    )
    if not may_moderate(user):
        return of_members
    removes = decides(user, REMOVE_ARTICLES, article)
    reverses = removes and not _is_settled(request, article)
    return of_members._replace(
        edit=not is_banned and (is_recent or may(user, EDIT_ANY_ARTICLE)),
        remove=removes,
        restore=reverses and not is_poster,
        unlock=reverses,
        merge=may_merge(request, article) and not article.merged,
        assign_groups=may(user, ASSIGN_GROUPS, own_groups(user, groups)),
        see_views=may(user, SEE_VIEWS),
        redact=may(user, REDACT) and not is_poster and (article.is_logged or article.removed is not None),
        see_subjects=may_see_subjects(request),
    )


def _is_settled(request: HttpRequest, article: Article) -> bool:
    """Return whether moderators of the whole site removed or locked it, which those of groups do not reverse."""
    act = Action.REMOVE if article.removed is not None else Action.LOCK if article.locked is not None else None
    if act is None:
        return False
    moderator = acting(request, REMOVE_ARTICLES, article.groups)
    return bool(why_not(check_reversible, act, root_of(article.id), moderator))


def may_merge(request: HttpRequest, *articles: Article) -> bool:
    """Return whether the reader can merge these articles, or undo that: a moderator who posted none of them."""
    return may(request.user, REMOVE_ARTICLES) and reader_id(request) not in [one.poster for one in articles]
