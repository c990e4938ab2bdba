"""Replies by mail: a mail server delivers them into a maildir, and housekeeping posts them as comments.

A mail is deleted only once its reply is in the store, so a process that dies loses none; its Message-ID keeps the
next process from posting it again. A reply is from the member's own address, to one that the site signed for this
member and comment. Whatever else arrives is dropped without an answer.
"""

import html
import logging
import os
import re
import stat
import time
import unicodedata
from collections import Counter
from contextlib import suppress
from email.utils import parseaddr
from hashlib import sha256
from heapq import nsmallest
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.http import HttpRequest
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from accounts.mail import TooManyMails, comparable, letter_to, send_later
from accounts.models import User
from articles.configuration.choices import chosen
from articles.domain.comments import CommentId, article_of
from articles.domain.errors import ArticlesError, Banned, HeldForApproval, LimitReached, StoreError
from articles.formatting.values import grouped
from articles.text.lines import InvalidInput, clean_comment
from articles.text.refusals import action_sentence, input_sentence
from articles.web import comments, limits
from articles.web.forms.fields import check_links
from extras.replies.addresses import read_reply_address, reply_address
from extras.replies.mails import MARKER, MOST_BYTES, IncomingMail, Unreadable
from tasks import TaskQueueFull

_log = logging.getLogger(__name__)

MAILS_PER_RUN = 50
_NAMES_LOOKED_AT = 10_000  # names in the folder among which the first ones are chosen


class _Dropped(Exception):
    """The mail is not answered. The text says why, in the log."""


class _Refused(Exception):
    """The reply is not published; its sender is mailed the reason, in the member's language."""


class _Reply(NamedTuple):
    """A mail to an address that the site signed for this member, in answer to a comment."""

    mail: IncomingMail
    member: User
    comment: CommentId
    key: str  # a digest of its Message-ID

    @property
    def is_from_member(self) -> bool:
        """Whether the member sent it: others may know the address if the member forwarded it."""
        return [comparable(one) for one in self.mail.senders] == [comparable(self.member.email)]


def folder() -> Path:
    """Return the folder in which mail servers put new mails."""
    return Path(settings.DATA_DIR, "replies", "new")


def aside() -> Path:
    """Return the folder for mails that could not be handled because of an error in the site."""
    return Path(settings.DATA_DIR, "replies", "cur")


def post_due(budget: float) -> Counter[str]:
    """Handle mails, at most `MAILS_PER_RUN`, for about `budget` seconds; return how many were what.

    Raises StoreError, OperationalError, InterfaceError, TaskQueueFull, and OSError: then the mail stays, and the
    next run continues.
    """
    deadline, done, failed = time.monotonic() + budget, Counter[str](), None
    if not os.access(folder(), os.R_OK | os.W_OK | os.X_OK):  # it would post them, and could not delete them
        raise PermissionError(f"{folder()} cannot be read and changed")
    for path in _waiting():
        try:
            done[_handle(path)] += 1
        except OSError as error:
            failed = error  # the others may still be read
        if time.monotonic() >= deadline:
            break
    if failed:
        raise failed
    return done


def _waiting() -> list[Path]:
    """Return the first of the mails that wait. Links, folders and pipes are none."""
    with os.scandir(folder()) as entries:
        files = (one.name for one in entries if one.is_file(follow_symlinks=False))
        names = islice((name for name in files if not name.startswith(".")), _NAMES_LOOKED_AT)
        return [folder() / name for name in nsmallest(MAILS_PER_RUN, names)]


def _handle(path: Path) -> str:
    """Post the reply, refuse it or drop it; return what happened."""
    try:
        return _take(path)
    except _Dropped as dropped:
        _log.info("a mail to the address for replies was dropped: %s", dropped)
        path.unlink(missing_ok=True)
        return "dropped"
    except (StoreError, OperationalError, InterfaceError, TaskQueueFull, OSError):
        raise
    except Exception:
        _log.exception("a reply by mail could not be handled; it is in %s", aside())
        aside().mkdir(exist_ok=True)
        path.rename(aside() / path.name)
        return "failed"


def _take(path: Path) -> str:
    reply = _opened(_read(path))
    with translation.override(reply.member.language or chosen.language):
        try:
            _post(reply)
        except StoreError:
            raise
        except (_Refused, InvalidInput, ArticlesError) as refused:
            with transaction.atomic():
                _answer(reply, refused)
                path.unlink(missing_ok=True)  # before the commit: a mail has at most one answer
            return "held" if isinstance(refused, HeldForApproval) else "refused"
    path.unlink(missing_ok=True)
    return "posted"


