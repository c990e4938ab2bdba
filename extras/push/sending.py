"""What is pushed to members' devices, and when: new notices of the inbox, and what waits for moderators.

Housekeeping finds the members some seconds after something happened. A claim is a moment in the row of the
member's choice, as for mail (`articles.mailing`), and one transaction with a task for each device. The task reads
what is new when it runs: what was deleted, removed, decided or read meanwhile is not pushed.
"""

import json
import logging
import time
from collections.abc import Sequence
from math import floor
from typing import NamedTuple

from django.db import transaction
from django.templatetags.static import static
from django.urls import reverse
from django.utils import timezone
from django.utils.text import Truncator
from django.utils.translation import gettext, ngettext
from django_tasks import task

from accounts.mail import language_of
from accounts.models import MODERATE, User
from articles.configuration.choices import chosen
from articles.configuration.encryption import KeyChanged
from articles.domain.notices import NoticeKind, NoticePointer
from articles.formatting.values import grouped
from articles.mailing import is_still_shown, path_of, sentence_of
from articles.repository import Repository
from articles.text.markdown import plain
from articles.web import preferences
from articles.web.identity import named
from articles.web.wiring import patient_repository
from extras.push import protocol
from extras.push.models import FORGOTTEN_AFTER, Choice, Device
from moderation.mail import Row, Waiting, moderators
from outgoing import posting
from outgoing.fetching import NotFetched
from tasks import OUT, TryLater, add

_log = logging.getLogger(__name__)

SETTLE_SECONDS = 5  # age at which something is pushed: until then, it may be edited, deleted, or read on the site

INBOX, WAITING = "inbox", "waiting"
"""The messages. A later one takes the place of an earlier one on the device and at the push service."""

_MEMBERS_PER_READ = 200
_NOTICES_READ = 25
_TITLE_CHARACTERS, _LINE_CHARACTERS = 120, 200
_GONE = (404, 410)


class Message(NamedTuple):
    """What a device shows; `path` is the page that it opens."""

    title: str
    line: str
    path: str


class _Round:
    """How far this process has come with the members: a run continues where the previous one ended."""

    last = 0


def send_due(repository: Repository, budget: float) -> int:
    """Let tasks push what is new, for about `budget` seconds; return the number of tasks.

    For each batch of members with devices, one query and one round trip. Raises StoreError, DatabaseError, and
    TaskQueueFull: then what is left is not claimed.
    """
    deadline, sent = time.monotonic() + budget, 0
    until = float(floor(repository.store.now() - SETTLE_SECONDS))
    choices = Choice.objects.filter(member__in=Device.objects.reachable().values("user"), member__is_active=True)
    choices = choices.filter(member__left_at=None).select_related("member").order_by("pk")
    while batch := list(choices.filter(pk__gt=_Round.last)[:_MEMBERS_PER_READ]):
        found = repository.inbox.list_between([(one.pk, one.pushed_until) for one in batch], until)
        numbers = [one.pk for one in batch]
        deciding = set(User.objects.filter(moderators(), pk__in=numbers).values_list("pk", flat=True))
        since = min((one.pushed_until for one in batch if one.pk in deciding), default=until)
        waiting = Waiting(repository, floor(since), until)
        for choice, pointers in zip(batch, found, strict=True):
            _Round.last, since = choice.pk, choice.pushed_until
            messages = [INBOX] if _wanted(choice, pointers) or _has_news(choice, since, until) else []
            if choice.pk in deciding and _waiting_for(choice, waiting, since):
                messages.append(WAITING)
            sent += _claimed(choice, messages, until) if messages else 0
        if time.monotonic() >= deadline:
            return sent
    _Round.last = 0
    return sent


def _wanted(choice: Choice, pointers: Sequence[NoticePointer]) -> list[NoticePointer]:
    """Return the notices that the member has not read and wants to have pushed."""
    return [one for one in pointers if one.kind in choice.kind_list and one.at > choice.member.inbox_read_until]


def _has_news(choice: Choice, since: float, until: float) -> bool:
    """Return whether moderators did what is no notice, such as a ban, and the member wants to know at once."""
    member = choice.member
    times = (member.ban_changed_at, member.held_decided_at)
    is_new = any(max(since, member.inbox_read_until) < at <= until for at in times)
    return is_new and NoticeKind.MODERATION.value in choice.kind_list


def _waiting_for(choice: Choice, waiting: Waiting, since: float) -> list[Row]:
    """Return what began to wait since then for a moderator who wants it pushed, in the active language."""
    return waiting.rows_for(choice.member, floor(since)) if WAITING in choice.kind_list else []


