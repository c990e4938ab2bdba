"""Each month has one report, which never changes and tells of no one."""

import csv
import json
from collections import Counter
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import BallotRecord, Ban, BanScope, Invitation, LegalNotice, Statement, User
from articles.domain.articles import Choice
from articles.domain.comments import root_of
from articles.domain.flags import FlagReason
from articles.domain.moderation_log import Actor
from articles.web import ballots
from extras.integrity.models import ChainDay, MonthReport
from extras.integrity.months import complete_months, count, following
from extras.integrity.tests.doors import find_wrong
from moderation.bans import ban, lift_ban
from moderation.flags import REASONS
from tests.ballots.records import record_of
from tests.cast import BOB, CAROL
from tests.factories import browser_of, comment_on, post
from tests.store_state import change_article, write_acts

MODERATOR = Actor(CAROL, "carol")


@pytest.fixture(autouse=True)
def accounts(alice, bob, carol):
    """The cast has accounts."""


@pytest.fixture
def young(accounts, site_store):
    """The accounts are from the day on which voting on the first articles closes."""
    User.objects.update(date_joined=datetime.fromtimestamp(site_store.store.now() + 7 * 86400, UTC))


def figures(month):
    return json.loads(MonthReport.objects.get(month=month).text)["figures"]


@pytest.fixture
def ended(young, site_store, article, close, time_of, let_pass):
    """The first day of a month with a closed article, which has ended."""
    site_store.votes.cast(article, BOB, Choice.VOTE)
    close()
    month = date.fromisoformat(record_of(article).day).replace(day=1)
    while not MonthReport.objects.filter(month=month).exists():
        let_pass(5)
    return month


def test_a_month_is_reported_once_it_has_ended(ended, let_pass):
    (report,) = MonthReport.objects.all()
    assert report.month == ended
    assert figures(ended)["articles_closed"] == "<5"
    assert figures(ended)["votes"] == "<5"
    assert figures(ended)["opposes"] == 0
    before = report.text

    let_pass(3)

    assert MonthReport.objects.get().text == before


def test_no_day_comes_before_the_report_of_an_earlier_month(
    young, site_store, article, close, let_pass, monkeypatch
):
    """Not even if a process dies as soon as it has made the first record of the new month."""
    close()
    month = date.fromisoformat(record_of(article).day).month

    def dies(*_):
        raise InterruptedError

    with monkeypatch.context() as patched:
        patched.setattr(type(site_store.ballots), "note", dies)
        while (latest := BallotRecord.objects.latest("day").day).month == month:
            post(site_store, BallotRecord.objects.count() + 1)
            with pytest.raises(InterruptedError):
                close()
    let_pass(1)
    assert MonthReport.objects.get().day <= latest


def test_a_reported_month_gets_no_more_records(ended, site_store, time_of):
    ChainDay.objects.all().delete()
    number = post(site_store, 2)
    time_of.advance(-20 * 86400)
    site_store.clock.accept()
    change_article(site_store, number, {"time": time_of() - 8 * 86400, "closes": time_of() - 86400})

    ballots.record_closed(site_store, 60)

    assert record_of(number).day >= following(ended).isoformat()


def test_the_report_is_in_the_chain(ended, site_store, let_pass):
    let_pass(1)
    report = MonthReport.objects.get()

    assert [f"{ended:%Y-%m}", report.digest] in json.loads(ChainDay.objects.get(day=report.day).text)["reports"]
    assert find_wrong(site_store) == []
    MonthReport.objects.update(text=report.text.replace('"<5"', "9", 1))
    name = f"/integrity/{ended:%Y-%m}.json"
    assert f"18: the digest of {name} is not the one in the chain" in find_wrong(site_store)


def test_without_records_there_are_reports_without_votes(site_store, article, let_pass, settings):
    settings.BALLOT_DAYS = 0
    let_pass(31)

    (report, *_rest) = MonthReport.objects.all()
    assert "votes" not in json.loads(report.text)["figures"]
    assert "bans" in json.loads(report.text)["figures"]


def test_the_first_month_is_of_the_first_account_whenever_voting_closes(site_store, alice, let_pass, settings):
    settings.VOTING_WINDOW_DAYS = 365
    User.objects.create_user("old", date_joined=datetime(2009, 1, 1, tzinfo=UTC), imported=True)
    User.objects.update_or_create(pk=alice.pk, defaults={"date_joined": datetime(2026, 8, 31, 23, 59, tzinfo=UTC)})

    let_pass(31)

    assert MonthReport.objects.earliest("month").month == date(2026, 8, 1)
    assert figures(date(2026, 8, 1)).items() >= {"sign_ups_others": "<5", "votes": 0}.items()
    assert find_wrong(site_store) == []


def test_votes_are_reported_when_records_are_not_made(young, site_store, article, close, let_pass, settings):
    close()
    settings.BALLOT_DAYS = 0
    let_pass(31)
    let_pass(1)

    assert json.loads(MonthReport.objects.earliest("month").text)["figures"]["votes"] == "<5"
    assert find_wrong(site_store) == []


def now_until(site_store):
    today = date.fromtimestamp(site_store.store.now())
    return today - timedelta(days=2), today + timedelta(days=2)


