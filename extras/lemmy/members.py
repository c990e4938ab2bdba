"""Members as Lemmy's persons: one of them with what they posted, blocking, and the member's own profile."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth import get_user_model
from django.http import HttpRequest
from django.utils.translation import gettext as _

from accounts.models import POST, VOTE, GroupModerator, User
from articles.api.protocol.problems import Problem
from articles.domain.articles import Article
from articles.domain.comments import Comment
from articles.text.searching import Kind
from articles.web import hiding, profiles
from articles.web.identity import actor, reader_id
from articles.web.wiring import repository
from extras.lemmy.articles import shown_articles
from extras.lemmy.operations import Json, Number, Page, beyond, operation
from extras.lemmy.shapes import Shapes, local_name, slug_of


def member_of(number: int | None, name: str | None = None) -> User:
    """Return the member with this id, or name, perhaps with the site's host. Raises Problem."""
    members = get_user_model().objects
    try:
        if number is not None:
            return members.get(pk=number, left_at=None)
        return members.get_by_natural_key(local_name(name or "") or "")
    except User.DoesNotExist:
        raise Problem(404, "couldnt_find_person", _("There is no such member.")) from None


def moderated_by(shapes: Shapes, member: User) -> list[Json]:
    """Return the groups that a member moderates. One query."""
    rows = GroupModerator.objects.filter(member=member, is_current=True).values_list("group", flat=True)
    shapes.read([member.pk])
    return [
        {"community": shapes.community(slug), "moderator": shapes.person(member.pk)}
        for slug in sorted(rows)
        if shapes.knows(slug)
    ]


@operation("GET", "user", word="couldnt_find_person")
def get_person(
    request: HttpRequest,
    person_id: Number | None = None,
    username: str | None = None,
    page: Page = 1,
    community_id: Number | None = None,
    saved_only: bool = False,
) -> Json:
    """Read a member with what they posted, newest first, 25 of each a page; members also what they saved."""
    if person_id is None and username is None:
        raise Problem(400, "no_id_given", _("Send an id or a name."))
    member, reader, repo = member_of(person_id, username), reader_id(request), repository()
    posts: Sequence[Article] = ()
    written: Sequence[Comment] = ()
    if not saved_only:
        posts = beyond(lambda: repo.members.get_posted(member.pk, page, reader).articles, ())
        written = beyond(lambda: repo.comments.get_page_by(member.pk, page)[0], ())
    elif member.pk == reader:
        posts = beyond(lambda: repo.members.get_saved(member.pk, page).articles, ())
    on = shown_articles([one.article for one in written], reader)
    if community_id is not None:
        slug = slug_of(community_id)
        posts = [one for one in posts if slug in one.groups]
        on = {number: one for number, one in on.items() if slug in one.groups}
    shapes = Shapes(request)
    return {
        "person_view": shapes.person_view(
            member,
            repo.members.count_shown(member.pk),
            member.about if profiles.is_about_visible(member, request) else "",
        ),
        "posts": shapes.post_views(posts),
        "comments": shapes.comment_views([one for one in written if one.is_shown], on),
        "moderates": moderated_by(shapes, member),
    }


@operation("POST", "user/block", scope=VOTE, word="person_block_already_exists")
def block_person(request: HttpRequest, person_id: Number, block: bool) -> Json:
    member = member_of(person_id)
    hiding.change(actor(request).id, Kind.MEMBER, member.get_username(), hidden=block)
    return {"person_view": Shapes(request).person_view(member), "blocked": block}


@operation("PUT", "user/save_user_settings", scope=POST, word="couldnt_update_user")
def save_settings(request: Any, bio: str | None = None) -> Json:
    """Change the profile text. Other settings of Lemmy are the app's own."""
    if bio is not None:
        profiles.change_about(request, bio)
    return {"success": True}
