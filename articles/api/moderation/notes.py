"""Notes on members, which moderators write for each other."""

from django.http import HttpRequest
from django.utils.translation import gettext_noop
from ninja import P, PathEx, Status
from pydantic import BaseModel, Field

from accounts.models import MemberNote, User
from accounts.moderators import BAN_MEMBERS, REMOVE_ARTICLES
from articles.api.moderation.members import member_for
from articles.api.my_lists import MemberName
from articles.api.protocol.auth import MODERATORS
from articles.api.protocol.operations import HIGHEST_NUMBER, router
from articles.text.lines import clean_note
from articles.web.identity import actor
from articles.web.moderation import notes
from articles.web.moderation.conflicts import check_not_own

NoteNumber = PathEx[
    int, P(description=gettext_noop("The number of the note."), ge=1, le=HIGHEST_NUMBER, examples=[5])
]


class NewNote(BaseModel):
    __doc__ = gettext_noop("A note to write on a member.")

    text: str = Field(
        description=gettext_noop(
            "On the site, only moderators can see it, but the member's data download contains its text."
        ),
        examples=["Asked to stop posting the same link."],
    )


class Note(BaseModel):
    __doc__ = gettext_noop("A note on a member.")

    id: int
    by: str = Field(description=gettext_noop("Name of the moderator; empty if the account is deleted."))
    text: str
    time: float = Field(description=gettext_noop("When it was written, in Unix seconds."))

    @classmethod
    def of(cls, row: MemberNote) -> "Note":
        return cls(id=row.pk, by=row.author_name, text=row.text, time=row.written_at.timestamp())


class Notes(BaseModel):
    __doc__ = gettext_noop("The notes on a member, newest first.")

    notes: list[Note]


class DeletedNote(BaseModel):
    __doc__ = gettext_noop("A deleted note.")

    id: int


_MODERATORS_ONLY = gettext_noop("Moderators only; not for notes on oneself.")


@router.get(
    "users/{name}/notes",
    summary=gettext_noop("Notes on a member"),
    description=_MODERATORS_ONLY,
    response=Notes,
    auth=MODERATORS,
)
def list_notes(request: HttpRequest, name: MemberName) -> Notes:
    rows = _subject(request, name).notes.select_related("author")
    return Notes(notes=[Note.of(row) for row in rows])


@router.post(
    "users/{name}/notes",
    summary=gettext_noop("Write a note on a member"),
    description=gettext_noop("Moderators only. Sent again within a minute, it adds nothing."),
    response={201: Note},
    auth=MODERATORS,
)
def write_note(request: HttpRequest, name: MemberName, note: NewNote) -> Status[Note]:
    subject = _subject(request, name)
    return Status(201, Note.of(notes.write(subject, clean_note(note.text), actor(request).id)))


@router.delete(
    "users/{name}/notes/{note_id}",
    summary=gettext_noop("Delete a note on a member"),
    description=gettext_noop("Moderators only. Idempotent."),
    response=DeletedNote,
    auth=MODERATORS,
)
def delete_note(request: HttpRequest, name: MemberName, note_id: NoteNumber) -> DeletedNote:
    notes.delete(_subject(request, name), note_id, actor(request))
    return DeletedNote(id=note_id)


def _subject(request: HttpRequest, name: str) -> User:
    """Return the member. Raises Http404, PermissionDenied, and OwnMatter for notes on the moderator."""
    member = member_for(request, name, BAN_MEMBERS, REMOVE_ARTICLES)
    check_not_own(member.pk, actor(request).id)
    return member
