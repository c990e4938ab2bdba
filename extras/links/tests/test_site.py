"""The process that fetches titles, in a whole site: fenced, restarted, and not missed when it is killed."""

import os
import signal
from pathlib import Path

from tests.form_browser import FormBrowser
from tests.site_process import DEADLINE
from tests.waiting import until


def fetcher_of(site):
    """Return the id of the process that fetches; 0 while there is none."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == site.process.pid and b"extras.links.fetcher" in (folder / "cmdline").read_bytes():
                return int(folder.name)
        except OSError:
            continue
    return 0


def test_a_site_lives_with_and_without_the_process_that_fetches(start):
    site = start(is_empty=True, FETCH_TITLES="on", SECRET_KEY="a-secret-that-no-other-process-may-know")
    site.wait_until_up()
    browser = FormBrowser(site)
    browser.sign_up("alice")

    def problem(number):
        """Return what the form says of a host that does not exist."""
        page = browser.send("/post/", "/post/", link=f"http://no-such-host-{number}.invalid/", title="", fetch="1")
        return page.partition('<div class="link-info" role="status">')[2].partition("</div>")[0]

    def is_answered(number):
        return any(words in problem(number) for words in ("cannot be reached", "took too long"))

    until(lambda: is_answered(1), DEADLINE, site.told)
    fetcher = fetcher_of(site)
    environment = Path(f"/proc/{fetcher}/environ").read_bytes()
    assert environment in (b"", b"LC_CTYPE=C.UTF-8\0")  # which Python sets itself

    for number in (signal.SIGSTOP, signal.SIGKILL):  # it does not answer; it is gone
        os.kill(fetcher, number)
        assert any(words in problem(2) for words in ("cannot be fetched right now", "Fetching the title"))
        page = browser.send("/post/", "/post/", link=f"https://example.org/{number}", title=f"Typed {number:d}")
        assert f"Typed {number:d}" in page
    until(lambda: is_answered(3), DEADLINE, site.told)
    another = fetcher_of(site)
    assert another not in (0, fetcher)

    assert site.stop() == 0
    assert not Path(f"/proc/{another}").exists()
