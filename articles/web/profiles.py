"""What members write about themselves, which their pages show: who may change it, and who reads it.

A page that needs no votes would invite spam. So new members cannot put links into the text, and while a member is
banned from posting, only the member and moderators see it. All links in it tell search engines not to follow them.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django import forms
from django.contrib.auth import get_user_model
from django.db import transaction
from django.http import HttpRequest
from django.utils.translation import gettext_lazy
from markupsafe import Markup

from accounts.models import AboutFlag, BanScope, Invitation, User, Vouch
from accounts.models.moderation import OPEN
from accounts.web.form_pages import MemberRequest
from articles.configuration.choices import chosen
from articles.text.lines import ABOUT_LIMIT, InvalidInput, clean_about
from articles.text.markdown import links_in
from articles.web import limits
from articles.web.forms.fields import CleanedField, TextInput, check_links
from articles.web.identity import is_free, is_new_member, may_be_untrusted, reader_id, writer
from articles.web.rights import may_see_inviters, may_see_subjects
from articles.web.wiring import html_of, repository, retract


class AboutForm(forms.Form):
    """What a member writes about themselves. `change_about` checks the links in it."""

    about = CleanedField(
        clean_about,
        required=False,
        label=gettext_lazy("About you"),
        help_text=gettext_lazy(
            "A few lines about yourself, which everyone can read on your profile. You can use Markdown."
        ),
        widget=TextInput(ABOUT_LIMIT, {"rows": 4, "dir": "auto"}),
    )

    def __init__(self, member: User, data: Any = None) -> None:
        super().__init__(data, initial={"about": member.about})


def change_about(request: MemberRequest, raw: str) -> str:
    """Change and return the profile text. Idempotent. Raises InvalidInput, LimitReached; Banned, but to remove."""
    member, text = request.user, clean_about(raw)
    if text == member.about:
        return text
    if text:
        writer(request)
        check_links(text, current=member.about)
        if any(not link.startswith("/") for link in links_in(html_of(text))) and is_new_member(member):
            raise InvalidInput("about-links")
    limits.take_edit(request)
    with transaction.atomic():
        get_user_model().objects.filter(pk=member.pk).update(about=text, about_removed="")
        decided = AboutFlag.objects.filter(member=member.pk)
        (decided.exclude(state=OPEN) if text else decided).delete()
    retract(())
    return text


def about(member: User, request: HttpRequest) -> Markup:
    """Return what the reader sees of a profile text, as HTML; "" for nothing. Mostly no query."""
    return html_of(member.about) if is_about_visible(member, request) else Markup()


def is_about_visible(member: User, request: HttpRequest) -> bool:
    """Return whether the reader can see it: while it is hidden, only the member and moderators."""
    if not is_about_withheld(member):
        return bool(member.about)
    return reader_id(request) == member.pk or may_see_subjects(request)


def is_about_withheld(member: User) -> bool:
    """Return whether only the member and moderators see it, because of a ban."""
    return bool(member.about) and member.is_banned_from(BanScope.POSTING)


class Invitations(NamedTuple):
    """Who invited a member, and whom the member invited. Deleted accounts are among them."""

    inviter: User | None = None
    invited: Sequence[User] = ()
    total: int = 0  # how many members joined, of whom `invited` has the first


class Vouches(NamedTuple):
    """Who vouched for a member, deleted accounts among them, and whether the reader can."""

    given: Sequence[Vouch] = ()
    may_be_given: bool = False


def vouches(member: User, request: HttpRequest) -> Vouches:
    """Return what the reader may see of the vouches for a member, and whether they may give one.

    For a member who may be on probation a few queries and two round trips, for others one query at most.
    """
    given = Vouch.objects.list_for([member.pk]).get(member.pk, []) if may_see_inviters(request) else []
    reader: Any = request.user
    may_be_given = (
        bool(chosen.PROBATION and chosen.VOUCHES)
        and reader.is_authenticated
        and reader.pk != member.pk
        and may_be_untrusted(member)
        and not may_be_untrusted(reader)
        and is_free(reader, BanScope.POSTING)
        and is_free(reader, BanScope.VOTING)
        and repository().left_out.get_state(member.pk).waits
        and not member.is_banned_from(BanScope.VOTING)
        and not reader.vouches_given.filter(member=member).exists()
        and Vouch.objects.left(reader) > 0
        and Vouch.objects.weight_of(reader) > 0
        and not repository().left_out.get_state(reader.pk).is_left_out
    )
    return Vouches(given, may_be_given)


def invitations(member: User, request: HttpRequest, most: int) -> Invitations:
    """Return what the reader may see of a member's invitations, naming at most `most`. Three queries, or none."""
    if not may_see_inviters(request):
        return Invitations()
    own = Invitation.objects.filter(invited=member).select_related("inviter").first()
    used = Invitation.objects.used().filter(inviter=member)
    invited = [one.invited for one in used.select_related("invited")[:most] if one.invited]
    return Invitations(own.inviter if own else None, invited, len(invited) and used.count())
