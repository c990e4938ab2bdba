"""Block and unblock hosts, with an entry in the moderation log."""

from django.db import transaction

from articles import site
from articles.domain.moderation.log import Action, Actor
from articles.wiring import repository


def block(host: str, reason: str, moderator: Actor) -> None:
    """Block a clean host, or change its reason. Idempotent. Raises StoreError; then nothing is changed."""
    with transaction.atomic():
        if site.block_host(host, reason):
            repository().moderation_log.note(Action.BLOCK_HOST, moderator, host, reason)


def unblock(host: str, reason: str, moderator: Actor) -> None:
    """Stop blocking a clean host. Idempotent. Raises StoreError; then nothing is changed."""
    with transaction.atomic():
        if site.unblock_host(host):
            repository().moderation_log.note(Action.UNBLOCK_HOST, moderator, host, reason)
