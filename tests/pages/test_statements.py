"""Statements of reasons: what members read of decisions about them, and how they appeal."""

import json
import re
from datetime import timedelta

import pytest
from django.core import mail
from django.utils import timezone

from accounts import account_deletion
from accounts.models import AboutFlag, Ban, BanScope, HeldPost, LegalNotice, Statement, User
from accounts.models.law import APPEAL_TIME, STATEMENTS_KEPT, Act
from articles import site
from articles.configuration import choices
from articles.domain.comments import root_of
from articles.domain.flags import FlagReason
from articles.domain.reasons import usual
from articles.housekeeping import run
from articles.models import SiteText
from articles.web import rights, wiring
from moderation import content, profiles, sweeps
from moderation.bans import ban, lift_ban
from moderation.left_out import set_left_out
from moderation.mail import Waiting
from moderation.redactions import redact_article
from tests.caller import error_of, with_token
from tests.factories import actor, browser_of, comment_on, post
from tests.pages.lists import text_of

QUEUE = "/moderation/queue/"
LAW = {"ground": "law", "cited": "Section 130", "facts": "It denies a genocide."}


@pytest.fixture
def law(site_store) -> None:
    """The site gives statements of reasons."""
    choices.save("LEGAL_NOTICES", "1")
    choices.forget()


def removed(article: int, moderator: User) -> Statement:
    content.remove(root_of(article), actor(moderator), "Spam")
    return Statement.objects.get()


def test_a_removal_says_what_it_rests_on_and_its_author_reads_it_in_the_inbox(law, article, alice, carol):
    remove = f"/articles/{article}/remove/"
    assert browser_of(carol).post(remove, {"reason": "Hatred"}).status_code == 400, "it rests on something"
    for _ in range(2):  # pressed twice
        assert browser_of(carol).post(remove, {"reason": "Hatred"} | LAW).status_code == 302

    statement = Statement.objects.get()
    assert (statement.member, statement.act, statement.subject) == (alice, Act.REMOVAL, root_of(article))
    assert (statement.ground, statement.is_automated, statement.by_notice) == ("law", False, False)
    page = f"/statements/{statement.pk}/"
    assert f'href="{page}"' in browser_of(alice).get("/inbox/").text
    told = text_of(alice, page)
    for words in ("Hatred", "A law", "Section 130", "It denies a genocide.", "By a moderator, not automatically."):
        assert words in told
    assert "Section 130" not in browser_of(carol).get("/moderation/").text, "the log has only the reason"


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("# Rules\n\n1. **Be kind.**\n2) No [spam](https://example.org)\n", ["1. Be kind.", "2) No spam"]),
        (
            "# Rules\n\n## Be kind ##\nAlways.\n## No spam\n1. No links\n2. Ever\n",
            ["Be kind", "1. No links", "2. Ever"],
        ),
        ("一、友善\n\n二、不发广告\n", ["一、友善", "二、不发广告"]),
        ("Be kind, at 3.5 of 10.\n", []),
    ],
)
def test_moderators_choose_among_the_rules_of_the_site(law, article, carol, text, rules):
    SiteText.objects.create(name="rules", language="en", text=text)
    site.forget_texts()

    page = browser_of(carol).get(f"/articles/{article}/remove/").text

    assert re.findall(r'<option value="([^"]+)"', page.partition('name="rule"')[2]) == rules
    assert ('name="rule"' in page) == bool(rules)


def test_a_chosen_rule_is_cited_unless_another_one_is_typed(law, site_store, article, alice, carol, bob):
    SiteText.objects.create(name="rules", language="en", text="1. No spam")
    site.forget_texts()
    browser, chosen_one = browser_of(carol), {"ground": "rules", "rule": "1. No spam"}
    page = browser.get(f"/articles/{article}/remove/").text
    assert '<option value="1. No spam" selected' in page, "the only rule is chosen"

    given = {"reason": "Bad", "scope": "posting", "days": "7"} | chosen_one
    assert browser.post(f"/articles/{article}/remove/", given | {"ground": "law"}).status_code == 400
    browser.post(f"/articles/{article}/remove/", given)
    browser.post("/users/alice/moderation/", given | {"cited": "No insults"})
    browser.post("/users/alice/moderation/sweep/", given)
    flagged = post(site_store, 5)
    site_store.flags.set(root_of(flagged), bob.pk, FlagReason.SPAM)
    assert '<option value="1. No spam" selected' in browser.get(QUEUE).text
    decision = {"subject": root_of(flagged), "seen": "9999999999", "decision": "remove", "usual": "spam"}
    browser.post(f"{QUEUE}decide/", decision | chosen_one)

    cited = Statement.objects.order_by("pk").values_list("act", "cited")
    assert list(cited) == [
        (Act.REMOVAL, "1. No spam"),
        (Act.BAN, "No insults"),
        (Act.SWEEP, "1. No spam"),
        (Act.REMOVAL, "1. No spam"),
    ]


