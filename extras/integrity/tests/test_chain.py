"""Days join the chain once, also after the folder was away."""

import json
from datetime import date, timedelta

import pytest

from accounts.models import BallotRecord
from articles.web import ballots, extras
from extras.integrity.chain import first_open_day
from extras.integrity.models import ChainDay, MonthReport
from extras.integrity.tests.doors import find_wrong
from tests.ballots.records import record_of
from tests.factories import post
from tests.store_state import record_again


@pytest.fixture(autouse=True)
def accounts(alice, bob, carol):
    """The cast has accounts."""


def test_a_day_joins_the_chain_when_it_has_ended(site_store, article, close, let_pass):
    close()
    assert not ChainDay.objects.exists()

    let_pass(1)

    (day,) = ChainDay.objects.all()
    assert json.loads(day.text)["records"] == [[article, 1, record_of(article).digest]]
    assert day.day.isoformat() == record_of(article).day
    assert find_wrong(site_store) == []


def test_a_record_never_joins_a_day_that_has_ended(site_store, article, time_of, close, let_pass):
    close()
    let_pass(1)
    ended = ChainDay.objects.get()
    post(site_store, 2)
    close()
    BallotRecord.objects.filter(article_id__gt=article).delete()
    later = ended.day + timedelta(days=40)
    ChainDay.objects.create(day=later, hash="0" * 64, number=0, text="{}")
    record_again(site_store, article + 1)

    ballots.record_closed(site_store, 60)

    assert record_of(article + 1).day == (later + timedelta(days=1)).isoformat()


@pytest.fixture
def away(monkeypatch):
    """A function that takes the folder away, or puts it back: its step does not run, and it closes no day."""

    def take(is_away: bool) -> None:
        if is_away:
            monkeypatch.setattr(extras, "installed", tuple)
            ballots.recording.disconnect(dispatch_uid="extras.integrity")
        else:
            monkeypatch.undo()
            ballots.recording.connect(first_open_day, dispatch_uid="extras.integrity")

    yield take
    take(False)


@pytest.mark.parametrize("chain", ["goes on", "was forgotten", "is new"])
def test_what_was_recorded_while_the_folder_was_away_joins_the_chain_when_it_is_back(
    site_store, article, close, let_pass, away, chain
):
    """Over the ends of two months, also after `forget_extra`, and as a folder that comes to an older site."""
    away(chain == "is new")
    close()
    let_pass(1)
    before = list(ChainDay.objects.values_list("day", "hash"))
    away(True)
    for number in range(2, 11):
        post(site_store, number)
        close()
    assert list(ChainDay.objects.values_list("day", "hash")) == before
    assert bool(before) != (chain == "is new")
    assert BallotRecord.objects.count() == 10

    if chain == "was forgotten":
        for model in (ChainDay, MonthReport):
            model.objects.all().delete()

    away(False)
    let_pass(1)

    assert find_wrong(site_store) == []
    days = list(ChainDay.objects.all())
    assert [(one.day, one.hash) for one in days[: len(before)]] == before
    listed = [row[0] for one in days for row in json.loads(one.text)["records"]]
    assert listed == [row.article_id for row in BallotRecord.objects.order_by("day")]
    months = [date.fromisoformat(f"{month}-01") for one in days for month, _ in json.loads(one.text)["reports"]]
    assert months == [one.month for one in MonthReport.objects.all()]
    assert len(months) >= 2
