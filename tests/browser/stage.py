"""The content the catalogue of pages needs on the site: the cast, logged in, and articles in every state.

Runs inside the site's own environment (`manage.py shell`), beside the running site, and prints what it made.
"""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group
from django.contrib.auth.tokens import default_token_generator
from django.test import Client, RequestFactory
from django.utils import timezone, translation
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django_tasks import TaskResultStatus
from django_tasks_db.models import DBTaskResult

from accounts import account_deletion
from accounts.mail import deliver
from accounts.models import (
    AboutFlag,
    Authenticator,
    Ban,
    BanScope,
    GroupModerator,
    HeldPost,
    Invitation,
    LegalNotice,
    MemberNote,
    ModeratorRule,
    Passkey,
    Statement,
    Sweep,
    Token,
    User,
    Vouch,
    WaitingAccount,
)
from accounts.moderators import GROUP as MODERATORS
from accounts.sign_in import second_factor
from articles.configuration import choices
from articles.configuration.encryption import encrypt
from articles.domain.articles import Choice, ImportedArticle
from articles.domain.comments import root_of
from articles.domain.flags import FlagReason
from articles.domain.moderation_log import Action, Actor
from articles.web import error_pages
from articles.web.wiring import patient_repository
from tasks import add
from tests import extras
from tests.measuring import measure_a_day

DAY = 86400

TITLES = (
    "为什么我们把数据库从五台服务器搬回了一台，以及这一路上我们学到的全部东西，包括那些我们宁愿不知道的",
    "لماذا نقلنا قاعدة البيانات من خمسة خوادم إلى خادم واحد",
    "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 2,
    "👩🏽‍🚀🚀 A title 🇨🇳 with & <b>signs</b> “quoted” 👨‍👩‍👧‍👦",
)
"""Which every list shows: Chinese, Arabic, a word without end, signs."""

MARKDOWN = f"""# A heading

*Emphasis*, **strong**, `code {"x" * 90}`, ~~struck out~~, https://example.org/{"long-" * 30} and @mia.

> A quotation
>
> > of a quotation: {TITLES[2]}

1. first
   - within it
2. second

```
{"a line of code that is much longer than the page is wide; " * 4}
```

| a | number | {"wide " * 12} | {TITLES[2][:60]} |
| --- | ---: | :---: | --- |
| x | 12 | y | z |
"""


ABOUT = f"Reads about *soil* and https://example.org/{'long-' * 30}\n\n- {TITLES[1]}"


def set_up(*, empty: bool) -> None:
    told: dict[str, Any] = {"sessions": _cast()}
    if not empty:
        Path(settings.DATA_DIR, "secret_key").chmod(0o644)  # something for the operator's page to find
        told |= {**_articles(), **_links(), "failed": _failed()}
        measure_a_day(patient_repository())
        for stage in extras.all_of("stage"):
            stage(told, patient_repository())
        _failed_task()
    print(json.dumps(told))  # noqa: T201


def _cast() -> dict[str, str]:
    """Return session keys by role: member (Mia), poster (Paula), moderator (Maud), operator (Olga), and so on."""
    mia = User.objects.create_user("mia", email="mia@example.org", password="a long secret 71")
    for name in ("a script", "a much longer name of a program that posts articles in my name"):
        Token.objects.issue(mia, name)
    paula, maud = User.objects.create_user("paula", about=ABOUT), User.objects.create_user("maud")
    maud.groups.add(Group.objects.get(name=MODERATORS))
    olga = User.objects.create_superuser("olga")
    choices = {"theme": "dark", "keyboard": False, "hidden_groups": "redis,python"}
    cho = User.objects.create_user("cho", **choices, followed_groups="python,中文", feed_key="x")
    rule = ModeratorRule.objects.create(name=("Coins " + TITLES[2])[:60], version=1, tried=1)
    said = {
        "subject": "article",
        "act": "hold",
        "words": ["free coins", TITLES[2]],
        "pattern": "coins?",
        "links": 2,
    }
    rule.versions.create(number=1, definition=said, author=maud)
    for member in (mia, paula):
        HeldPost.objects.create(
            author=member, rule=rule, title=TITLES[2], link="https://example.org/", text="A text"
        )
    AboutFlag.objects.create(member=paula, flagger=cho, reason="spam", words=TITLES[2])
    Passkey.objects.create(user=cho, name="phone" * 10, credential_id="AA", public_key="AA")
    Authenticator.objects.create(user=cho, secret=encrypt("A" * 32))
    second_factor.turn_on(cho)
    bea = _banned_member(maud, mia)
    gus, nina = User.objects.create_user("gus"), User.objects.create_user("nina")
    Invitation.objects.create(inviter=mia, code="y", expires_at=timezone.now(), invited=nina)
    GroupModerator.objects.set(gus, "中文", by=maud.pk, is_current=True)
    roles = {
        "steward": gus,
        "newcomer": nina,
        "member": mia,
        "poster": paula,
        "moderator": maud,
        "operator": olga,
        "chooser": cho,
        "banned": bea,
    }
    return {role: _session(user) for role, user in roles.items()}


