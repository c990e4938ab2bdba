"""Write notes on members, which moderators write for each other."""

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from accounts.models import MemberNote, User
from accounts.web.resubmission import RESUBMISSION_WINDOW
from articles.domain.members import UserId


def check_subject(member: User, moderator: UserId) -> None:
    """Raise PermissionDenied for notes on the moderator, who does not see them either."""
    if member.pk == moderator:
        raise PermissionDenied


def write(member: User, text: str, author: UserId) -> MemberNote:
    """Write a note, or return the same one that the author wrote a moment ago, perhaps concurrently."""
    fields = {"member": member, "author_id": author, "text": text}
    with transaction.atomic():
        User.objects.select_for_update().get(pk=member.pk)
        recent = MemberNote.objects.filter(**fields, written_at__gte=timezone.now() - RESUBMISSION_WINDOW)
        return recent.first() or MemberNote.objects.create(**fields)
