"""Each refusal is one row of a table, the only place that maps statuses to codes and labels."""

import re
from pathlib import Path

import pytest
from django.utils import translation

import articles
import moderation
from articles.domain import errors, extras
from articles.domain.errors import REFUSALS
from articles.domain.refusals import BY_STATUS, CAUSES, refusal_of
from articles.text.refusals import ACTIONS
from tests.cases import for_each
from tests.lua_files import FILES

pytestmark = pytest.mark.source

SOURCES = Path(articles.__file__).parent
SCRIPTS = FILES
REFUSE_NOTHING = {
    "ok", "repeat", "bot", "prefetch", "burst",  # outcomes of a change or a view
    "exists", "here", "estimated",  # repeated calls, and restored counters
    "all", "some",  # completeness of the matches of a search
}  # fmt: skip


def statuses(script: Path) -> set[str]:
    """Return every status of a script: those named in its header and those returned in its body."""
    header, _, body = script.read_text("utf-8").partition("]]")
    answers = re.findall(r'(?:^Returns +|\| )\{("[a-z_]+"(?: \| "[a-z_]+")*)', header, re.MULTILINE)
    returned = re.findall(r"return \{'([a-z_]+)'", body)
    chosen = re.findall(r"return \{\w+ and '([a-z_]+)' or '([a-z_]+)'\}", body)
    return {*re.findall("[a-z_]+", " ".join(answers)), *returned, *(word for pair in chosen for word in pair)}


def concrete(kind: type[errors.ArticlesError] = errors.ArticlesError) -> set[type[errors.ArticlesError]]:
    roots = {errors.ArticlesError, errors.ActionRefused, errors.StoreError}
    return {kind}.union(*map(concrete, kind.__subclasses__())) - roots


def test_the_tests_find_the_scripts():
    found = {status for script in SCRIPTS for status in statuses(script)}

    assert len(SCRIPTS) > 50
    assert {"missing", "closed", "estimated", "burst", "merged", "no_group"} <= found


@for_each("script", SCRIPTS)
def test_every_status_of_a_script_is_in_the_table_or_refuses_nothing(script):
    assert statuses(script) <= {*BY_STATUS, *CAUSES, *REFUSE_NOTHING}


def test_every_row_is_returned_by_a_script_or_raised_by_name():
    returned = {status for script in SCRIPTS for status in statuses(script)}
    folders = (SOURCES, Path(moderation.__file__).parent, extras.FOLDER)
    sources = "".join(file.read_text("utf-8") for folder in folders for file in folder.rglob("*.py"))
    raised = set(re.findall(r"raise (?:errors\.)?(\w+)", sources))

    assert {row.status for row in REFUSALS if row.status} - returned == set()
    assert {row.error.__name__ for row in REFUSALS if not row.status} - raised == set()


def test_every_status_and_every_error_has_exactly_one_row():
    assert len(BY_STATUS) == sum(row.status is not None for row in REFUSALS)
    assert len({row.error for row in REFUSALS}) == len(REFUSALS)


@for_each("kind", sorted(concrete(), key=lambda kind: kind.__name__))
def test_every_error_has_a_row(kind):
    assert refusal_of(kind(1)).error is kind


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_every_row_has_a_message_in_both_languages_and_no_message_is_unused(language):
    with translation.override(language):
        sentences = {key: str(sentence) for key, sentence in ACTIONS.items()}

    assert sentences.keys() == {row.sentence_key for row in REFUSALS}
    end = "。" if language == "zh-hans" else "."
    assert [key for key, sentence in sentences.items() if not sentence.endswith(end)] == []