def _banned_member(maud: User, mia: User) -> User:
    """Return Bea, whom Mia invited and Maud banned twice, with a note. Another account waits for approval."""
    bea, week = User.objects.create_user("bea"), timezone.now() + timedelta(days=7)
    Ban.objects.begin(bea, BanScope.BOTH, "Spam: " + TITLES[2], ends_at=week, moderator_id=maud.pk)
    Ban.objects.begin(bea, BanScope.VOTING, "A voting ring", ends_at=None, moderator_id=maud.pk)
    Ban.objects.begin(bea, BanScope.GROUP, TITLES[2], ends_at=week, moderator_id=maud.pk, group="中文")
    MemberNote.objects.create(member=bea, author=maud, text="Third account of the same person? " + TITLES[2])
    Invitation.objects.create(inviter=mia, code="x", expires_at=week, invited=bea)
    WaitingAccount.objects.create(user=User.objects.create_user("wanda", is_active=False))
    return bea


def _session(user: User) -> str:
    browser = Client()
    browser.force_login(user)
    return browser.cookies["sessionid"].value


def _articles() -> dict[str, Any]:
    found, paula, maud = patient_repository(), _actor("paula"), _actor("maud")
    found.groups.create("quiet", "Quiet", maud)
    found.groups.create("fold", "To be merged", maud)
    found.groups.create("中文", "中文文章", maud)
    posted = [
        found.articles.post(paula.id, paula.name, title, f"https://example.org/{'long-' * 9}/{n}", ["中文"]).id
        for n, title in enumerate(TITLES)
    ]
    gone = found.articles.post(paula.id, paula.name, "An advertisement", "https://example.org/gone", []).id
    found.articles.remove(gone, maud, "It only advertises.")
    found.articles.edit(
        posted[3], maud, "Signs & <i>marks</i>", "https://example.org/signs", moderator=True, reason="!"
    )
    found.groups.rename("quiet", "The quiet one", maud, "clearer")
    found.groups.merge("fold", "quiet", maud, "nobody used it")
    old = ImportedArticle(
        "An old article", "https://example.org/old", paula.id, "paula", found.store.now() - 9 * DAY, 9, 2
    )
    found.imports.add([old])
    closed = next(article.id for article in found.imports.iterate() if article.link == old.link)
    text = (
        "# One\n\n*Two*, `three`\n\n- four\n\n> five\n\n|six|\n|-:|\n|7|\n\n```\n"
        + "eight " * 99
        + "\n```\n@paula"
    )
    words = found.articles.post(paula.id, paula.name, "A text post", "", text=text).id
    for voter in range(12):
        found.votes.cast(posted[1], 900_000 + voter, Choice.VOTE, "f" * 16)
    nina = _newcomer(maud)
    found.votes.cast(posted[0], nina, Choice.VOTE)
    found.comments.post(posted[2], paula.id, paula.name, "A word without end: " + TITLES[2])
    found.comments.lock(posted[2], maud, "It goes nowhere.")
    mia, olga = _actor("mia"), _actor("olga")
    found.flags.set(root_of(posted[2]), mia.id, FlagReason.AGAINST_RULES, "Long words: " + TITLES[2])
    found.flags.set(root_of(posted[2]), olga.id, FlagReason.SPAM)
    found.moderation_log.note(Action.BLOCK_HOST, maud, "spam.example", "It sells pills.")
    noted = found.moderation_log.get_page().entries[0]
    return {
        **_decisions(posted[0], gone, maud),
        **_discussion(posted[0], paula, maud),
        "deleted": _deleted_account(posted[1], maud),
        "noted": f"{noted.at:.3f}",
        "own": posted[0],
        "ringed": posted[1],
        "long": posted[2],
        "removed": gone,
        "closed": closed,
        "text": words,
    }


def _failed_task() -> None:
    """Leave a mail that could not be sent for a day."""
    add(deliver, 0, "mia@example.org", "A subject", "A text", "", {})
    error = "smtplib.SMTPServerDisconnected: Connection unexpectedly closed " + TITLES[2]
    DBTaskResult.objects.update(status=TaskResultStatus.FAILED, finished_at=timezone.now(), traceback=error)


