"""A data disk without space: a small file system of its own for each test."""

import os
import re
import shutil
import signal

import pytest

from tests.form_browser import FormBrowser
from tests.site_process import DEADLINE, Site
from tests.small_disk import fill, mounted
from tests.waiting import until
from tests.web_processes import answers, parents, server_of, store_of, workers_of

PATHS = ("/healthz", "/metrics", "/", "/help/", "/new/", "/groups/", "/hot/", "/login/", "/none/", "/api/groups")


@pytest.fixture
def small_disk(tmp_path):
    with mounted(tmp_path / "disk") as folder:
        yield folder


@pytest.fixture
def start_on(small_disk, static_files):
    sites = []

    def start(**environment):
        data_dir = small_disk / "data"
        if not data_dir.exists():
            shutil.copytree(static_files, data_dir / "static")
        sites.append(Site(data_dir, **environment))
        return sites[-1]

    yield start
    for site in sites:
        if site.process.poll() is None:
            site.process.kill()
            site.process.wait()
        until(lambda ended=site: not ended.processes(), DEADLINE)


def test_a_full_disk_is_named_and_ends_no_web_process(start_on, small_disk):
    """The store's server ends at a write that it cannot keep, and is started again."""
    site = start_on()
    site.wait_until_up()
    server, workers = server_of(site), workers_of(site)
    hog = fill(small_disk)

    until(lambda: f"The disk of DATA_DIR ({site.data_dir}) is full" in site.told(), DEADLINE, site.told)
    for path in PATHS:
        site.get(path)
    assert site.get("/healthz")[0] == 200
    assert (server_of(site), workers_of(site)) == (server, workers)

    os.kill(min(workers), signal.SIGKILL)  # its replacement needs room to count in
    until(lambda: len(workers_of(site) - {min(workers)}) == len(workers), DEADLINE, site.told)
    os.kill(server, signal.SIGKILL)
    until(lambda: server not in parents(site), DEADLINE, site.told)
    until(lambda: answers(site), DEADLINE, site.told)

    hog.unlink()
    until(lambda: "has space again" in site.told(), DEADLINE, site.told)
    assert site.get("/")[0] == 200
    assert site.stop() == 0


@pytest.mark.long
def test_a_start_on_a_full_disk_is_refused_in_one_sentence(start_on, small_disk):
    first = start_on()
    first.wait_until_up()
    assert first.stop() == 0
    hog = fill(first.data_dir)

    second = start_on(PORT=str(first.port))

    assert second.process.wait(60) == 1
    assert "Traceback" not in second.told()
    sentence = f"The disk of DATA_DIR ({second.data_dir}) is full: nothing can be saved until space is freed."
    (told,) = second.told().splitlines()
    assert told.startswith(f"CommandError: {sentence} The largest files: {hog} (")

    hog.unlink()
    third = start_on(PORT=str(first.port))
    third.wait_until_up()
    assert third.stop() == 0


def test_without_shared_memory_the_metrics_are_reserved_on_the_disk(start_on, small_disk, tmp_path):
    """With the files' blocks reserved, a full disk does not end what writes to them."""
    customise = tmp_path / "without"
    customise.mkdir()
    (customise / "sitecustomize.py").write_text(
        "import os\n"
        "statvfs = os.statvfs\n"
        "def without_shared_memory(path):\n"
        "    if str(path) == '/dev/shm':\n"
        "        raise FileNotFoundError\n"
        "    return statvfs(path)\n"
        "os.statvfs = without_shared_memory\n"
    )
    site = start_on(PYTHONPATH=str(customise))
    site.wait_until_up()
    assert list(site.data_dir.glob("metrics/*/counter_0.db"))
    workers = workers_of(site)
    fill(small_disk)

    for path in PATHS:
        for _ in range(5):
            site.get(path)

    assert workers_of(site) == workers
    assert site.get("/healthz")[0] == 200


@pytest.mark.long
def test_a_full_disk_of_the_logs_ends_nothing(filled_data, tmp_path):
    shutil.copytree(filled_data, tmp_path / "data")
    site = Site(tmp_path / "data", through=("sh", "-c", 'exec "$@" >/dev/full 2>&1', "sh"))
    until(lambda: answers(site), DEADLINE)

    os.kill(store_of(site), signal.SIGKILL)

    until(lambda: site.get("/readyz")[0] == 200, DEADLINE)
    assert site.stop() == 0
    assert not site.processes()


@pytest.mark.long
def test_a_site_whose_search_index_has_no_space_goes_on_and_catches_up(start_on, small_disk, static_files):
    def found() -> int:
        status, page = site.get("/search/?q=article")
        assert status == 200
        return len(re.findall('class="row" id="article-', page))

    shutil.copytree(static_files, small_disk / "data" / "static")
    with mounted(small_disk / "data" / "search", 8) as disk:
        site = start_on()
        site.wait_until_up()
        alice = FormBrowser(site)
        alice.sign_up("alice")
        alice.send("/post/", "/post/", title="Article 1", link="https://example.org/1")
        until(lambda: found() == 1, DEADLINE, site.told)

        hog = fill(disk)
        alice.send("/post/", "/post/", title="Article 2", link="https://example.org/2")
        until(lambda: "cannot be written, and is tried again: No space left" in site.told(), DEADLINE, site.told)
        os.kill(min(workers_of(site)), signal.SIGKILL)
        until(lambda: len(workers_of(site)) > 1, DEADLINE, site.told)
        assert {found() for _ in range(10)} == {1}
        hog.unlink()

        until(lambda: found() == 2, DEADLINE, site.told)
        assert site.told().count("cannot be written") == 1
        assert site.stop() == 0
