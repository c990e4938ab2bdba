"""Notes on members, which moderators write for each other."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from accounts.models import User
from accounts.moderators import BAN_MEMBERS, REMOVE_ARTICLES
from accounts.web.form_pages import form_action
from articles.forms.notes import NoteForm
from articles.views.moderation.members import acts
from articles.web.identity import actor, member_named, needs
from articles.web.moderation import notes
from articles.web.moderation.conflicts import check_not_own


def _subject(request: HttpRequest, name: str) -> User:
    """Return the member. Raises Http404, and OwnMatter: moderators do not see notes on themselves either."""
    member: User = member_named(name)
    check_not_own(member.pk, actor(request).id)
    return member


@never_cache
@form_action(page=acts.page_of, button=lambda *_address, **_named: _("Add the note"))
@needs(BAN_MEMBERS, REMOVE_ARTICLES)
def write(request: HttpRequest, name: str) -> HttpResponse:
    """Write a note on a member. A form that arrives twice writes one."""
    member, form = _subject(request, name), NoteForm(request.POST)
    if not form.is_valid():
        messages.error(request, str(form.errors["text"][0]))
        return redirect(acts.page_of(request, name))
    notes.write(member, form.cleaned_data["text"], actor(request).id)
    return redirect(acts.page_of(request, name))


@never_cache
@form_action(page=acts.page_of, button=lambda *_address, **_named: _("Delete the note"))
@needs(BAN_MEMBERS, REMOVE_ARTICLES)
def delete(request: HttpRequest, name: str, note_id: int) -> HttpResponse:
    """Delete a note. A form that arrives twice succeeds."""
    notes.delete(_subject(request, name), note_id, actor(request))
    return redirect(acts.page_of(request, name))
