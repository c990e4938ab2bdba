"""Telling webhooks what happened: housekeeping adds deliveries, and a background task for each webhook sends them.

The deliveries of a round and the position up to which was read are one transaction: a process that dies leaves a
round that is done again. A webhook has one task, so that those of one member do not fill the queue. What fails is
tried again for a day, with growing pauses; then its webhook is switched off, and its owner gets a mail.
"""

import json
import logging
import time
from collections.abc import Iterable, Set
from datetime import UTC, datetime
from hashlib import sha256

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.urls import reverse
from django.utils import timezone, translation
from django_tasks import task
from django_tasks_db.models import DBTaskResult

from accounts.mail import language_of, site_origin, tell
from accounts.models import User
from articles.configuration.choices import chosen, closed_groups
from articles.configuration.encryption import KeyChanged
from articles.repository import Repository
from articles.web.wiring import repository
from extras.webhooks import bodies, events
from extras.webhooks.bodies import Happened
from extras.webhooks.events import Event, Position
from extras.webhooks.models import MOST_WAITING, Delivery, Webhook, WebhookPosition
from outgoing import posting
from outgoing.fetching import Answer, NotFetched
from tasks import GIVEN_UP, OUT, TryLater, add

_log = logging.getLogger(__name__)

TEST = "test"  # the event of a test that the owner asks for

_GONE = 410
_SECONDS = 10.0  # for which a task sends what waits for one webhook

_LONGEST_PROBLEM = 100


def announce(repository: Repository, budget: float) -> int:
    """Add a delivery for each new event and each webhook subscribed to it; return how many.

    For about `budget` seconds. Raises StoreError, DatabaseError, and TaskQueueFull: then what waits is sent later.
    """
    webhooks = list(Webhook.objects.listening(chosen.WEBHOOKS))
    position = _read_position()
    if not webhooks:
        WebhookPosition.objects.all().delete()
        return 0
    if position is None:
        begin(repository)
        return 0
    deadline, count, has_next = time.monotonic() + budget, 0, True
    while has_next and time.monotonic() < deadline:
        found = events.find(repository, position)
        until, waiting = events.list_waiting(repository, webhooks, position.queue)
        position, has_next = found.position._replace(queue=until), found.has_next
        with transaction.atomic():
            count += sum(_tell(one, [*found.events, *waiting.get(one.pk, ())]) for one in webhooks)
            _save_position(position)
    _take_up(Delivery.objects.filter(webhook__off_since=None))
    return count


def begin(repository: Repository) -> None:
    """Read what happens from now on, unless housekeeping does already. Call it before a webhook is added."""
    if not WebhookPosition.objects.exists():
        _save_position(events.now(repository))


def _take_up(deliveries: QuerySet[Delivery]) -> None:
    """Add a task for each webhook of what waits that has none. Two queries. Raises TaskQueueFull."""
    waiting = deliveries.filter(state=Delivery.WAITING).order_by().values_list("webhook", flat=True).distinct()
    if wanted := set(waiting):
        tasks = DBTaskResult.objects.filter(task_path=deliver.module_path, finished_at=None)
        wanted -= {said["args"][0] for said in tasks.values_list("args_kwargs", flat=True)}
    for number in sorted(wanted):
        add(deliver, number)


def _read_position() -> Position | None:
    if (row := WebhookPosition.objects.first()) is None:
        return None
    (at, last), log, queue = json.loads(row.text)
    return Position((at, last), log, queue)


def _save_position(position: Position) -> None:
    WebhookPosition.objects.update_or_create(pk=1, defaults={"text": json.dumps(position)})


def _tell(webhook: Webhook, happened: Iterable[Event]) -> int:
    closed = closed_groups()
    wanted = {_key(one): one for one in happened if _wants(webhook, one, closed)}
    if not wanted:
        return 0
    known = Delivery.objects.filter(webhook=webhook, key__in=wanted).values_list("key", flat=True)
    for key in set(known):
        del wanted[key]
    waiting = Delivery.objects.filter(webhook=webhook, state=Delivery.WAITING).count()
    room = max(0, MOST_WAITING - waiting)
    made = _deliveries(webhook, sorted(wanted.values(), key=lambda one: one.at))
    for dropped in made[room:]:
        dropped.state, dropped.problem = Delivery.FAILED, "full"
    Delivery.objects.bulk_create(made)
    Delivery.objects.forget(webhook)
    return len(made)


def _wants(webhook: Webhook, event: Event, closed: Set[str]) -> bool:
    """Return whether a webhook gets the event; of what is in groups for members, only if it names one of them."""
    named, groups = set(webhook.slugs), set(event.groups)
    if event.kind not in webhook.event_list or event.at <= webhook.since:
        return False
    if event.kind == events.POINTS and event.points < webhook.points:
        return False
    is_elsewhere = bool(named) and event.kind != events.WAITING and not named & groups
    return not is_elsewhere and not _is_closed(webhook, groups, closed)


def _is_closed(webhook: Webhook, groups: Iterable[str], closed: Set[str]) -> bool:
    """Return whether only members see what is in these groups, and the webhook names none of those for members."""
    behind = closed & set(groups)
    return bool(behind) and behind.isdisjoint(webhook.slugs)


def _key(event: Event) -> str:
    return sha256(event.key.encode()).hexdigest()[:32]


def _deliveries(webhook: Webhook, happened: Iterable[Event]) -> list[Delivery]:
    """Return deliveries of events, not saved yet, in the language of the member who added the webhook."""
    with translation.override(webhook.language or chosen.language):
        return [
            Delivery(webhook=webhook, key=_key(one), event=one.kind, body=_written(one).to_text())
            for one in happened
        ]


