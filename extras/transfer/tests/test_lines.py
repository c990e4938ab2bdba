"""Conversion between rows of text and articles."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given, strategies as st

from articles.domain.articles import Article, ImportedArticle
from articles.text.lines import InvalidInput, clean_title
from extras import transfer
from extras.transfer.fields import MOST_OPEN_VOTES, SENTENCES, BadRow, Reading, parse_line
from extras.transfer.lines import fields_of, format_line, read_row

NOW = 1_700_000_000.0
WINDOW = 7 * 86400
READING = Reading(NOW, WINDOW)
LONG_AGO = 1_600_000_000


def fields(**changes):
    full = {"title": "Redis", "link": "https://example.org/", "time": LONG_AGO, "votes": 5}
    return full | changes


def code(call, *args):
    with pytest.raises(BadRow) as caught:
        call(*args)
    return caught.value.code


def counts(**changes):
    row = read_row(fields(**changes), READING)
    return row.votes, row.opposes


def test_a_row_becomes_an_article():
    row = read_row(fields(poster="bob", groups=["Python", "C++"], comments=7, time=LONG_AGO + 0.12345), READING)
    assert row == ImportedArticle(
        "Redis", "https://example.org/", 0, "bob", LONG_AGO + 0.123, 5, 0, ("python", "cpp")
    )


def test_the_end_of_voting_follows_the_shifted_time_and_limits_the_votes():
    many, ending = MOST_OPEN_VOTES + 1, {"closes": LONG_AGO + WINDOW}
    shifted = replace(READING, shift=NOW - LONG_AGO - 8 * 86400, voting_window=30 * 86400)

    assert read_row(fields(**ending, votes=many), shifted).closes_at == NOW - 86400
    assert read_row(fields(**ending), READING).closes_at == LONG_AGO + WINDOW
    assert code(read_row, fields(votes=many), shifted) == "votes-open"
    assert code(read_row, fields(closes=LONG_AGO + 9 * 86400, votes=many), shifted) == "votes-open"


@pytest.mark.parametrize("poster", [{}, {"poster": None}, {"poster": ""}, {"poster": "  "}])
def test_a_row_without_a_poster_has_an_unknown_poster(poster):
    row = read_row(fields(**poster), READING)
    assert (row.poster, row.poster_name) == (0, "")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"{", "row-json"), (b"", "row-json"), (b'{"time": ' + b"1" * 5000 + b"}", "row-json"),
        (b"[" * 200_000, "row-json"), (b'{"title": "\xff"}', "row-encoding"), (b"[]", "row-object"),
        (b"null", "row-object"), (b'"text"', "row-object"),
        (b'{"title": "' + b"a" * 1_000_000 + b'"}', "row-long"),
    ],
)  # fmt: skip
def test_a_line_that_is_not_an_object_is_refused(line, expected):
    assert code(parse_line, line) == expected


@pytest.mark.parametrize("name", ["title", "link", "time", "votes"])
def test_a_missing_field_is_named(name):
    assert code(read_row, fields(**{name: None}), READING) == f"{name}-missing"
    assert code(read_row, {k: v for k, v in fields().items() if k != name}, READING) == f"{name}-missing"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"title": 5}, "title-kind"), ({"title": " "}, "title-empty"), ({"title": "a" * 301}, "title-long"),
        ({"title": "\ud800"}, "title-encoding"), ({"link": ["https://example.org"]}, "link-kind"),
        ({"link": "javascript:alert(1)"}, "link-scheme"),
        ({"link": "https://user@example.org/"}, "link-userinfo"),
        ({"link": ""}, "link-empty"), ({"poster": 5}, "poster-kind"), ({"poster": 0}, "poster-kind"),
        ({"time": "1600000000"}, "time-kind"), ({"time": True}, "time-kind"),
        ({"time": math.nan}, "time-kind"), ({"time": math.inf}, "time-late"),
        ({"time": -math.inf}, "time-early"), ({"time": 10**400}, "time-late"),
        ({"time": -(10**400)}, "time-early"), ({"time": 0}, "time-early"),
        ({"time": 631_151_999}, "time-early"), ({"time": NOW + 86_401}, "time-late"),
        ({"closes": "soon"}, "closes-kind"), ({"closes": math.nan}, "closes-kind"),
        ({"closes": LONG_AGO - 1}, "closes-early"), ({"closes": -(10**400)}, "closes-early"),
        ({"closes": LONG_AGO + 367 * 86400}, "closes-late"), ({"closes": 10**400}, "closes-late"),
        ({"votes": True}, "votes-kind"), ({"votes": 5.0}, "votes-kind"), ({"votes": "5"}, "votes-kind"),
        ({"votes": 10**9 + 1}, "votes-many"), ({"votes": -(10**9)}, "votes-many"),
        ({"votes": 10**400}, "votes-many"), ({"votes": 3, "opposes": -1}, "opposes-kind"),
        ({"votes": -1, "opposes": 1}, "opposes-kind"), ({"votes": 3, "opposes": True}, "opposes-kind"),
        ({"votes": False, "opposes": 1}, "opposes-kind"), ({"votes": 3, "opposes": 1.5}, "opposes-kind"),
        ({"votes": 3, "opposes": 10**9 + 1}, "votes-many"), ({"groups": "python"}, "groups-kind"),
        ({"removed": ""}, "reason-empty"), ({"removed": True}, "reason-kind"),
    ],
)  # fmt: skip
def test_an_invalid_row_is_refused_with_its_cause(changes, expected):
    assert code(read_row, fields(**changes), READING) == expected


def test_every_refusal_code_of_a_row_has_a_message():
    source = "".join(path.read_text("utf-8") for path in Path(transfer.__file__).parent.glob("*.py"))

    assert set(re.findall(r'BadRow\("([a-z-]+)"', source)) <= SENTENCES.keys()
    assert all(message.endswith(".") for message in SENTENCES.values())
    with pytest.raises(BadRow, match="The line is not valid JSON"):
        parse_line(b"{")


@pytest.mark.parametrize("time", [631_152_000, NOW, NOW + 86_400])
def test_the_first_and_the_last_possible_time_are_accepted(time):
    assert read_row(fields(time=time), READING).posted_at == time


@pytest.mark.parametrize(
    ("total", "expected"), [(1, (1, 0)), (2, (2, 0)), (0, (1, 1)), (-22, (1, 23)), (10**9, (10**9, 0))]
)
def test_a_total_includes_the_posters_vote(total, expected):
    assert counts(votes=total) == expected
    assert expected[0] - expected[1] == total


@pytest.mark.parametrize("given", [(3, 2), (0, 0), (0, 5), (1, 0), (10**9, 10**9)])
def test_separate_counts_are_unchanged(given):
    assert counts(votes=given[0], opposes=given[1]) == given


def test_an_open_article_has_at_most_a_million_voters():
    opening = NOW - WINDOW
    assert code(read_row, fields(time=opening, votes=MOST_OPEN_VOTES + 1), READING) == "votes-open"
    assert code(read_row, fields(time=opening, votes=MOST_OPEN_VOTES - 1, opposes=2), READING) == "votes-open"
    assert read_row(fields(time=opening, votes=MOST_OPEN_VOTES), READING).votes == MOST_OPEN_VOTES
    assert read_row(fields(time=opening - 1, votes=MOST_OPEN_VOTES + 1), READING).votes > MOST_OPEN_VOTES


def test_times_are_shifted_to_the_millisecond_after_they_are_checked():
    assert read_row(fields(), replace(READING, shift=1.23456)).posted_at == LONG_AGO + 1.235
    assert code(read_row, fields(time=NOW + 86_401), replace(READING, shift=-90_000.0)) == "time-late"


def test_an_invalid_group_is_skipped_and_the_others_are_kept():
    left_out = list[BadRow]()
    groups = ["python", "a b", "", "Python", 5, None, "g" * 31, "redis"]
    row = read_row(fields(groups=groups), READING, left_out.append)
    assert row.groups == ("python", "redis")
    assert [bad.code for bad in left_out] == ["slug-form", "slug-form", "slug-kind", "slug-kind", "slug-long"]


def test_the_first_twenty_groups_are_kept():
    left_out = list[BadRow]()
    row = read_row(fields(groups=[f"group{n}" for n in range(21)]), READING, left_out.append)
    assert row.groups == tuple(f"group{n}" for n in range(20))
    assert [bad.code for bad in left_out] == ["slug-many"]


@pytest.mark.parametrize("groups", [{}, {"groups": None}, {"groups": []}])
def test_an_article_can_be_in_no_group(groups):
    assert read_row(fields(**groups), READING).groups == ()


def test_references_are_unescaped_only_on_request():
    escaped = fields(title="A &amp; B &#39;C&#x27; &lt;", link="https://example.org/?a=1&amp;b=2")
    assert read_row(escaped, READING).title == "A &amp; B &#39;C&#x27; &lt;"
    row = read_row(escaped, replace(READING, unescape=True))
    assert (row.title, row.link) == ("A & B 'C' <", "https://example.org/?a=1&b=2")


def test_parameters_that_look_like_references_are_kept():
    link = "https://example.org/?a=1&region=Footer&copy=2&lt=3"
    row = read_row(fields(title="R&D &notes &amp;amp;", link=link), replace(READING, unescape=True))
    assert (row.title, row.link) == ("R&D &notes &amp;", link)


def outcome(call):
    """Return the result of the call, or the code of its refusal."""
    try:
        return call()
    except (BadRow, InvalidInput) as refused:
        return refused.code


TITLES = st.text(max_size=320) | st.text(alphabet=" !~\t\x7f\x1f", max_size=320)


@given(TITLES)
@example("two  spaces")
@example("a\x7fb")
@example("a" * 301)
def test_a_title_is_the_result_of_clean_title(raw):
    assert outcome(lambda: read_row(fields(title=raw), READING).title) == outcome(lambda: clean_title(raw))


def article(**changes):
    base = Article(
        id=1,
        title="Redis 数据库",
        link="https://example.org/",
        poster=3,
        poster_name="bob",
        posted_at=LONG_AGO + 0.123,
        votes=5,
        opposes=0,
        score=0.0,
        closes_at=LONG_AGO + WINDOW + 0.123,
        groups=("python", "redis"),
    )
    return replace(base, **changes)


def test_the_row_of_an_article_has_only_the_necessary_fields():
    assert fields_of(article()) == {
        "title": "Redis 数据库",
        "link": "https://example.org/",
        "poster": "bob",
        "time": LONG_AGO + 0.123,
        "closes": LONG_AGO + WINDOW + 0.123,
        "votes": 5,
        "groups": ["python", "redis"],
    }
    assert '"time": 1600000000,' in format_line(article(posted_at=float(LONG_AGO))).decode()
    assert "数据库" in format_line(article()).decode()


@given(
    votes=st.integers(0, 20),
    opposes=st.integers(0, 20),
    milliseconds=st.integers(631_152_000_000, int(NOW * 1000)),
    poster=st.sampled_from(["", "bob"]),
    groups=st.lists(st.sampled_from(["python", "redis", "数据库"]), unique=True),
    removed=st.sampled_from([None, "spam"]),
)
def test_a_written_row_reads_back_the_same(votes, opposes, milliseconds, poster, groups, removed):
    written = article(
        votes=votes,
        opposes=opposes,
        posted_at=milliseconds / 1000,
        closes_at=(milliseconds + 60_000) / 1000,
        poster_name=poster,
        groups=tuple(groups),
        removed=removed,
    )
    line = format_line(written)
    assert line.count(b"\n") == 1
    left_out = list[BadRow]()
    row = read_row(json.loads(line), READING, left_out.append)
    assert (row.title, row.link, row.poster_name) == (written.title, written.link, poster)
    assert row.closes_at == written.closes_at
    assert (row.votes, row.opposes, row.posted_at) == (votes, opposes, milliseconds / 1000)
    assert (row.groups, row.removed, left_out) == (tuple(groups), removed, [])


def test_a_row_may_have_a_text_beside_or_instead_of_a_link():
    beside = read_row(fields(text="A *text*\r\n"), READING)
    alone = read_row(fields(text="A &amp; b", link=None), replace(READING, unescape=True))

    assert (beside.link, beside.text) == ("https://example.org/", "A *text*")
    assert (alone.link, alone.text) == ("", "A & b")
    assert code(read_row, fields(link=None), READING) == "link-missing"
    assert code(read_row, fields(link=None, text=" "), READING) == "link-missing"
    assert code(read_row, fields(text=7), READING) == "text-kind"
    assert code(read_row, fields(text="x" * 20_001), READING) == "text-long"


def test_a_text_post_survives_an_export_and_an_import():
    row = read_row(fields(text="A *text*", link=None, time=LONG_AGO, closes=LONG_AGO + WINDOW), READING)
    closes_at = float(LONG_AGO + WINDOW)
    article = Article(row.title, row.link, 1, 0, "", float(row.posted_at), 5, 0, 0.0, closes_at, text=row.text)

    assert fields_of(article)["link"] is None
    assert read_row(parse_line(format_line(article)), READING) == row
