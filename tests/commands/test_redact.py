"""`manage.py redact`: the operator lists and redacts texts that contain some words."""

import pytest
from django.core.management.base import CommandError

from accounts.models import Ban
from articles.domain.moderation_log import REDACTED
from tests.factories import actor, browser_of, comment_on, post_as

NAME = "Jane Roe, 12 Baker Street"


@pytest.fixture
def named(site_store, alice, bob, carol) -> int:
    found = post_as(site_store, alice, NAME, "https://e.org/jane-roe").id
    comment = comment_on(site_store, found, f"I know {NAME}", bob.pk)
    site_store.comments.remove(comment, actor(carol), "Private")
    site_store.articles.edit(found, actor(carol), "Better", "https://e.org/b", moderator=True, reason=NAME)
    browser_of(carol).post("/users/bob/moderation/", {"scope": "both", "days": "0", "reason": f"For {NAME}"})
    return found


def test_the_operator_sees_first_what_would_be_redacted(run, site_store, named):
    printed = run("redact", "jane roe")

    assert printed.splitlines() == [
        f"article {named}, title: {NAME}",
        f"article {named}, reason: {NAME}",
        f"article {named}, text: I know {NAME}",
        f"log, reason: For {NAME}",
        "Found 4 texts. Run it with --reason to redact them.",
    ]
    assert Ban.objects.get().reason == f"For {NAME}"


def test_the_operator_redacts_everything_that_contains_the_words(run, site_store, named):
    assert run("redact", "Jane", "--reason", "She asked for it").endswith("in 6 places.\n")

    assert run("redact", "jane").startswith("Found 0 texts.")
    assert Ban.objects.get().reason == REDACTED
    newest = site_store.moderation_log.get_page().entries[:2]
    assert {(one.action.value, one.actor_name, one.reason) for one in newest} == {
        ("redact", "", "She asked for it")
    }


def test_the_words_and_the_reason_are_checked(run, site_store, named):
    for wrong in (("",), ("jane", "--reason", " ")):
        with pytest.raises(CommandError):
            run("redact", *wrong)
    assert NAME in run("redact", "jane")