def _read(path: Path) -> bytes:
    """Return the mail, or its beginning if it is too large. Raises _Dropped."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        raise _Dropped("another process has handled it") from None
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _Dropped("it is not a file")
        return file.read(MOST_BYTES + 1)


def _opened(raw: bytes) -> _Reply:
    """Return the reply in a mail. One query for a signed address. Raises _Dropped."""
    mail = IncomingMail.of(raw)
    if mail.is_automatic:
        raise _Dropped("a program sent it")
    if (signed := read_reply_address(mail.recipients)) is None:
        raise _Dropped("it has no valid address")
    member = User.objects.filter(pk=signed[0], is_active=True, left_at=None).first()
    if member is None or not member.has_verified_email:
        raise _Dropped("the address is that of a former member, or one without a verified address")
    own = comparable(parseaddr(chosen.EMAIL_FROM)[1])
    if any(comparable(one) == own or read_reply_address(one) for one in mail.senders):
        raise _Dropped("it is from the site itself")
    key = sha256(mail.header("Message-ID").encode("utf-8", "surrogatepass") or raw).hexdigest()
    return _Reply(mail, member, signed[1], key)


def _post(reply: _Reply) -> None:
    """Post the reply as its member, as the page does. Raises _Refused, InvalidInput, ArticlesError."""
    if not reply.is_from_member:
        raise _Refused(_("It came from another address than %(address)s.") % {"address": reply.member.email})
    text, request = check_links(clean_comment(_text_of(reply))), _request_of(reply.member)
    limits.take_texts(request, len(text.encode()))
    comments.post(request, article_of(reply.comment), text, reply.comment, key=reply.key)


def _text_of(reply: _Reply) -> str:
    """Return what the member wrote. Raises _Refused, for instance if an address or a signed link is in it."""
    mail = reply.mail
    if not mail.is_whole:
        size = grouped(MOST_BYTES // 1000)
        raise _Refused(_("It is larger than %(size)s KB. Leave out attachments and quoted text.") % {"size": size})
    try:
        text = mail.text
    except Unreadable:
        raise _Refused(_("Its text cannot be read. Send it as plain text.")) from None
    if not text.strip():
        raise _Refused(_("It contains no text besides the quotation."))
    stop = reverse("accounts:unsubscribe", args=["-"]).rstrip("-/")
    spelled = _spelled(text)
    own = reply_address(reply.member.pk, reply.comment).rpartition("-")[0].rpartition("-")[0]
    if MARKER in text or stop in text or read_reply_address(text) or _spelled(own) in spelled:
        raise _Refused(_("The quotation could not be told from your own text. Delete it before you send."))
    if any(_spelled(one) in spelled for one in (reply.member.email, comparable(reply.member.email))):
        raise _Refused(_("It contains your mail address, which would be public. Delete it before you send."))
    return text


_UNSEEN = re.compile(r"[\s\\\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]+")


def _spelled(text: str) -> str:
    """Return a text in which an address has one spelling: no case, blanks, escapes and wide letters."""
    return _UNSEEN.sub("", unicodedata.normalize("NFKC", unquote(html.unescape(text)))).casefold()


def _request_of(member: User) -> HttpRequest:
    request = HttpRequest()
    request.user = member
    return request


def _answer(reply: _Reply, refused: Exception) -> None:
    """Mail the member why the reply is not published, with its text. Raises TaskQueueFull."""
    member, message_id = reply.member, reply.mail.header("Message-ID")
    try:
        limits.take(_request_of(member), "refusals")
    except LimitReached:
        return
    context = {
        "sentence": _sentence_of(refused),
        "is_held": isinstance(refused, HeldForApproval),
        "is_ban": isinstance(refused, Banned),
        "comment": reply.comment,
        "lines": _lines_of(reply),
    }
    headers = {"Auto-Submitted": "auto-replied"}
    if _MESSAGE_ID.fullmatch(message_id):
        headers |= {"In-Reply-To": message_id, "References": message_id}
    answer = letter_to(member, "replies/refused.html", context)
    with suppress(TooManyMails):
        send_later(answer._replace(headers=answer.headers | headers), member.pk)


_MESSAGE_ID = re.compile(r"<[!-;=?-~]{1,250}>")


def _sentence_of(refused: Exception) -> str:
    if isinstance(refused, InvalidInput):
        return input_sentence(refused)
    return action_sentence(refused, has_button=True) if isinstance(refused, ArticlesError) else str(refused)


def _lines_of(reply: _Reply) -> list[str]:
    """Return the text for the answer, so that nothing is lost; none if another person may have sent it."""
    with suppress(Unreadable):
        if reply.is_from_member:
            return reply.mail.text[:MOST_BYTES].replace("\0", "").splitlines()  # PostgreSQL refuses a NUL
    return []