def test_others_cannot_read_a_statement(article, alice, bob, carol):
    page = f"/statements/{removed(article, carol).pk}/"

    assert browser_of(alice).get(page).status_code == 200
    assert {browser_of(one).get(page).status_code for one in (bob, carol)} == {404}
    assert browser_of().get(page).status_code == 302


def test_without_the_setting_nothing_is_asked_and_a_removal_can_still_be_appealed(article, alice, carol):
    assert "ground" not in browser_of(carol).get(f"/articles/{article}/remove/").text
    assert browser_of(carol).post(f"/articles/{article}/remove/", {"reason": "Spam"} | LAW).status_code == 302

    statement = Statement.objects.get()
    assert (statement.ground, statement.cited, statement.facts) == ("", "", "")
    told = text_of(alice, f"/statements/{statement.pk}/")
    assert "What the decision rests on" not in told
    assert "Your appeal" in told


def test_every_act_against_a_member_has_one_statement(law, site_store, article, alice, carol):
    other = post(site_store, 5)
    User.objects.filter(pk=alice.pk).update(about="Buy it")
    moderator = actor(carol)
    content.lock(root_of(article), moderator, "In circles")
    content.remove(root_of(other), moderator, "Spam")
    for _ in range(2):  # sent again, or continued
        ban(alice, BanScope.BOTH, "Spam", days=7, moderator=moderator)
        sweeps.remove(sweeps.begin(alice, 1, "All spam", moderator), moderator)
        set_left_out(alice, "A ring", moderator, left_out=True)
        profiles.remove(alice, moderator, "Spam")

    assert sorted(Statement.objects.values_list("act", flat=True)) == sorted(Act)
    assert set(Statement.objects.values_list("member", flat=True)) == {alice.pk}
    inbox = text_of(alice, "/inbox/")
    for words in ("Exclusion of votes from ranking", "Removal of recent articles and comments", "profile text"):
        assert words in inbox
    assert text_of(alice, "/statements/").count("Reason:") == len(Act)


def test_what_many_flags_remove_is_said_to_be_automatic(law, settings, site_store, article, alice, bob):
    settings.FLAGS_TO_REMOVE = 1
    wiring.forget_repositories()
    bob.trust()
    browser_of(bob).post(f"/articles/{article}/flag/", {"reason": FlagReason.SPAM})

    statement = Statement.objects.get()
    assert (statement.member, statement.is_automated, statement.moderator) == (alice, True, None)
    assert "Automatically: many members had flagged it." in text_of(alice, f"/statements/{statement.pk}/")


def test_an_upheld_appeal_restores_what_was_removed(article, site_store, alice, carol, dora):
    statement = removed(article, carol)
    page, answer = f"/statements/{statement.pk}/", f"/moderation/queue/statements/{statement.pk}/"
    assert browser_of(alice).post(page, {"text": ""}).status_code == 400
    for text in ("It is no spam", "Again"):  # only one counts
        assert browser_of(alice).post(page, {"text": text}).headers["Location"] == page
    assert Statement.objects.get().appeal == "It is no spam"

    queue = browser_of(dora).get(QUEUE).text
    assert "It is no spam" in queue
    assert f'action="{answer}"' in queue
    for _ in range(2):  # pressed twice
        browser_of(dora).post(answer, {"decision": "lift", "answer": "You are right"})

    assert site_store.articles.get(article).removed is None
    assert Statement.objects.get().answered_by == dora
    assert "Your appeal was upheld, and the decision was reversed." in text_of(alice, page)
    assert "Your appeal has been answered." in text_of(alice, "/inbox/")
    assert "It is no spam" not in text_of(dora, QUEUE)


def test_a_rejected_appeal_changes_nothing_but_is_answered(article, site_store, alice, carol):
    statement = removed(article, carol)
    browser_of(alice).post(f"/statements/{statement.pk}/", {"text": "Please"})
    answer = f"/moderation/queue/statements/{statement.pk}/"
    browser_of(carol).post(answer, {"decision": "keep", "answer": ""})
    assert Statement.objects.get().answered_at is None, "an answer has words"

    browser_of(carol).post(answer, {"decision": "keep", "answer": "It is"})

    assert site_store.articles.get(article).removed == "Spam"
    assert "It is The decision stays." in text_of(alice, f"/statements/{statement.pk}/")


