"""The image: its steps, and that the site needs no other files than those it gets."""

import os
import re
import shutil
import subprocess
import sys

from tests.deploy.dockerfile import ROOT, copied, steps
from tests.site_process import free_port, variables
from tests.waiting import until

NOT_IN_THE_IMAGE = {"bench", "deploy", "docs", "tests", "tools"}


def last(name):
    return [step for step in steps() if step.name == name][-1]


def test_the_image_gets_every_folder_of_the_program():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    folders = {path.partition("/")[0] for path in listed.splitlines() if "/" in path and not path.startswith(".")}

    assert folders - NOT_IN_THE_IMAGE <= set(copied())


def test_the_context_has_what_is_copied_and_nothing_else():
    rules = (ROOT / "deploy" / "Dockerfile.dockerignore").read_text("utf-8").splitlines()

    assert rules[1] == "*", "everything is left out first"
    assert sorted(rule[1:] for rule in rules if rule.startswith("!")) == copied()


def test_packages_are_installed_by_their_hashes():
    (install,) = [step for step in steps() if "pip install" in step.text]

    assert "--require-hashes -r requirements.txt" in install.text


def test_the_site_is_not_root_in_the_image():
    before_start = [step.name for step in steps()]

    assert last("USER").text == "voting-site"
    assert before_start.index("USER") > max(n for n, name in enumerate(before_start) if name == "RUN")
    assert any("useradd --system" in step.text and "voting-site" in step.text for step in steps())


def test_the_site_starts_from_the_image_s_files_alone(tmp_path, filled_data):
    program, data_dir = tmp_path / "site", tmp_path / "data"
    program.mkdir()
    shutil.copytree(filled_data, data_dir)
    for name in copied():
        path = ROOT / name
        (shutil.copytree if path.is_dir() else shutil.copy)(path, program / name)
    environment = dict(pair.split("=", 1) for pair in last("ENV").words) | {"HOST": "127.0.0.1"}
    own = variables(environment | {"DATA_DIR": str(data_dir), "PORT": str(free_port()), "PYTHONPATH": ""})
    command = [sys.executable, *last("ENTRYPOINT").words[1:], *last("CMD").words]
    log = tmp_path / "log"

    with log.open("wb") as output:
        site = subprocess.Popen(command, cwd=program, env=own, stdout=output, stderr=output)
    try:
        until(lambda: healthy(own["PORT"]), told=log.read_text)
        assert site.poll() is None
    finally:
        site.terminate()
        assert site.wait(60) == 0
    assert "Traceback" not in log.read_text()


def healthy(port):
    """Run the check of the image, on another port."""
    check = last("HEALTHCHECK")
    _options, _, command = check.text.partition("CMD ")
    program = re.sub(r"127\.0\.0\.1:8000\b", f"127.0.0.1:{port}", type(check)(0, "CMD", command).words[-1])
    done = subprocess.run([sys.executable, "-c", program], env=dict(os.environ), capture_output=True, check=False)
    return done.returncode == 0
