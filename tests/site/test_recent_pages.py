"""Recent pages of a running site: no reader gets another's page, or sees what was removed."""

import random
import re
import urllib.request
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from typing import NamedTuple

import pytest

from tests.cast import PASSWORD
from tests.content import MODERATOR
from tests.figures import value_in
from tests.form_browser import FormBrowser
from tests.site_process import DEADLINE
from tests.waiting import until
from tests.web_processes import copies, hanging_store, store_of

LISTS = ("/", "/newest/", "/hot/", "/top/", "/groups/")
STEPS = 200

PERSONAL = re.compile(r'csrfmiddlewaretoken|class="me"|class="message|data-choice="(?:vote|oppose)"|name="saved"')
"""What only a member's page has."""

READERS = (
    {},
    {"Cookie": "language=zh-hans"},
    {"Accept-Language": "zh-CN,zh;q=0.9", "Cookie": "theme=light"},
    {"Cookie": "theme=dark; keyboard=off"},
    {"Cookie": "hidden=python", "Accept-Encoding": "identity"},
)
"""Headers of readers without account."""


@pytest.fixture
def site(start):
    site = start(LIMITS="off")
    site.wait_until_up()
    return site


def page_for(site, path, headers):
    with urllib.request.urlopen(
        urllib.request.Request(f"http://127.0.0.1:{site.port}{path}", headers=headers), timeout=60
    ) as answer:
        assert ("no-cache" if path.startswith("/articles/") else "public") in answer.headers["Cache-Control"]
        return answer.read().decode()


def moderator_of(site):
    browser = FormBrowser(site)
    browser.send("/login/", "/login/", username=MODERATOR, password=PASSWORD)
    return browser


def read_article(site, number, headers, removed):
    """Open an article's page as a reader without account, and check that it is this reader's."""
    page = check_reader(page_for(site, f"/articles/{number}/", headers), headers)
    assert ('class="message warning"' in page) == (number in removed)


def look(site, path, headers, removed):
    """Open a list as a reader without account, and check that it is this reader's."""
    page = check_reader(page_for(site, path, headers), headers)
    cookies = headers.get("Cookie", "")
    assert ('hidden-note"' in page) == ("hidden=" in cookies and path != "/groups/")
    assert not {int(number) for number in re.findall(r'id="article-(\d+)"', page)} & removed


def check_reader(page, headers):
    """Check that a page is that of a reader without account with these headers, and return it."""
    cookies = headers.get("Cookie", "")
    is_chinese = "zh-hans" in cookies or "zh-CN" in headers.get("Accept-Language", "")
    theme = re.search("theme=(dark|light)", cookies)
    personal = page.replace('class="message warning"', "")  # the notice of a removed article is for all
    assert not PERSONAL.search(personal)
    assert f'<html lang="{"zh-Hans" if is_chinese else "en"}"' in page
    assert re.findall(r'<html[^>]* data-theme="(\w+)"', page) == ([theme[1]] if theme else [])
    assert ('<dialog id="keys"' in page) == ("keyboard=off" not in cookies)
    return page


def test_no_reader_gets_anothers_page_or_sees_what_was_removed(site):
    chance, removed = random.Random(1), set()
    members = {name: FormBrowser(site) for name in ("alma", "boris")}
    for name, browser in members.items():
        browser.sign_up(name)
    moderator = moderator_of(site)
    numbers = [int(number) for number in re.findall(r'id="article-(\d+)"', site.get("/")[1])][:5]

    for _ in range(STEPS):
        path, act = chance.choice(LISTS), chance.random()
        if act < 0.4:
            look(site, path, chance.choice(READERS), removed)
        elif act < 0.6:
            read_article(site, chance.choice(numbers), chance.choice(READERS), removed)
        elif act < 0.95:
            name = chance.choice(list(members))
            page = members[name].get(chance.choice([path, f"/articles/{chance.choice(numbers)}/"]))
            assert re.findall(r'class="me"><a href="/users/(\w+)/"', page) == [name]
            if offered := re.findall(r'formaction="/articles/(\d+)/vote/"', page):
                assert 'name="saved"' in page
                number, choice = chance.choice(offered), chance.choice(["vote", "oppose", "none"])
                page = members[name].send(path, f"/articles/{number}/vote/", choice=choice, next="/newest/")
        else:
            number = chance.choice(re.findall(r'id="article-(\d+)"', moderator.get("/")))
            moderator.send(f"/articles/{number}/remove/", f"/articles/{number}/remove/", reason="Off topic")
            removed.add(int(number))
            for path in LISTS:
                look(site, path, {}, removed)
            read_article(site, int(number), {}, removed)

    assert removed
    assert value_in(site.get("/metrics")[1], "site_recent_pages_total") > 0


