"""Block members and mute discussions."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from accounts.models import Block, BlockLimitError, Mute
from accounts.web import unsent_form
from accounts.web.form_pages import MemberRequest, form_action, members_only
from articles.web import error_pages
from articles.web.form_answers import way_back
from articles.web.identity import member_named
from articles.wiring import repository

_BLOCKING = {"block": True, "unblock": False}
_MUTING = {"mute": True, "unmute": False}


def _profile(request: HttpRequest, name: str) -> str:
    return way_back(request) or reverse("articles:profile", args=[name])


def _block_button(request: HttpRequest, name: str) -> str:
    is_wanted = _BLOCKING.get(unsent_form.sent(request).get("blocked", ""))
    return (_("Block %(name)s") if is_wanted else _("Unblock %(name)s")) % {"name": name}


@never_cache
@form_action(page=_profile, button=_block_button)
@members_only()
def block(request: MemberRequest, name: str) -> HttpResponse:
    """Block a member, or unblock them. Idempotent."""
    is_wanted, other = _BLOCKING.get(request.POST.get("blocked", "")), member_named(name)
    if is_wanted is None or other.pk == request.user.pk:
        return error_pages.page(request, 400)
    if is_wanted:
        try:
            Block.objects.block(request.user, other)
        except BlockLimitError:
            messages.error(
                request, _("You have blocked the maximum number of members. Unblock one of them first.")
            )
    else:
        Block.objects.filter(user=request.user, blocked=other).delete()
    return redirect(_profile(request, other.get_username()))


def _discussion(request: HttpRequest, article_id: int) -> str:
    return way_back(request) or reverse("articles:article", args=[article_id]) + "#comments"


def _mute_button(request: HttpRequest, **_article: int) -> str:
    is_wanted = _MUTING.get(unsent_form.sent(request).get("muted", ""))
    return _("Mute this discussion") if is_wanted else _("Unmute this discussion")


@never_cache
@form_action(page=_discussion, button=_mute_button)
@members_only()
def mute(request: MemberRequest, article_id: int) -> HttpResponse:
    """Mute the discussion of an article, or unmute it. Idempotent."""
    is_wanted = _MUTING.get(request.POST.get("muted", ""))
    if is_wanted is None:
        return error_pages.page(request, 400)
    if is_wanted:
        article = repository().articles.get(article_id)
        Mute.objects.mute(request.user, article.id)
    else:
        Mute.objects.filter(user=request.user, article=article_id).delete()
    return redirect(_discussion(request, article_id))
