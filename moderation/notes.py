"""Notes on members, which moderators write for each other: on the page about the member, and by the API."""

from django import forms
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_lazy
from ninja import P, PathEx, Status
from pydantic import BaseModel, Field

from accounts.models import MemberNote, User
from accounts.moderators import BAN_MEMBERS, REMOVE_ARTICLES
from accounts.web.form_pages import ask_once, private_act, show_next
from accounts.web.sent_forms import RESUBMISSION_WINDOW
from articles.api import schemas
from articles.api.my_lists import MemberName
from articles.api.protocol.operations import HIGHEST_NUMBER, MODERATORS, router
from articles.domain.members import UserId
from articles.domain.moderation_log import Action, Actor
from articles.text.lines import NOTE_LIMIT, clean_note
from articles.web.forms.fields import CleanedField, TextInput
from articles.web.identity import actor, member_named, needs
from articles.web.rights import check_not_own
from articles.web.wiring import repository
from moderation.subjects import member_for, page_of


class NoteForm(forms.Form):
    """A note on a member."""

    text = CleanedField(
        clean_note,
        label=gettext_lazy("Note"),
        help_text=gettext_lazy(
            "On the site, only moderators can see it, but the member’s data download contains its text."
        ),
        widget=TextInput(NOTE_LIMIT, {"rows": 4}),
    )


def write(member: User, text: str, author: UserId) -> MemberNote:
    """Write a note, or return the same one that the author wrote a moment ago, perhaps concurrently."""
    fields = {"member": member, "author_id": author, "text": text}
    with transaction.atomic():
        User.objects.select_for_update().get(pk=member.pk)
        recent = MemberNote.objects.filter(**fields, written_at__gte=timezone.now() - RESUBMISSION_WINDOW)
        return recent.first() or MemberNote.objects.create(**fields)


def delete(member: User, number: int, moderator: Actor) -> None:
    """Delete a note and log it, without the member: only moderators know on whom there are notes.

    Idempotent. Raises StoreError; then the note remains.
    """
    with transaction.atomic():
        if MemberNote.objects.filter(pk=number, member=member).delete()[0]:
            repository().moderation_log.note(Action.DELETE_NOTE, moderator, "", "", {"note": str(number)})


def _subject_named(request: HttpRequest, name: str) -> User:
    """Return the member. Raises Http404, and OwnMatter: moderators do not see notes on themselves either."""
    member: User = member_named(name)
    check_not_own(member.pk, actor(request).id)
    return member


@private_act(needs(BAN_MEMBERS, REMOVE_ARTICLES), page=page_of, button=gettext_lazy("Add the note"))
def write_by_form(request: HttpRequest, name: str) -> HttpResponse:
    """Write a note on a member. A form that arrives twice writes one."""
    member, form = _subject_named(request, name), NoteForm(request.POST)
    if not form.is_valid():
        return show_next(request, str(form.errors["text"][0]), page_of(request, name), is_error=True)
    write(member, form.cleaned_data["text"], actor(request).id)
    return redirect(page_of(request, name))


@private_act(needs(BAN_MEMBERS, REMOVE_ARTICLES), page=page_of, button=gettext_lazy("Delete the note"))
def delete_by_form(request: HttpRequest, name: str, note_id: int) -> HttpResponse:
    """Delete a note, after a question. A form that arrives twice succeeds."""
    member = _subject_named(request, name)
    question = ask_once(request, _("Delete this note?"), _("It cannot be restored."), _("Delete the note"))
    if question and MemberNote.objects.filter(pk=note_id, member=member).exists():
        return question
    delete(member, note_id, actor(request))
    return redirect(page_of(request, name))


NoteNumber = PathEx[int, P(description="The number of the note.", ge=1, le=HIGHEST_NUMBER, examples=[5])]


class NewNote(schemas.Model):
    """A note to write on a member."""

    text: str = Field(examples=["Asked to stop posting the same link."])
    """On the site, only moderators can see it, but the member's data download contains its text."""


class Note(BaseModel):
    """A note on a member."""

    id: int
    by: str = Field(description="Name of the moderator; empty if the account is deleted.")
    text: str
    time: float = Field(description="When it was written, in Unix seconds.")

    @classmethod
    def of(cls, row: MemberNote) -> "Note":
        return cls(id=row.pk, by=row.author_name, text=row.text, time=row.written_at.timestamp())


class Notes(BaseModel):
    """The notes on a member, newest first."""

    notes: list[Note]


class DeletedNote(BaseModel):
    """A deleted note."""

    id: int


_MODERATORS_ONLY = "Moderators only; not for notes on oneself."


@router.get("users/{name}/notes", description=_MODERATORS_ONLY, auth=MODERATORS)
def list_notes(request: HttpRequest, name: MemberName) -> Notes:
    """Notes on a member."""
    rows = _subject_for(request, name).notes.select_related("author")
    return Notes(notes=[Note.of(row) for row in rows])


@router.post("users/{name}/notes", auth=MODERATORS)
def write_note(request: HttpRequest, name: MemberName, note: NewNote) -> Status[Note]:
    """Write a note on a member. Moderators only. Sent again within a minute, it adds nothing."""
    subject = _subject_for(request, name)
    return Status(201, Note.of(write(subject, clean_note(note.text), actor(request).id)))


@router.delete("users/{name}/notes/{note_id}", auth=MODERATORS)
def delete_note(request: HttpRequest, name: MemberName, note_id: NoteNumber) -> DeletedNote:
    """Delete a note on a member. Moderators only. Idempotent."""
    delete(_subject_for(request, name), note_id, actor(request))
    return DeletedNote(id=note_id)


def _subject_for(request: HttpRequest, name: str) -> User:
    """Return the member. Raises Http404, PermissionDenied, and OwnMatter for notes on the moderator."""
    member = member_for(request, name, BAN_MEMBERS, REMOVE_ARTICLES)
    check_not_own(member.pk, actor(request).id)
    return member
