"""The systemd units: systemd accepts them, their commands exist, and the site works within their sandbox."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from django.core.management import load_command_class

from tests.deploy.sandbox import INSIDE, confined
from tests.deploy.units import UNITS, installed, options_of
from tests.form_browser import FormBrowser
from tests.site_process import Site
from voting_site.embedded import STOP_TIMEOUT
from voting_site.serving import web_server

MOST_EXPOSED = 15
"""Tenths of the points that `systemd-analyze security` gives; a service without any sandbox has more than 90."""

needs_systemd = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")


def analyze(folder, *arguments):
    return subprocess.run(
        ["systemd-analyze", *arguments],
        env=os.environ | {"SYSTEMD_UNIT_PATH": f"{folder}:", "SYSTEMD_PAGER": "", "SYSTEMD_COLORS": "0"},
        capture_output=True,
        text=True,
        check=False,
    )


@needs_systemd
@pytest.mark.parametrize("unit", UNITS)
def test_systemd_accepts_the_unit(tmp_path, unit):
    folder = installed(tmp_path / "units")

    checked = analyze(folder, "verify", "--man=no", "--recursive-errors=no", str(folder / unit))

    assert (checked.returncode, checked.stderr) == (0, "")


@needs_systemd
@pytest.mark.parametrize("unit", UNITS)
def test_the_unit_is_hardly_exposed(tmp_path, unit):
    folder = installed(tmp_path / "units")

    checked = analyze(folder, "security", "--offline=true", f"--threshold={MOST_EXPOSED}", str(folder / unit))

    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("unit", UNITS)
def test_every_unit_is_in_the_sandbox(unit):
    options = options_of(unit)

    assert options["User"] == ["voting-site"]
    assert options["ProtectSystem"] == ["strict"]
    assert options["NoNewPrivileges"] == ["yes"]


@pytest.mark.parametrize("unit", [unit for unit in UNITS if "manage.py" in options_of(unit)["ExecStart"][0]])
def test_the_command_of_the_unit_exists(unit):
    _program, script, name, *arguments = options_of(unit)["ExecStart"][0].split()
    package = "voting_site" if name == "run" else "articles"

    parser = load_command_class(package, name).create_parser(script, name)

    assert parser.parse_args(arguments)


def test_systemd_waits_until_the_site_has_stopped_by_itself():
    web = web_server.STOP_TIMEOUT

    assert float(options_of("voting-site.service")["TimeoutStopSec"][0]) > web + STOP_TIMEOUT
    assert float(options_of("voting-site-web.service")["TimeoutStopSec"][0]) > web


@pytest.fixture
def confined_site(tmp_path, filled_data):
    data_dir = tmp_path / "data"
    shutil.copytree(filled_data, data_dir)
    site = Site(data_dir, through=confined("voting-site.service", data_dir, tmp_path), DATA_DIR=INSIDE)
    yield site
    if site.process.poll() is None:
        site.process.kill()
        site.process.wait()


def status_of(site):
    """Return what Linux says of the launcher."""
    return set(Path(f"/proc/{site.process.pid}/status").read_text("ascii").splitlines())


@pytest.mark.site
def test_the_whole_site_works_within_the_sandbox(confined_site):
    confined_site.wait_until_up()

    reader = FormBrowser(confined_site)
    reader.sign_up("alice")

    assert confined_site.get("/readyz") == (200, "ready\n")
    assert "alice" in reader.get("/newest/")
    assert {"NoNewPrivs:\t1", "Seccomp:\t2"} <= status_of(confined_site)
    assert confined_site.stop() == 0
    assert "Traceback" not in confined_site.told()
    assert "not permitted" not in confined_site.told()