def _written(event: Event) -> Happened:
    at = datetime.fromtimestamp(event.at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return Happened(event.kind, at, events.line_of(event), site_origin() + event.path, event.data)


@transaction.atomic
def test(webhook: Webhook) -> None:
    """Deliver a test, whichever events the webhook subscribes to. Raises TaskQueueFull."""

    def line() -> str:
        return translation.gettext("A test of the webhook of %(site)s") % {"site": chosen.SITE_NAME}

    now = timezone.now().timestamp()
    Delivery.objects.bulk_create(_deliveries(webhook, [Event(TEST, f"{TEST} {now}", now, (), line, "/", {})]))
    _take_up(webhook.deliveries.all())


@transaction.atomic
def replay(delivery: Delivery) -> bool:
    """Deliver again what was delivered, or not; return whether it is still known. Raises TaskQueueFull."""
    again = Delivery.objects.filter(pk=delivery.pk).exclude(Q(body="") | Q(state=Delivery.WAITING))
    if not again.update(state=Delivery.WAITING, problem="", status=None, tried_at=None):
        return False
    _take_up(Delivery.objects.filter(pk=delivery.pk))
    return True


@task(queue_name=OUT)
def deliver(number: int) -> None:
    """Send what waits for a webhook, for some seconds. Repeated, a delivery has the same id.

    What has not been tried comes first, so that one that is refused holds up no others. Raises TryLater,
    TaskQueueFull, DatabaseError.
    """
    deadline = time.monotonic() + _SECONDS
    waiting = Delivery.objects.filter(webhook=number, state=Delivery.WAITING)
    while delivery := waiting.order_by(F("tried_at").asc(nulls_first=True), "pk").first():
        webhook = Webhook.objects.listening(chosen.WEBHOOKS).filter(pk=number).first()
        if webhook is None:
            waiting.update(state=Delivery.FAILED, problem="off")
            return
        _send(webhook, delivery)
        if time.monotonic() >= deadline:
            add(deliver, number)  # behind the tasks of others
            return


def _send(webhook: Webhook, delivery: Delivery) -> None:
    """Send a delivery, and note what became of it. Raises TryLater, StoreError.

    What is sent is drawn now. What others do not see any longer is not sent.
    """
    happened = Happened.from_text(delivery.body)
    drawn = events.draw(repository(), happened.data)
    if drawn is None or _is_closed(webhook, drawn.groups, closed_groups()):
        _note(delivery, Delivery.FAILED, problem="removed")
        return
    try:
        answer = _posted(webhook, delivery, happened._replace(data=drawn.data))
    except KeyChanged:
        webhook.switch(on=False, because="key")
    except posting.Resting as rest:
        raise TryLater("slow", rest.seconds) from None
    except NotFetched as failure:
        _failed(webhook, delivery, None, str(failure))
    else:
        if 200 <= answer.status < 300:
            _note(delivery, Delivery.DONE, answer.status)
            if webhook.failing_since:
                Webhook.objects.filter(pk=webhook.pk).update(failing_since=None)
        elif answer.status == _GONE:
            _note(delivery, Delivery.FAILED, answer.status)
            _switch_off(webhook, "gone")
        else:
            _failed(webhook, delivery, answer.status, "", posting.pause_in(answer))


def _posted(webhook: Webhook, delivery: Delivery, happened: Happened) -> Answer:
    """Send a delivery. Raises NotFetched, KeyChanged, posting.Resting."""
    secret, body = webhook.read_secret(), bodies.body_for(webhook.form, happened)
    headers = body.headers
    if webhook.form == bodies.STANDARD:
        headers |= bodies.signatures(secret.keys, f"msg_{delivery.key}", int(time.time()), body.content)
    receiver = f"member {webhook.user_id}" if webhook.user_id else f"webhook {webhook.pk}"
    return posting.post(receiver, secret.address, headers, body.content, private_hosts=settings.WEBHOOK_HOSTS)


def _note(delivery: Delivery, state: str, status: int | None = None, problem: str = "") -> None:
    facts = {"state": state, "status": status, "problem": problem[:_LONGEST_PROBLEM]}
    Delivery.objects.filter(pk=delivery.pk).update(tried_at=timezone.now(), **facts)


def _failed(webhook: Webhook, delivery: Delivery, status: int | None, problem: str, pause: float = 0.0) -> None:
    """Note a failure, and raise TryLater; after a day of failures, switch the webhook off."""
    now = timezone.now()
    if webhook.failing_since and now - webhook.failing_since > GIVEN_UP:
        _note(delivery, Delivery.FAILED, status, problem)
        _switch_off(webhook, "failing")
        return
    Webhook.objects.filter(pk=webhook.pk, failing_since=None).update(failing_since=now)
    if now - delivery.added_at > GIVEN_UP:
        _note(delivery, Delivery.FAILED, status, problem)
        return
    _note(delivery, Delivery.WAITING, status, problem)
    raise TryLater(f"{webhook}: {status or problem}", pause)


def _switch_off(webhook: Webhook, because: str) -> None:
    webhook.switch(on=False, because=because)
    _log.warning("%s is switched off: %s", webhook, because)
    path = reverse("articles:webhook" if webhook.user else "articles:owner_webhook", args=[webhook.pk])
    context = {"host": webhook.host, "path": path, "because": because}
    administrators = User.objects.filter(is_superuser=True, is_active=True, left_at=None)
    for owner in [webhook.user] if webhook.user else administrators:
        with language_of(owner):
            tell(owner, "webhooks/off.html", context)
