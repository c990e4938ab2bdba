"""`manage.py version`, `index`, `accept_clock`; and `redact`, which redacts texts that contain some words."""

import shutil
import subprocess

import django
import pytest
from django.core.management.base import CommandError

from accounts.models import Ban
from articles.domain.moderation_log import REDACTED
from tests.factories import actor, browser_of, comment_on, post_as
from tests.store_state import server_info, set_clock
from voting_site import __version__


def test_the_versions_are_printed(run, site_store, settings, tmp_path):
    settings.BASE_DIR = tmp_path
    lines = run("version").splitlines()

    assert lines[0].split() == ["site", __version__]
    assert lines[2].split() == ["Django", django.get_version()]
    assert lines[3].split() == ["store", "Valkey", server_info(site_store)["valkey_version"]]


@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
def test_in_a_checkout_the_commit_is_printed_and_whether_files_have_changed(run, site_store, settings, tmp_path):
    def git(*arguments: str) -> str:
        command = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    settings.BASE_DIR = tmp_path
    git("init", "--quiet")
    assert run("version").splitlines()[0] == f"site    {__version__}", "there is no commit yet"

    (tmp_path / "file").write_text("one")
    git("add", "file")
    git("commit", "--quiet", "--message=One")
    git("tag", "--annotate", "--message=One", "one")
    commit = git("rev-parse", "--short", "HEAD")
    assert run("version").splitlines()[0] == f"site    {__version__} (commit {commit})"

    (tmp_path / "file").write_text("two")
    assert run("version").splitlines()[0] == f"site    {__version__} (commit {commit}-dirty)"


def test_every_index_belongs_to_another_copy_and_is_built_again(run, site_store):
    copy = site_store.changes.get_copy()

    assert run("index") == "The search index of every web node is built again, within seconds.\n"

    assert site_store.changes.get_copy() != copy


@pytest.mark.parametrize(
    ("seconds", "sentence"), [(7200.5, "set ahead by 2 h 0 min."), (-90061.5, "set back by 1 d 1 h.")]
)
def test_the_stores_clock_is_set_to_this_machines(run, site_store, seconds, sentence):
    now = site_store.clock.compare().store
    set_clock(site_store, now + seconds)

    assert run("accept_clock") == f"The store's clock was {sentence}\n"

    assert site_store.clock.compare().store == pytest.approx(now + seconds, abs=0.01)


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
