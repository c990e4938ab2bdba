"""Decisions about members to the end, as moderators and members of each language read them."""

from datetime import UTC, datetime, timedelta
from itertools import product

import pytest
import time_machine
from django.core import mail
from django.utils.translation import gettext, override

from accounts.models import Ban, Statement, User
from articles import housekeeping
from articles.configuration import choices
from articles.domain.comments import root_of
from articles.domain.flags import FlagReason
from articles.domain.reasons import usual
from articles.formatting.values import as_shown
from tests.cases import for_each
from tests.factories import browser_of, member, post
from tests.pages.lists import text_of

QUEUE = "/moderation/queue/"
LANGUAGES = ("en", "zh-hans", "zh-hant")


def spam_in(language: str) -> str:
    with override(language):
        return as_shown(usual(FlagReason.SPAM))


def speaking(name: str, language: str) -> User:
    User.objects.filter(username=name).update(language=language)
    return User.objects.get(username=name)


@pytest.fixture
def later(site_store):
    """A function that sends what is to be mailed an hour later; returns the mails to alice."""
    hours = iter(range(1, 100))

    def send() -> list[str]:
        mail.outbox.clear()
        with time_machine.travel(datetime.now(UTC) + timedelta(hours=next(hours))):
            housekeeping.run(site_store)
        return [one.body for one in mail.outbox if one.to == ["alice@example.org"]]

    return send


@pytest.fixture
def people(site_store, alice, bob, carol):
    """The member alice, who has all mailed, and two moderators, of a site that gives statements of reasons."""
    choices.save("LEGAL_NOTICES", "1")
    choices.forget()
    address = "alice@example.org"
    User.objects.filter(pk=alice.pk).update(
        email=address, verified_email=address, mail_kinds="moderation,reply", mailed_until=0
    )
    member("dora", moderator=True)
    return bob


_numbers = iter(range(100, 200))


@for_each("of_moderators, of_member", product(LANGUAGES, LANGUAGES))
def test_a_removal_is_told_appealed_answered_in_each_language(of_moderators, of_member, people, site_store, later):
    carol, dora, alice = (speaking(name, of_moderators) for name in ("carol", "dora", "alice"))
    alice = speaking("alice", of_member)
    with override(of_member):
        words = gettext("Reason: %(reason)s")
        answered = gettext("A moderator has answered your appeal against this decision: %(act)s") % {"act": ""}
        reversed_ = gettext("Your appeal was upheld, and the decision was reversed.")
        after, offer = (gettext("After an appeal."), gettext("Read the decision, or appeal"))
    reason, *others = map(spam_in, (of_member, *(one for one in LANGUAGES if one != of_member)))
    article = post(site_store, next(_numbers))
    site_store.flags.set(root_of(article), people.pk, FlagReason.SPAM)
    fields = {"subject": root_of(article), "seen": site_store.store.now(), "usual": "spam", "ground": "rules"}

    browser_of(carol).post(f"{QUEUE}decide/", fields | {"decision": "remove"})

    statement = Statement.objects.latest("pk")
    page = f"/statements/{statement.pk}/"
    pages = [
        text_of(alice, one) for one in ("/inbox/", page, "/statements/", f"/articles/{article}/", "/moderation/")
    ]
    (told,) = later()
    for text in (*pages, told):
        assert words % {"reason": reason} in text
        assert not [one for one in others if one in text]
    assert offer in told
    browser_of(alice).post(page, {"text": "不是 spam"})
    assert "不是 spam" in text_of(dora, QUEUE)

    browser_of(dora).post(f"{QUEUE}statements/{statement.pk}/", {"decision": "lift", "answer": "好 Well"})

    (told,) = later()
    for text in (answered, reason, "好 Well", reversed_, page):
        assert text in told
    assert offer not in told
    for text in (told, text_of(alice, page), text_of(alice, "/moderation/")):
        assert not [one for one in others if one in text]
    assert after in text_of(alice, "/moderation/")
    assert site_store.articles.get(article).removed is None


@for_each("lifts, kinds", product((True, False), ("", "moderation")))
def test_the_answer_to_an_appeal_of_a_ban_is_one_mail_whatever_was_chosen(lifts, kinds, people, site_store, later):
    User.objects.filter(username="alice").update(mail_kinds=kinds)
    carol, dora, alice = (User.objects.get(username=name) for name in ("carol", "dora", "alice"))
    fields = {
        "scope": "posting",
        "days": 7,
        "reason": f"Spam {lifts}{kinds}",
        "ground": "rules",
        "cited": "Rule 3",
    }
    browser_of(carol).post("/users/alice/moderation/", fields)
    row = Ban.objects.latest("pk")

    (told,) = later()
    assert "Read the decision, or appeal" in told
    browser_of(alice).post("/appeal/", {"text": "Please", "ban": row.pk})
    browser_of(dora).post(
        f"{QUEUE}appeals/{row.pk}/", {"decision": "lift" if lifts else "keep", "answer": "I see"}
    )

    (told,) = later()
    assert "A moderator has answered your appeal against this decision: Ban" in told
    assert "I see" in told
    assert fields["reason"] in told
    assert ("the decision was reversed" in told) is lifts
    assert "appeal against it" not in told
    assert "Appeal against a ban" not in told
    assert later() == []
    Ban.objects.all().delete()
    Statement.objects.all().delete()