def test_the_moderator_who_decided_answers_only_if_no_other_can(article, alice, bob, carol, dora):
    statement = removed(article, carol)
    user_ban = ban(bob, BanScope.BOTH, "Spam", days=7, moderator=actor(carol))
    browser_of(alice).post(f"/statements/{statement.pk}/", {"text": "No spam"})
    browser_of(bob).post("/appeal/", {"text": "No spam"})
    forms = (f"/moderation/queue/statements/{statement.pk}/", f"/moderation/queue/appeals/{user_ban.pk}/")

    assert text_of(carol, QUEUE).count("You took this decision yourself.") == 2
    fields = {"decision": "keep", "answer": "It is"}
    assert {browser_of(carol).post(form, fields).status_code for form in forms} == {403}
    assert browser_of(alice).post(forms[0], fields).status_code == 403
    assert {browser_of(dora).get(QUEUE).text.count(f'action="{form}"') for form in forms} == {1}
    User.objects.filter(pk=dora.pk).update(is_active=False)
    assert {browser_of(carol).post(form, fields).headers["Location"] for form in forms} == {QUEUE}
    assert (Statement.objects.get(pk=statement.pk).answer, Ban.objects.get().answer) == ("It is", "It is")


@pytest.mark.parametrize("act", [Act.LOCK, Act.PROFILE, Act.SWEEP, Act.VOTES])
def test_an_upheld_appeal_reverses_each_kind_of_decision(law, site_store, article, alice, carol, act):
    moderator = actor(carol)
    User.objects.filter(pk=alice.pk).update(about="Buy it")
    match act:
        case Act.LOCK:
            content.lock(root_of(article), moderator, "In circles")
        case Act.PROFILE:
            profiles.remove(alice, moderator, "Spam")
        case Act.SWEEP:
            sweeps.remove(sweeps.begin(alice, 1, "Spam", moderator), moderator)
        case Act.VOTES:
            set_left_out(alice, "A ring", moderator, left_out=True)
    statement = Statement.objects.get()
    browser_of(alice).post(f"/statements/{statement.pk}/", {"text": "Please"})

    browser_of(carol).post(
        f"/moderation/queue/statements/{statement.pk}/", {"decision": "lift", "answer": "Well then"}
    )

    found = site_store.articles.get(article)
    assert (found.locked, found.removed) == (None, None)
    assert not site_store.left_out.get_state(alice.pk).is_left_out
    assert User.objects.get(pk=alice.pk).about_removed == ""
    assert Statement.objects.get().upheld


def test_the_time_to_appeal_ends(article, alice, carol):
    statement = removed(article, carol)
    Statement.objects.update(made_at=timezone.now() - APPEAL_TIME)
    page = f"/statements/{statement.pk}/"

    assert "Your appeal" not in text_of(alice, page)
    answer = with_token(alice).put(f"me/statements/{statement.pk}/appeal", {"text": "Late"})
    assert error_of(answer) == (409, "appeal-closed")
    told = browser_of(alice).post(page, {"text": "Late"}, follow=True).text
    assert "You can no longer appeal against this decision." in told
    assert Statement.objects.get().appeal == ""


def test_statements_are_mailed_to_verified_addresses_once(law, site_store, article, alice, bob, carol, settings):
    settings.SITE_URL = "https://news.example.org"
    User.objects.filter(pk=alice.pk).update(email="alice@example.org", verified_email="alice@example.org")
    User.objects.filter(pk=bob.pk).update(email="bob@example.org")
    comment = comment_on(site_store, article, "A comment", bob.pk)
    for subject in (root_of(article), comment):
        content.remove(subject, actor(carol), "Hatred", content.Grounds(*LAW.values()))
    for _ in range(2):
        run(site_store)

    (message,) = mail.outbox
    assert message.to == ["alice@example.org"]
    number = Statement.objects.get(member=alice).pk
    for words in (
        "Hatred",
        "Section 130",
        f"https://news.example.org/statements/{number}/",
        f"/articles/{article}/",
    ):
        assert words in message.body


