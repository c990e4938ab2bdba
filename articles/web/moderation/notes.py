"""Write and delete notes on members, which moderators write for each other."""

from django.db import transaction
from django.utils import timezone

from accounts.models import MemberNote, User
from accounts.web.unsent_form import RESUBMISSION_WINDOW
from articles.domain.members import UserId
from articles.domain.moderation.log import Action, Actor
from articles.wiring import repository


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