def _newcomer(maud: Actor) -> int:
    """Let votes of Nina wait, for whom Maud vouched when a vouch of hers weighed less."""
    nina = User.objects.get(username="nina")
    Vouch.objects.create(by_id=maud.id, member=nina)
    Vouch.objects.create(by_id=maud.id, member=User.objects.get(username="bea"), wrong_at=timezone.now())
    patient_repository().left_out.begin_probation(nina.pk)
    return nina.pk


def _decisions(article: int, gone: int, maud: Actor) -> dict[str, Any]:
    """Let the site give statements of reasons: one that can be appealed, one that is; and a legal notice."""
    choices.save("LEGAL_NOTICES", "1")
    facts = {"reason": "Spam: " + TITLES[2], "ground": "law", "cited": "Section 130", "facts": TITLES[1]}
    paula, appealed_at = User.objects.get(username="paula"), timezone.now()
    made = {"member": paula, "moderator_id": maud.id, "act": "removal", "subject": root_of(gone)} | facts
    stated = Statement.objects.create(**made)
    Statement.objects.create(**made, appeal="It is a quotation. " + TITLES[2], appealed_at=appealed_at)
    User.objects.filter(pk=paula.pk).update(ban_changed_at=appealed_at.timestamp())
    Statement.objects.create(**made | {"member": User.objects.get(username="bea"), "act": "votes", "subject": 0})
    notice = LegalNotice.objects.create(
        address=f"/articles/{article}/",
        reason="illegal",
        cited="Section 130",
        explanation="The second sentence. " + TITLES[2],
        name="Nora",
        email="nora@example.org",
        language="en",
    )
    return {"stated": stated.pk, "noticed": notice.code}


def _deleted_account(article: int, maud: Actor) -> str:
    """Delete an account that posted an article and comments, one of them swept; return what moderators call it."""
    found, dan = patient_repository(), User.objects.create_user("dan")
    found.articles.post(dan.pk, "dan", TITLES[2], f"https://spam.example/{'long-' * 9}", [])
    for text in ("Buy pills", "Buy more"):
        comment = found.comments.post(article, dan.pk, "dan", text)
    sweep = Sweep.objects.create(
        member=dan, moderator_id=maud.id, reason="Spam: " + TITLES[2], since=timezone.now(), removed=1
    )
    found.comments.remove(comment, maud, sweep.reason, sweep.mark)
    account_deletion.begin(dan.pk)
    account_deletion.advance_all(60)
    return f"~{dan.pk}"


def _discussion(article: int, paula: Actor, maud: Actor) -> dict[str, int]:
    """Fill a discussion: replies deeper than the page shows, stubs, and everything that Markdown can draw."""
    comments, parent = patient_repository().comments, None
    for depth in range(12):
        parent = comments.post(
            article, *_author(depth, paula, maud), f"At depth {depth}. " + TITLES[depth % 4], parent=parent
        )
    drawn = comments.post(article, paula.id, paula.name, MARKDOWN)
    comments.cast(drawn, maud.id, Choice.VOTE)
    patient_repository().flags.set(drawn, _actor("mia").id, FlagReason.OFF_TOPIC, "It is about Markdown")
    hidden = comments.post(article, paula.id, paula.name, "Buy now!")
    comments.post(article, maud.id, maud.name, "That is an advertisement.", parent=hidden)
    comments.remove(hidden, maud, "It only advertises.")
    deleted = comments.post(article, maud.id, maud.name, "A mistake")
    comments.post(article, paula.id, paula.name, "I do not think so.", parent=deleted)
    comments.delete(deleted, maud.id)
    return {"deep": drawn, "hidden": hidden}


def _author(depth: int, *members: Actor) -> tuple[int, str]:
    member = members[depth % len(members)]
    return member.id, member.name


def _actor(name: str) -> Actor:
    return Actor(User.objects.get(username=name).pk, name)


def _links() -> dict[str, str]:
    """Return the path of a password reset link, as a mail contains it."""
    user = User.objects.get(username="paula")
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    return {"reset": f"/password/reset/{uid}/{default_token_generator.make_token(user)}/"}


def _failed() -> dict[str, str]:
    """Return the page of an unexpected error, by language: nothing on the site fails on demand."""
    pages = {}
    for language, _ in settings.LANGUAGES:
        with translation.override(language):
            pages[language] = error_pages.failed(RequestFactory().get("/")).content.decode()
    return pages