def test_the_queue_takes_the_ground_of_a_removal_from_the_flags(law, site_store, article, bob, alice, carol):
    site_store.flags.set(root_of(article), bob.pk, FlagReason.SPAM)
    fields = {"subject": root_of(article), "seen": site_store.store.now(), "decision": "remove", "usual": "spam"}
    browser_of(carol).post(f"{QUEUE}decide/", fields | {"ground": "law"})
    assert not Statement.objects.exists(), "a law has to be named"

    browser_of(carol).post(f"{QUEUE}decide/", fields | {"ground": "rules", "cited": ""})

    assert Statement.objects.values_list("ground", "cited").get() == ("rules", usual(FlagReason.SPAM))


def test_programs_say_what_a_decision_rests_on_and_members_appeal_by_them(law, article, alice, carol):
    body = {"removed": True, "reason": "Hatred"}
    assert error_of(with_token(carol).put(f"articles/{article}/removed", body)) == (400, "cited-empty")
    assert with_token(carol).put(f"articles/{article}/removed", body | LAW).status_code == 200

    (one,) = with_token(alice).get("me/statements").json()["statements"]
    assert (one["act"], one["ground"], one["article_id"], one["appealable"]) == ("removal", "law", article, True)
    for text in ("Please", "Again"):
        answer = with_token(alice).put(f"me/statements/{one['id']}/appeal", {"text": text})
        assert (answer.status_code, answer.json()["appeal"]) == (200, "Please")
    assert with_token(carol).get("me/statements").json() == {"statements": [], "next_after": None}


@pytest.mark.parametrize(
    ("method", "path", "body", "act"),
    [
        ("put", "comments/{comment}/removed", {"removed": True}, Act.REMOVAL),
        ("put", "articles/{article}/locked", {"locked": True}, Act.LOCK),
        ("put", "users/alice/bans/posting", {"banned": True}, Act.BAN),
        ("put", "groups/python/bans/alice", {"banned": True}, Act.BAN),
        ("put", "users/alice/left-out", {"left_out": True}, Act.VOTES),
        ("put", "users/alice/about", {"removed": True}, Act.PROFILE),
        ("post", "users/alice/sweeps", {"days": 1}, Act.SWEEP),
    ],
)
def test_each_decision_of_a_program_says_what_it_rests_on(
    law, site_store, article, alice, carol, method, path, body, act
):
    User.objects.filter(pk=alice.pk).update(about="Hatred")
    body, call = body | {"reason": "Hatred"}, getattr(with_token(carol), method)
    path = path.format(article=article, comment=comment_on(site_store, article, "Hatred", alice.pk))

    assert error_of(call(path, body)) == (400, "cited-empty")
    assert call(path, body | LAW).status_code < 300
    assert Statement.objects.values_list("act", "ground", "cited").get() == (act, "law", "Section 130")


def test_a_redaction_reaches_statements(article, alice, carol):
    removed(article, carol)

    redact_article(article, ["Spam"], "A name", actor(carol))

    assert Statement.objects.get().reason == "[redacted]"


def test_the_export_has_decisions_and_the_deletion_of_the_account_forgets_them(law, article, alice, carol):
    content.remove(root_of(article), actor(carol), "Hatred", content.Grounds(*LAW.values()))
    (one,) = json.loads(browser_of(alice).get("/settings/data/").getvalue())["decisions"]
    assert (one["act"], one["article"], one["cited"]) == ("removal", article, "Section 130")

    account_deletion.begin(alice.pk)

    assert_forgotten()


def test_housekeeping_forgets_old_statements_but_counts_them(law, site_store, article, alice, carol):
    content.remove(root_of(article), actor(carol), "Hatred", content.Grounds(*LAW.values()))
    made = timezone.now() - STATEMENTS_KEPT
    Statement.objects.update(made_at=made, appealed_at=made)
    run(site_store)
    assert Statement.objects.get().member == alice, "its appeal is open"

    Statement.objects.update(
        answered_at=made - timedelta(seconds=1), upheld=True, made_at=made - timedelta(hours=1)
    )
    run(site_store)

    assert_forgotten()
    assert Statement.objects.values_list("act", "ground", "upheld").get() == ("removal", "law", True)
    Statement.objects.update(made_at=timezone.now() - timedelta(days=1096))
    run(site_store)
    assert not Statement.objects.exists()


def assert_forgotten() -> None:
    left = Statement.objects.values_list("member", "moderator", "subject", "reason", "cited", "facts").get()
    assert left == (None, None, 0, "", "", "")