@transaction.atomic
def _claimed(choice: Choice, messages: Sequence[str], until: float) -> int:
    """Add the tasks, unless another process did or the choice has changed; return how many."""
    same = Choice.objects.filter(pk=choice.pk, pushed_until=choice.pushed_until, kinds=choice.kinds)
    if same.update(pushed_until=until) != 1:
        return 0
    due = [(device.pk, message) for device in Device.objects.reachable(choice.member) for message in messages]
    for number, message in due:
        add(deliver, number, message, choice.pushed_until, until)
    return len(due)


@task(queue_name=OUT)
def deliver(number: int, message: str, since: float, until: float) -> None:
    """Push what is new to a device, unless it is logged out. Idempotent: the device shows it once.

    After a failure, also what came later: a device that fails gets no further task. Raises TryLater, StoreError,
    DatabaseError.
    """
    device = Device.objects.select_related("user", "session", "token").filter(pk=number).first()
    if device is None or not protocol.is_on() or not device.user.is_active:
        return
    try:
        subscription = device.subscription if device.is_logged_in else None
    except KeyChanged:
        subscription = None
    if subscription is None:
        device.delete()
        return
    if message == WAITING and device.token and not device.token.allows(MODERATE):
        return
    repository = patient_repository()
    if device.failing_since:
        until = float(floor(repository.store.now() - SETTLE_SECONDS))
    with language_of(device.user):
        choice = Choice.objects.of(device.user)
        made = {INBOX: _from_inbox, WAITING: _from_queue}[message](repository, choice, since, until)
        if made is None or _is_sent(device, subscription, _written(made, message), message):
            Device.objects.filter(pk=number).exclude(failing_since=None).update(failing_since=None)


def _from_inbox(repository: Repository, choice: Choice, since: float, until: float) -> Message | None:
    """Return the newest notice, or how many are new; None if none is new since."""
    (pointers,) = repository.inbox.list_between([(choice.pk, choice.member.inbox_read_until)], until)
    wanted, has_news = _wanted(choice, pointers), _has_news(choice, since, until)
    notices = [one for one in named(repository.inbox.read(wanted[:_NOTICES_READ])) if is_still_shown(one)]
    count = len(notices) + len(wanted[_NOTICES_READ:]) + has_news
    if not has_news and not any(one.at > since for one in notices):
        return None
    newest = notices[0] if notices and not has_news else None
    line = sentence_of(newest) if newest else gettext("Moderators made a decision about you.")
    if count == 1:
        path = path_of(newest) if newest else reverse("articles:inbox")
        return Message(line, plain(newest.html) if newest else "", path)
    title = ngettext("%(num)s new notice on %(site)s", "%(num)s new notices on %(site)s", count)
    return Message(title % {"num": grouped(count), "site": chosen.SITE_NAME}, line, reverse("articles:inbox"))


def _from_queue(repository: Repository, choice: Choice, since: float, until: float) -> Message | None:
    """Return what waits for a moderator, or how much; None if nothing does any more."""
    rows = _waiting_for(choice, Waiting(repository, floor(since), until), since)
    if not rows:
        return None
    count, (line, address) = len(rows), rows[0]
    title = ngettext("%(num)s new item to review on %(site)s", "%(num)s new items to review on %(site)s", count)
    path = address if count == 1 else reverse("articles:queue")
    return Message(title % {"num": grouped(count), "site": chosen.SITE_NAME}, line, path)


def _written(message: Message, tag: str) -> bytes:
    """Return a message as worker.js shows it."""
    shown = {
        "title": Truncator(message.title).chars(_TITLE_CHARACTERS),
        "body": Truncator(message.line).chars(_LINE_CHARACTERS),
        "data": message.path,
        "tag": tag,
        "renotify": True,
        "lang": preferences.tag(),
        "icon": static("touch-icon.png"),
    }
    return json.dumps(shown, ensure_ascii=False).encode()


def _is_sent(device: Device, subscription: dict[str, str], text: bytes, topic: str) -> bool:
    """Send a message to a device, and forget one that is gone; return whether it was sent. Raises TryLater."""
    try:
        answer = protocol.send(subscription, text, topic, device.user_id)
    except posting.Resting as rest:
        return _note_failure(device, "slow", rest.seconds)
    except NotFetched as failure:
        return _note_failure(device, str(failure))
    if answer.status in _GONE:
        device.delete()
        return False
    is_sent = 200 <= answer.status < 300
    return is_sent or _note_failure(device, f"{answer.status} {answer.body[:200]!r}", posting.pause_in(answer))


def _note_failure(device: Device, reason: str, pause: float = 0.0) -> bool:
    """Note that a device fails, and raise TryLater; after a day, forget it and return False."""
    if device.failing_since and device.failing_since < timezone.now() - FORGOTTEN_AFTER:
        _log.warning("device %d has failed for a day and is forgotten: %s", device.pk, reason)
        device.delete()
        return False
    Device.objects.filter(pk=device.pk, failing_since=None).update(failing_since=timezone.now())
    raise TryLater(reason, pause)
