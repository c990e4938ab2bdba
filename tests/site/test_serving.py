"""The whole site as its operator starts it: processes, ports, signals."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from django.conf import settings

DEADLINE = 60.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Site:
    """`manage.py run` as a process."""

    def __init__(self, data_dir: Path, **environment: str) -> None:
        self.port = int(environment.get("PORT", free_port()))
        self.log = data_dir.with_suffix(".log")
        self.data_dir, self.environment = data_dir, environment
        with self.log.open("ab") as output:
            self.told_before = output.tell()
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "run"],
                cwd=settings.BASE_DIR,
                env=self.variables(),
                stdout=output,
                stderr=output,
            )

    def variables(self) -> dict[str, str]:
        of_the_tests = ("REDIS_URL", "CACHE_URL", "EMAIL_URL", "DATABASE_URL", "SECRET_KEY", "DEBUG")
        inherited = {name: value for name, value in os.environ.items() if name not in of_the_tests}
        own = {"DATA_DIR": str(self.data_dir), "PORT": str(self.port)}
        return inherited | own | self.environment | {"DJANGO_SETTINGS_MODULE": "voting_site.settings"}

    def told(self) -> str:
        """What it printed since its start."""
        return self.log.read_bytes()[self.told_before :].decode()

    def manage(self, *command: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "manage.py", *command],
            cwd=settings.BASE_DIR,
            env=self.variables(),
            capture_output=True,
            text=True,
            check=False,
        )

    def get(self, path: str) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, ""

    def wait_until_up(self) -> None:
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            assert self.process.poll() is None, self.told()
            if "The site is at" in self.told():
                return
            time.sleep(0.05)  # a poll with a deadline
        raise AssertionError(self.told())

    def stop(self, number: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(20)

    def processes(self) -> set[int]:
        """Ids of every living process that names the data directory or the port."""
        marks = (f":{self.port}".encode(), str(self.data_dir).encode())
        found = set()
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                command = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if any(mark in command for mark in marks):
                found.add(int(folder.name))
        return found


@pytest.fixture(scope="session")
def static_files(tmp_path_factory) -> Path:
    """The gathered static files, which take some seconds."""
    place = tmp_path_factory.mktemp("gathered")
    of_this_test = dict(os.environ, DATA_DIR=str(place), DJANGO_SETTINGS_MODULE="voting_site.settings")
    gather = "import django; django.setup(); from voting_site import static_files; static_files.gather()"
    subprocess.run([sys.executable, "-c", gather], cwd=settings.BASE_DIR, env=of_this_test, check=True)
    return place / "static"


@pytest.fixture
def start(tmp_path, static_files):
    sites = []

    def begin(name="data", **environment):
        if not (tmp_path / name).exists():
            shutil.copytree(static_files, tmp_path / name / "static")
        sites.append(Site(tmp_path / name, **environment))
        return sites[-1]

    yield begin
    for site in sites:
        if site.process.poll() is None:
            site.process.kill()
            site.process.wait()


def test_one_command_serves_a_living_site_and_stops_without_a_trace(start):
    site = start()
    site.wait_until_up()

    status, page = site.get("/")
    style = re.search(r'href="(/static/css/site\.[0-9a-f]+\.css)"', page)[1]

    assert status == 200
    assert page.count('id="article-') == 25
    assert site.get(style)[0] == 200
    assert site.get("/readyz") == (200, "ready\n")
    told = site.told()
    for part in (f"http://localhost:{site.port}/", str(site.data_dir), "make admin", "demo-moderator"):
        assert part in told
    assert len(site.processes()) >= 2

    assert site.stop() == 0
    assert "Stopped." in site.told()
    assert not site.processes()

    again = start(PORT=str(site.port))
    again.wait_until_up()
    assert again.get("/")[1].count('id="article-') == 25
    assert "demo-moderator" not in again.told(), "the demo is for empty sites"
    assert again.stop(signal.SIGINT) == 0


def test_an_empty_site_stays_empty_on_request(start):
    site = start(DEMO="0")
    site.wait_until_up()

    assert "Nothing has been posted yet" in site.get("/")[1]
    assert site.stop() == 0


def test_a_taken_port_is_one_clear_sentence(start):
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]

        site = start(PORT=str(port))

        assert site.process.wait(20) == 1
    assert f"Cannot listen on 127.0.0.1:{port}" in site.told()
    assert "Traceback" not in site.told()


def test_a_bad_setting_is_one_clear_sentence(start):
    site = start(VOTES_PER_DAY="none")

    assert site.process.wait(20) != 0
    assert "VOTES_PER_DAY='none' is not a number." in site.told()


def test_another_weight_of_a_vote_scores_everything_anew(start):
    first = start()
    first.wait_until_up()
    before = re.findall(r'id="article-(\d+)"', first.get("/")[1])
    first.stop()

    second = start(VOTES_PER_DAY="5")
    second.wait_until_up()

    assert re.findall(r'id="article-(\d+)"', second.get("/")[1]) != before
    second.stop()
    audit = second.manage("audit")
    assert audit.returncode == 0, audit.stdout + audit.stderr


def test_a_store_killed_under_the_site_comes_back_with_everything(start):
    site = start()
    site.wait_until_up()
    (store,) = [pid for pid in site.processes() if b"valkey-server" in Path(f"/proc/{pid}/cmdline").read_bytes()]

    os.kill(store, signal.SIGKILL)

    end = time.monotonic() + 10
    while site.get("/")[0] != 200:
        assert time.monotonic() < end
    assert site.get("/")[1].count('id="article-') == 25
    assert site.stop() == 0


def test_a_second_site_on_one_data_directory_shares_its_store(start):
    first, second = start(), None
    first.wait_until_up()
    second = Site(first.data_dir, PORT=str(free_port()))
    try:
        second.wait_until_up()
        assert second.get("/")[1].count('id="article-') == 25
    finally:
        assert second.stop() == 0
    assert first.get("/readyz")[0] == 200
    assert first.stop() == 0