def reversals(member: User, article: int, moderator):
    """Yield each act against a member with what takes it back, by the moderator and not after an appeal."""
    root, why, no = root_of(article), (moderator, "Why"), (moderator, "No")
    yield Act.LOCK, lambda: content.lock(root, *why), lambda _: content.unlock(root, *no)
    yield Act.REMOVAL, lambda: content.remove(root, *why), lambda _: content.restore(root, *no)
    yield (
        Act.SWEEP,
        lambda: sweeps.remove(sweeps.begin(member, 1, "Why", moderator), moderator),
        lambda one: sweeps.restore(one.sweep, "No", moderator),
    )
    yield (
        Act.VOTES,
        lambda: set_left_out(member, "Why", moderator, left_out=True),
        lambda _: set_left_out(member, "No", moderator, left_out=False),
    )
    yield (
        Act.BAN,
        lambda: ban(member, BanScope.BOTH, "Why", days=7, moderator=moderator),
        lambda one: lift_ban(one.ban, "No", moderator),
    )


def test_a_decision_that_was_taken_back_says_so_and_cannot_be_appealed(law, site_store, article, alice, carol):
    for act, decide, take_back in reversals(alice, article, actor(carol)):
        decide()
        statement = Statement.objects.latest("pk")
        assert statement.act == act
        page = f"/statements/{statement.pk}/"
        assert "reversed" not in text_of(alice, page)

        take_back(statement)

        told = text_of(alice, page)
        assert "This decision was reversed on" in told, act
        assert "Your appeal" not in told
        assert "You can appeal until" not in told
        assert "court" not in told
        assert 'href="/appeal/"' not in browser_of(alice).get(page).text
        assert "This decision was reversed on" in text_of(alice, "/statements/"), act
        own = with_token(alice).get("me/statements").json()["statements"][0]
        assert own["id"] == statement.pk
        assert (own["appealable"], own["reversed"] is not None) == (False, True)
        refused = with_token(alice).put(f"me/statements/{statement.pk}/appeal", {"text": "Please"})
        assert refused.status_code == 409
        decide()
        again = Statement.objects.latest("pk")
        assert (again.act, again.reversed_at) == (act, None), "the same, decided later"
        take_back(again)


def test_what_waits_is_counted_and_mailed_to_who_decides(site_store, article, alice, bob, carol, dora, law):
    own = post(site_store, 5, poster=carol.pk)
    comment = comment_on(site_store, article, "Mine", carol.pk)
    User.objects.filter(pk=carol.pk).update(about="About me")
    for subject in (root_of(own), comment):
        site_store.flags.set(subject, bob.pk, FlagReason.SPAM)
    AboutFlag.objects.create(member=carol, flagger=bob, reason="spam")
    HeldPost.objects.create(author=carol, title="Held")
    for address in (f"/articles/{own}/", f"/comments/{comment}/"):
        LegalNotice.objects.create(address=address, reason="illegal", explanation="Why", language="en")
    LegalNotice.objects.create(address="/users/carol/", member=carol, reason="illegal", language="en")
    Statement.objects.send_appeal(removed(article, carol), "Please")
    set_left_out(alice, "A ring", actor(carol), left_out=True)
    Statement.objects.send_appeal(Statement.objects.get(act=Act.VOTES), "Please")
    user_ban = ban(bob, BanScope.BOTH, "Spam", days=7, moderator=actor(carol))
    Ban.objects.filter(pk=user_ban.pk).update(appeal="Please", appealed_at=timezone.now())

    rights.forget_waiting()
    numbers = {one.username: rights.count_waiting(one) for one in (carol, dora, alice)}
    waiting = Waiting(site_store, 0, timezone.now().timestamp() + 60)
    rows = {one.username: len(waiting.rows_for(one, 0)) for one in (carol, dora)}

    assert numbers == {"carol": 0, "dora": 10, "alice": 0}
    assert rows == {"carol": 0, "dora": 10}
    assert "Queue (10)" in text_of(dora, QUEUE)
    assert "Queue (" not in text_of(carol, QUEUE)


def test_reports_of_the_abuse_of_children_stand_first(law, article, alice, carol):
    page = f"/articles/{article}/"
    for reason in ("illegal", "child-abuse", "rules"):
        LegalNotice.objects.create(address=page, reason=reason, explanation=reason, language="en")

    told = text_of(carol, QUEUE)

    places = [told.index(one) for one in ("Urgent: decide on it first", "It shows the sexual", "It is illegal")]
    assert places == sorted(places)
    rows = Waiting(wiring.repository(), 0, timezone.now().timestamp() + 60).rows_for(carol, 0)
    assert "child" in rows[0].text