def test_most_readers_of_a_list_get_the_same_page(site):
    with closing(HTTPConnection("127.0.0.1", site.port, timeout=60)) as link:
        for _ in range(50):
            link.request("GET", "/")
            answer = link.getresponse()
            answer.read()
        link.request("GET", "/", headers={"If-None-Match": answer.headers["ETag"]})
        unchanged = link.getresponse()

        assert (unchanged.status, unchanged.read()) == (304, b"")
    assert unchanged.headers["Content-Security-Policy"] == answer.headers["Content-Security-Policy"]
    assert value_in(site.get("/metrics")[1], "site_recent_pages_total") > 0


def test_each_reader_of_an_article_counts_although_they_share_its_page(site):
    address = re.search(r'href="(/articles/\d+/)"', site.get("/newest/")[1])[1]
    before = read(site, address, "Mozilla/5.0 (Windows) first")
    cookies = [before.cookie] + [
        read(site, address, f"Mozilla/5.0 (Windows) reader {n}").cookie for n in range(20)
    ]
    again = [
        read(site, address, f"Mozilla/5.0 (Windows) reader {n}", cookie) for n, cookie in enumerate(cookies[1:])
    ]

    assert len(set(cookies)) == 21
    assert {reading.cookie for reading in again} == {""}
    assert value_in(site.get("/metrics")[1], "site_recent_pages_total") >= 20
    later = []  # views may be shown ten seconds late
    until(lambda: later.append(read(site, address, "curl/8")) or later[-1].views == before.views + 21, 60)
    assert later[-1].visitors - before.visitors in about(21)


def test_a_site_that_is_stopped_has_counted_all_views(site, start):
    one, other = re.findall(r'<h2><a href="[^"]*" data-article="(\d+)"', site.get("/newest/")[1])[:2]
    agents = [f"Mozilla/5.0 (Windows) reader {n}" for n in range(30)]
    cookies = [read(site, f"/articles/{one}/", agent).cookie for agent in agents]
    before = read(site, f"/articles/{other}/", "curl/8")

    for agent, cookie in zip(agents, cookies, strict=True):
        read(site, f"/articles/{other}/", agent, cookie)
    assert site.stop() == 0

    again = start(PORT=str(site.port))
    again.wait_until_up()
    after = read(again, f"/articles/{other}/", "curl/8")
    assert after.views == before.views + 30
    assert after.visitors - before.visitors in about(30)


def test_once_a_site_is_for_members_no_process_sends_a_page_from_before(start):
    site = start(WEB_WORKERS="2", LIMITS="off", DJANGO_SUPERUSER_PASSWORD=PASSWORD)
    site.wait_until_up()
    assert site.manage("createsuperuser", "--noinput", "--username=root", "--email=").returncode == 0
    root = FormBrowser(site)
    root.send("/login/", "/login/", username="root", password=PASSWORD)
    article = re.search(r'href="(/articles/\d+/)"', site.get("/newest/")[1])[1]
    paths = ("/", "/newest/", article, "/feeds/newest.atom", "/api/articles")

    with ExitStack() as stack:  # so many connections that each of two processes has some
        links = [
            stack.enter_context(closing(HTTPConnection("127.0.0.1", site.port, timeout=60))) for _ in range(12)
        ]
        assert {statuses(link, paths) for link in links for _ in range(3)} == {(200,) * 5}
        until(lambda: len(copies(site)) >= 4, DEADLINE, site.told)
        root.send("/administration/joining/", "/administration/joining/", READING="members")

        assert {statuses(link, paths) for link in links} == {(302, 302, 302, 404, 401)}
        with hanging_store(store_of(site)):
            assert {statuses(link, paths) for link in links} == {(302, 302, 302, 404, 401)}
    assert "title" in root.get("/api/articles")


def statuses(link, paths):
    """Return the status of each address, asked on one connection, which leads to one process."""
    found = []
    for path in paths:
        link.request("GET", path)
        answer = link.getresponse()
        answer.read()
        found.append(answer.status)
    return tuple(found)


def about(visitors):
    """Return how many visitors may be counted: they are estimated, and their digests differ in each run."""
    return range(visitors - 5, visitors + 6)


class Reading(NamedTuple):
    views: int
    visitors: int
    cookie: str  # the visitor cookie that the answer sets


def read(site, address, agent, cookie=""):
    headers = {"User-Agent": agent} | ({"Cookie": cookie} if cookie else {})
    request = urllib.request.Request(f"http://127.0.0.1:{site.port}{address}", headers=headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        page = answer.read().decode()
        views, visitors = re.findall(r"<dd>([\d,]+)</dd>", page)[:2]
        assert not PERSONAL.search(page)
        return Reading(
            int(views.replace(",", "")),
            int(visitors.replace(",", "")),
            (answer.headers["Set-Cookie"] or "").partition(";")[0],
        )
