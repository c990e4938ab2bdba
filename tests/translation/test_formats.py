"""Numbers, dates, ages and durations in Chinese."""

import time
from datetime import UTC, datetime

import pytest
from django.utils import translation
from django.utils.safestring import SafeString

from articles.formatting import units
from articles.formatting.values import age, duration, full_date, grouped, listed, prose, significant
from articles.views.ranking import chart_labels

AT = datetime(2026, 11, 21, 14, 30, tzinfo=UTC).timestamp()


@pytest.fixture(autouse=True)
def chinese(settings):
    settings.TIME_ZONE = "UTC"
    with translation.override("zh-hans"):
        yield


def test_dates_are_in_chinese_form():
    assert full_date(AT) == "2026年11月21日 14:30 UTC"
    assert chart_labels.day(datetime(2026, 11, 21, tzinfo=UTC)) == "11月21日"


def test_numbers_are_grouped_in_threes():
    assert [grouped(n) for n in (0, 999, 1000, 1234567)] == ["0", "999", "1,000", "1,234,567"]
    assert significant(1234567.5) == "1,234,568"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "刚刚"), (59, "刚刚"), (60, "1 分钟前"), (3 * 3600, "3 小时前"),
        (86400, "1 天前"), (800 * 86400, "2 年前"),
    ],
)  # fmt: skip
def test_ages_are_in_chinese(seconds, words, monkeypatch):
    monkeypatch.setattr(time, "time", lambda: AT)

    assert age(AT - seconds) == words


def test_durations_are_in_chinese():
    assert [duration(n) for n in (0.5, 1, 432, 90_000)] == ["0.5 秒", "1 秒", "7 分钟 12 秒", "1 天 1 小时"]
    assert [units.span(n) for n in (8, 725, 90_000)] == ["8 秒", "12 分 5 秒", "1 天 1 小时"]


def test_lists_of_words_are_in_chinese():
    assert listed(["票数", "热度", "评分"]) == "票数、热度、评分"


def test_consecutive_sentences_have_no_space_between_them():
    assert prose("发布了。 还没有票。\n  共 3 篇： A. And B.") == "发布了。还没有票。共 3 篇：A. And B."
    assert isinstance(prose(SafeString("好。 <b>")), SafeString)
