"""Rate limits of the whole site: all its processes together, and across a restart."""

import re
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.cookiejar import CookieJar

from tests.site_process import Site

LIMITS = {"LIMITS": "logins=10/1d"}


def log_in(site: Site, name: str, forwarded: str = "203.0.113.7") -> int:
    """Send a wrong password as a browser does, with a form's token; return the status."""
    address = f"http://127.0.0.1:{site.port}/login/"
    headers = {"X-Forwarded-For": forwarded}
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    with browser.open(urllib.request.Request(address, headers=headers), timeout=60) as answer:
        token = re.search(r'csrfmiddlewaretoken" value="(\w+)"', answer.read().decode())[1]
    form = urllib.parse.urlencode({"username": name, "password": "wrong", "csrfmiddlewaretoken": token}).encode()
    try:
        with browser.open(urllib.request.Request(address, form, headers), timeout=60) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def test_guesses_at_all_processes_are_counted_together_and_across_a_restart(start):
    site = start(TRUSTED_PROXIES="127.0.0.1", **LIMITS)
    site.wait_until_up()
    assert "LIMITS is off" not in site.told()

    with ThreadPoolExecutor(4) as pool:
        statuses = list(pool.map(lambda _: log_in(site, "alice"), range(30)))
    assert (statuses.count(200), statuses.count(429)) == (10, 20)
    assert log_in(site, "alice", "198.51.100.9") == 200
    told = site.told()
    assert told.count("failed login: client=203.0.113.7 name='alice'") == 10
    assert told.count("refused: client=203.0.113.7 limit=logins") == 20
    chosen = "from articles.models import SiteSetting as S; S(name='LIMIT_POSTS_NEW', text='5 in 1 d').save()"
    assert site.manage("shell", "-c", chosen).returncode == 0
    site.stop()

    again = start(TRUSTED_PROXIES="127.0.0.1", **LIMITS)
    again.wait_until_up()
    assert (
        "In the browser, LIMIT_POSTS_NEW was set to '5 in 1 d'. LIMIT_POSTS_NEW is not a setting" in again.told()
    )
    assert log_in(again, "alice") == 429
    assert log_in(again, "alice", "198.51.100.9") == 200


def test_a_site_without_limits_says_so_at_its_start(start):
    site = start(is_empty=True, LIMITS="off")
    site.wait_until_up()

    assert "LIMITS is off." in site.told()