def test_what_moderators_did_is_counted(site_store, article, bob, carol):
    others = [post(site_store, number) for number in range(2, 5)]
    site_store.articles.remove(article, MODERATOR, str(REASONS[FlagReason.SPAM]))
    site_store.articles.remove(others[0], MODERATOR, "垃圾信息")
    site_store.articles.remove(others[1], MODERATOR, "It repeats another one")
    site_store.articles.restore(others[1], MODERATOR, "It does not")
    comment = comment_on(site_store, others[2], "A comment")
    site_store.comments.remove(comment, MODERATOR, str(REASONS[FlagReason.OFF_TOPIC]))
    site_store.comments.lock(others[2], MODERATOR, "Enough")
    list(site_store.left_out.leave_out(BOB, "bob", MODERATOR, "A ring"))
    ban(bob, BanScope.VOTING, "A ring", days=7, moderator=MODERATOR)
    begin, end = now_until(site_store)

    found = +count(site_store, begin, end)

    assert found == {
        "articles_removed": 3,
        "articles_restored": 1,
        "comments_removed": 1,
        "discussions_locked": 1,
        "members_left_out": 1,
        "bans": 1,
        "removed_spam": 2,
        "removed_off_topic": 1,
        "removed_other": 1,
        "sign_ups_others": 3,
    }
    assert not +count(site_store, begin - timedelta(days=9), begin), "another month"


def test_what_the_site_removed_by_itself_is_counted_apart(site_store, article):
    site_store.store.rules = replace(site_store.rules, flags_to_remove=0.1)
    site_store.flags.set(root_of(article), BOB, FlagReason.SPAM)
    begin, end = now_until(site_store)

    found = +count(site_store, begin, end)

    assert (found["articles_removed_automatically"], found["articles_removed"]) == (1, 0)


def test_appeals_and_sign_ups_are_counted(site_store, bob, carol):
    begun = ban(bob, BanScope.POSTING, "Spam", days=7, moderator=MODERATOR)
    now = begun.begins_at
    Ban.objects.filter(pk=begun.pk).update(appeal="Please", appealed_at=now)
    Ban.objects.answer(begun, "Once more", carol.pk)
    lift_ban(begun, "", MODERATOR, after_appeal=True)
    invited = User.objects.create_user("dora")
    Invitation.objects.create(inviter=bob, code="x", expires_at=now, invited=invited)
    User.objects.create_user("ivan", imported=True)
    begin, end = now_until(site_store)

    found = +count(site_store, begin, end)

    names = ("appeals", "appeals_upheld", "appeals_rejected", "sign_ups_invited", "sign_ups_others")
    assert [found[name] for name in names] == [1, 1, 0, 1, 3]


LONG_AGO = timedelta(days=90)


def test_notices_decisions_and_appeals_are_counted_when_each_came(site_store, bob):
    now = timezone.now()
    for reason, outcome, made, decided in (
        ("illegal", "removed", now, now),
        ("illegal", "kept", now - LONG_AGO, now),
        ("rules", "", now, None),
        ("child-abuse", "removed", now - LONG_AGO, now - LONG_AGO),
    ):
        LegalNotice.objects.create(
            address="/articles/1/", reason=reason, outcome=outcome, made_at=made, decided_at=decided
        )
    for act, ground, made, appealed, answered, upheld in (
        ("removal", "law", now, now, now, True),
        ("lock", "rules", now - LONG_AGO, now, now, False),
        ("sweep", "rules", now, now, None, None),
        ("lock", "law", now - LONG_AGO, now - LONG_AGO, now, False),
        ("removal", "rules", now - LONG_AGO, now - LONG_AGO, now - LONG_AGO, True),
        ("ban", "rules", now, now, now, True),
    ):
        Statement.objects.create(
            member=bob,
            act=act,
            ground=ground,
            reason="?",
            by_notice=ground == "law",
            made_at=made,
            appealed_at=appealed,
            answered_at=answered,
            upheld=upheld,
        )
    begin, end = now_until(site_store)

    found = +count(site_store, begin, end)

    names = ("notices", "other", "statements")
    assert {name: number for name, number in found.items() if name.startswith(names)} == {
        "notices_illegal": 1,
        "notices_rules": 1,
        "notices_removed": 1,
        "notices_kept": 1,
        "statements_law": 1,
        "statements_rules": 2,
        "statements_after_notice": 1,
        "other_appeals": 3,
        "other_appeals_upheld": 1,
        "other_appeals_rejected": 2,
    }


def test_what_automatic_rules_did_is_not_counted_as_moderators(site_store, article):
    site_store.comments.lock(article, Actor(0, "*Night"), "A rule")
    begin, end = now_until(site_store)

    found = +count(site_store, begin, end)

    assert found["discussions_locked_automatically"] == 1
    assert found["discussions_locked"] == 0


def test_acts_of_another_version_are_not_counted(site_store, article, carol):
    write_acts(site_store, (article, "pin", "A title"), added="", parts="", days="x")

    assert not +count(site_store, *now_until(site_store)) - Counter(sign_ups_others=3)


def test_readers_see_reports_and_download_them(ended):
    name = f"{ended:%Y-%m}"
    index, page = (browser_of().get(address).text for address in ("/integrity/", f"/integrity/{name}/"))
    for text in (index, page):
        assert f"Report of {name}" in text
        assert "fewer than 5" in text
    assert Client().get(f"/integrity/{name}.json").json()["figures"] == figures(ended)
    rows = list(csv.reader(Client().get("/integrity/months.csv").content.decode().splitlines()))
    assert rows[0] == ["month", "figure", "number"]
    assert [name, "votes", "<5"] in rows
    assert f"Report of {name}" in Client().get("/integrity/days.atom").content.decode()


def test_two_processes_make_one_report(ended, site_store):
    MonthReport.objects.all().delete()
    day = BallotRecord.objects.get().day + timedelta(days=40)
    assert complete_months(site_store, day, day) == 1
    assert complete_months(site_store, day, day) == 0
