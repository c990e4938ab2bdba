"""Recent pages: which requests share one, and for how long."""

import asyncio
import threading
import time

import pytest
from django.conf import settings as site_settings

from articles.domain.errors import StoreUnavailable
from articles.kept_pages.sharing import COUNTED_APART, PAGE_STATE
from articles.operation import ARRIVED_AT
from articles.operation.metrics import RECENT_PAGES
from tests.unit.rsgi import Headers, Protocol, Scope
from voting_site.serving.requests import declared
from voting_site.serving.workers import recent_pages
from voting_site.serving.workers.gateway import Gateway
from voting_site.serving.workers.recent_pages import FRESH, USABLE, RecentPages, Views
from voting_site.serving.workers.site import recent_pages as recent_pages_of_this_site

ARTICLE = "/articles/7/"
COUNTED = [("Cache-Control", "no-cache, private"), ("Vary", "Cookie"), ("ETag", 'W/"1"')]
PUBLIC = [("Cache-Control", "max-age=0, public"), ("Vary", "Cookie, Accept-Language"), ("ETag", 'W/"1"')]


class Site:
    """A gateway with recent pages and an application whose pages are numbered."""

    def __init__(self, *, status="200 OK", headers=PUBLIC, content=None, **proxies):
        self.status, self.headers, self.content = status, headers, content
        self.time, self.retraction = 0.0, ""
        self.seen, self.served, self.counted, self.gathered = [], [], [], []
        self.gathers = True
        self.states, self.asked = {7: "a state"}, []
        self.rendering, self.go_on = threading.Event(), threading.Event()
        self.go_on.set()
        self.pages = RecentPages(
            lambda: self.retraction,
            declared(**{"behind_proxy": False} | proxies),
            Views(self.count_view, self.gather_view, lambda: None),
            self.states_of,
            lambda: self.time,
        )
        self.gateway = Gateway(
            self.application,
            threads=4,
            patience=30.0,
            body_bytes=100,
            served=lambda: self.served.append(1),
            recent_pages=self.pages,
        )

    def count_view(self, variables, article_id):
        """Count a view. The first of each user agent sets a cookie."""
        view = (article_id, variables.get("HTTP_USER_AGENT", ""))
        self.counted.append(view)
        return [("Set-Cookie", f"visitor={view[1]}")] if self.counted.count(view) == 1 else []

    def gather_view(self, variables, article_id, *, is_new):
        if not self.gathers:
            return None
        agent = variables.get("HTTP_USER_AGENT", "")
        self.gathered.append((article_id, agent))
        return [("Set-Cookie", f"visitor={agent}")] if is_new else []

    def states_of(self, articles):
        self.asked.append(list(articles))
        if isinstance(self.states, Exception):
            raise self.states
        return self.states

    def visit(self, at):
        """Return the article's page at a time, after checking what was sent since the last visit."""
        self.time = at
        self.pages.check(self.pages._to_check)
        return self.get(ARTICLE)

    def application(self, variables, start_response):
        self.seen.append(variables)
        number = len(self.seen)
        if variables["PATH_INFO"].startswith("/articles/") and not variables["QUERY_STRING"]:  # as its view does
            states = {} if isinstance(self.states, Exception) else self.states
            state = states.get(int(variables["PATH_INFO"].split("/")[2]), "")
            variables[PAGE_STATE] = lambda: state
        self.rendering.set()
        assert self.go_on.wait(60)
        start_response(self.status, self.headers)
        return [self.content or f"page {number}".encode()]

    async def ask(self, path="/", *headers, method="GET", query="", client="192.0.2.1:40000"):
        named = [("host", "localhost"), *headers]
        scope = Scope(Headers(named), method=method, path=path, query_string=query, client=client)
        protocol = Protocol()
        self.gateway.__rsgi_init__(asyncio.get_running_loop())
        if not self.gateway.answer_at_once(scope, protocol):  # as the web server does
            await self.gateway.__rsgi__(scope, protocol)
        return protocol

    def at_once(self, path="/", *headers):
        """Return what is answered without the event loop; None if it has to answer."""
        protocol = Protocol()
        scope = Scope(Headers([("host", "localhost"), *headers]), path=path)
        return protocol.content if self.gateway.answer_at_once(scope, protocol) else None

    def get(self, *arguments, **options):
        return asyncio.run(self.ask(*arguments, **options)).content


@pytest.fixture
def site():
    return Site()


def test_a_recent_page_is_sent_without_the_application(site):
    before = RECENT_PAGES._value.get()

    assert [site.get(), site.get(), site.get()] == [b"page 1"] * 3
    assert len(site.seen) == 1
    assert RECENT_PAGES._value.get() == before + 2


def test_a_request_for_a_recent_page_is_answered_at_once_unless_it_is_to_be_refused(site):
    assert site.at_once() is None
    site.get()

    assert site.at_once() == b"page 1"
    assert site.at_once("/", ("user-agent", "another"), ("cookie", "visitor=another")) == b"page 1"
    assert site.at_once("/", ("host", "localhost")) is None
    site.time = FRESH
    assert site.at_once() is None
    site.time, site.retraction = 0.0, "1"
    assert site.at_once() is None


def test_while_a_page_is_rendered_the_one_before_is_sent_at_once(site):
    async def during():
        site.time = FRESH
        site.go_on.clear()
        first = asyncio.create_task(site.ask())
        await asyncio.to_thread(site.rendering.wait, 60)
        meanwhile = site.at_once()
        site.go_on.set()
        await first
        return meanwhile

    site.get()
    site.rendering.clear()

    assert asyncio.run(during()) == b"page 1"


def test_only_views_that_can_be_gathered_are_answered_at_once():
    site = Site(headers=COUNTED)
    cookie = ("cookie", f"{site_settings.VISITOR_COOKIE_NAME}=x")
    site.get(ARTICLE)
    site.get(ARTICLE, cookie)

    assert site.at_once(ARTICLE) == site.at_once(ARTICLE, cookie) == b"page 1"
    assert len(site.gathered) == 4
    site.gathers = False
    assert site.at_once(ARTICLE, cookie) is None
    assert not site.counted


def test_a_request_like_one_before_is_read_once(site, monkeypatch):
    site.get("/", ("user-agent", "one"))
    monkeypatch.setattr(recent_pages, "reading_of", None)

    assert site.get("/", ("user-agent", "one")) == b"page 1"
    with pytest.raises(TypeError):
        site.get("/", ("user-agent", "another"))


def test_the_requests_that_are_remembered_are_few(site, monkeypatch):
    monkeypatch.setattr(recent_pages, "MOST_SEEN", 2)
    for number in range(5):
        site.get("/", ("user-agent", str(number)))
        assert len(site.pages._seen) <= 2
    site.get("/", ("user-agent", "x" * recent_pages.LONGEST_SEEN))
    before = len(site.pages._seen)
    site.get("/", ("cookie", f"{site_settings.VISITOR_COOKIE_NAME}=1"))
    assert len(site.pages._seen) == before, "readers with a cookie differ"
    assert not any(sent.length > recent_pages.LONGEST_SEEN for sent in site.pages._seen)


def test_recent_pages_do_not_count_towards_the_replacement_of_a_worker(site):
    site.get()
    site.get()

    assert len(site.served) == 1


def test_a_page_is_rendered_again_when_it_is_not_fresh_any_more(site):
    site.get()
    site.time = FRESH - 0.01
    assert site.get() == b"page 1"

    site.time = FRESH
    assert site.get() == b"page 2"


@pytest.mark.parametrize(("age", "content"), [(FRESH, b"page 1"), (USABLE - 0.01, b"page 1"), (USABLE, b"page 2")])
def test_while_it_is_rendered_others_get_the_page_before_or_wait(site, age, content):
    async def during():
        site.time = age
        site.go_on.clear()
        first = asyncio.create_task(site.ask())
        await asyncio.to_thread(site.rendering.wait, 60)
        others = [asyncio.create_task(site.ask()) for _ in range(5)]
        await asyncio.sleep(0)  # let them begin
        done_before = sum(task.done() for task in others)
        site.go_on.set()
        return (await first).content, done_before, {(await task).content for task in others}

    site.get()
    site.rendering.clear()

    assert asyncio.run(during()) == (b"page 2", 5 if content == b"page 1" else 0, {content})
    assert len(site.seen) == 2


@pytest.mark.parametrize(
    "header",
    [
        ("cookie", f"{site_settings.SESSION_COOKIE_NAME}=x"),
        ("cookie", f"theme=dark; {site_settings.CSRF_COOKIE_NAME}=x"),
        ("cookie", "messages=x"),
        ("authorization", "Bearer x"),
        ("range", "bytes=0-1"),
        ("if-modified-since", "Sat, 29 Oct 1994 19:43:31 GMT"),
        ("content-length", "0"),
        ("accept-language", "en," * 200),
    ],
)
def test_a_request_that_may_be_personal_goes_to_the_application(site, header):
    site.get()

    assert site.get("/", header) == b"page 2"
    assert site.get("/", header) == b"page 3"
    assert site.get() == b"page 1"


def test_pages_of_other_origins_share_lists_of_the_api_unless_they_send_cookies(site):
    other, theme, api = ("origin", "https://a.example"), ("cookie", "theme=dark"), "/api/articles"
    site.get(api)
    site.get(api, theme)

    assert [site.get(api, other), site.get(api, theme)] == [b"page 1", b"page 2"]
    for header in (other, ("origin", "null"), ("sec-fetch-site", "same-site")):
        assert site.get(api, theme, header) not in (b"page 1", b"page 2"), "Django has to drop the cookie"


def test_a_header_that_comes_twice_goes_to_the_application(site):
    site.get("/", ("cookie", "a=1"))

    assert site.get("/", ("cookie", f"{site_settings.SESSION_COOKIE_NAME}=x"), ("cookie", "a=1")) == b"page 2"


@pytest.mark.parametrize(
    "header",
    [
        ("cookie", "theme=dark"),
        ("cookie", "keyboard=off"),
        ("cookie", "hidden=python"),
        ("cookie", f"{site_settings.LANGUAGE_COOKIE_NAME}=zh-hans"),
        ("accept-language", "zh-CN,zh;q=0.9"),
        ("accept-encoding", "gzip, br"),
    ],
)
def test_what_shapes_a_page_makes_another_page(site, header):
    site.get()

    assert [site.get("/", header), site.get("/", header), site.get()] == [b"page 2", b"page 2", b"page 1"]


@pytest.mark.parametrize("other", [{"query": "page=2"}, {"path": "/newest/"}])
def test_another_address_is_another_page(site, other):
    site.get()

    assert site.get(**other) == b"page 2"


@pytest.mark.parametrize(
    "header",
    [
        ("cookie", "analytics=1; theme="), ("accept-language", "en-GB,en;q=0.9,de;q=0.5"),
        ("accept-encoding", "br"), ("accept-encoding", "br, gzip;q=0"),
        ("user-agent", "other"), ("x-forwarded-proto", "https"),
    ],
)  # fmt: skip
def test_what_shapes_nothing_shares_the_page(site, header):
    site.get()

    assert site.get("/", header) == b"page 1"


@pytest.mark.parametrize(
    ("peer", "content"), [("10.0.0.1:1", b"page 2"), ("10.0.0.2:1", b"page 1")], ids=["declared", "undeclared"]
)
def test_the_scheme_counts_if_a_declared_proxy_says_it(peer, content):
    site = Site(behind_proxy=True, proxies=["10.0.0.1"])
    site.get()

    assert site.get("/", ("x-forwarded-proto", "https"), client=peer) == content


@pytest.mark.parametrize(
    ("path", "method"), [("/articles/1/vote/", "GET"), ("/login/", "GET"), ("/", "HEAD"), ("/nowhere", "GET")]
)
def test_other_addresses_and_methods_go_to_the_application(site, path, method):
    assert site.get(path, method=method) == b"page 1"
    assert site.get(path, method=method) == b"page 2"


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        ("404 Not Found", PUBLIC), ("503 Service Unavailable", PUBLIC), ("200 OK", []),
        ("200 OK", [("Cache-Control", "no-store")]), ("200 OK", [*PUBLIC, ("Set-Cookie", "a=1")]),
        ("200 OK", [("Cache-Control", "public"), ("Vary", "Cookie, User-Agent")]),
    ],
)  # fmt: skip
def test_other_responses_are_not_shared(status, headers):
    site = Site(status=status, headers=headers)

    assert [site.get(), site.get()] == [b"page 1", b"page 2"]


@pytest.mark.parametrize("known", ['W/"1"', '"1"', '"0", W/"1"', "*"])
def test_a_client_that_has_the_page_gets_304(site, known):
    async def three():
        return [await site.ask("/", ("if-none-match", known)) for _ in range(3)]

    answers = asyncio.run(three())

    assert [(answer.status, answer.content) for answer in answers] == [(304, b"")] * 3
    assert ("ETag", 'W/"1"') in answers[2].headers
    assert "HTTP_IF_NONE_MATCH" not in site.seen[0]
    assert site.get("/", ("if-none-match", '"2"')) == b"page 1"


def test_readers_share_an_articles_page_and_each_of_them_counts():
    site = Site(headers=COUNTED)
    site.gathers = False

    async def four():
        return [await site.ask(ARTICLE, ("user-agent", agent)) for agent in ("one", "two", "two", "one")]

    answers = asyncio.run(four())

    assert [answer.content for answer in answers] == [b"page 1"] * 4
    assert site.counted == [(7, "one"), (7, "two"), (7, "two"), (7, "one")]
    cookies = [[value for name, value in answer.headers if name == "Set-Cookie"] for answer in answers]
    assert cookies == [["visitor=one"], ["visitor=two"], [], []]


def test_views_are_gathered_and_new_readers_get_a_cookie():
    site = Site(headers=COUNTED)
    cookie = ("cookie", f"{site_settings.VISITOR_COOKIE_NAME}=x")
    site.get(ARTICLE, cookie)

    answers = [asyncio.run(site.ask(ARTICLE, cookie, ("user-agent", "known"))) for _ in range(2)]

    assert [answer.content for answer in answers] == [b"page 1"] * 2
    assert site.gathered == [(7, ""), *[(7, "known")] * 2], "the first rendered the page"
    new = asyncio.run(site.ask(ARTICLE, ("user-agent", "new")))
    assert (new.content, site.gathered[-1]) == (b"page 1", (7, "new"))
    assert ("Set-Cookie", "visitor=new") in new.headers
    assert not site.counted
    site.gathers = False  # too many are waiting
    site.get(ARTICLE, cookie)
    assert len(site.counted) == 1
    site.get("/")
    site.get("/", cookie)
    assert len(site.gathered) == 4


def test_an_unchanged_page_of_an_article_counts():
    site = Site(headers=COUNTED)
    site.get(ARTICLE)

    answer = asyncio.run(site.ask(ARTICLE, ("if-none-match", 'W/"1"'), ("user-agent", "other")))

    assert (answer.status, len(site.gathered)) == (304, 2)
    assert ("Set-Cookie", "visitor=other") in answer.headers


def test_the_application_counts_the_views_of_members_only():
    site = Site(headers=COUNTED)
    site.get(ARTICLE)
    site.get(ARTICLE, ("cookie", f"{site_settings.SESSION_COOKIE_NAME}=x"))

    assert [COUNTED_APART in variables for variables in site.seen] == [True, False]
    assert len(site.gathered) == 1


@pytest.mark.parametrize(
    ("status", "headers"),
    [("404 Not Found", COUNTED), ("410 Gone", COUNTED), ("200 OK", [("Cache-Control", "no-store")])],
    ids=["missing", "removed", "copy for an outage"],
)
def test_no_view_counts_without_the_article(status, headers):
    site = Site(status=status, headers=headers)

    assert [site.get(ARTICLE), site.get(ARTICLE)] == [b"page 1", b"page 2"]
    assert not site.counted + site.gathered


@pytest.fixture
def read_often():
    """A site whose page of an article has just been rendered, at 1.5 seconds."""
    site = Site(headers=COUNTED)
    assert site.visit(1.5) == b"page 1"
    return site


def test_an_articles_page_that_is_read_often_is_rendered_again_after_ten_seconds_only(read_often):
    contents = [read_often.visit(1.5 + seconds) for seconds in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)]

    assert contents == [b"page 1"] * 9 + [b"page 2"] * 2
    assert len(read_often.counted + read_often.gathered) == 12


@pytest.mark.parametrize(
    "states", [{7: "another"}, {}, StoreUnavailable("away")], ids=["changed", "gone", "not to be checked"]
)
def test_a_page_that_is_not_as_before_is_not_sent_after_the_next_check(read_often, states):
    assert read_often.visit(2.5) == b"page 1"
    read_often.states = states
    assert read_often.visit(3.5) == b"page 2"


def test_without_a_check_no_page_is_sent_after_two_seconds(read_often):
    read_often.time = 1.5 + USABLE - 0.01
    assert read_often.get(ARTICLE) == b"page 1"
    read_often.time = 1.5 + USABLE
    assert read_often.get(ARTICLE) == b"page 2"


def test_a_change_while_a_page_is_rendered_is_noticed(read_often):
    read_often.go_on.clear()
    read_often.rendering.clear()
    read_often.time = 10.0

    async def during():
        visit = asyncio.create_task(read_often.ask(ARTICLE))
        await asyncio.to_thread(read_often.rendering.wait, 60)
        read_often.states = {7: "another"}
        read_often.go_on.set()
        await visit

    asyncio.run(during())
    assert read_often.visit(10.5) == b"page 2"
    assert read_often.visit(11.5) == b"page 3"


def test_after_a_retraction_no_page_is_sent_that_was_checked(read_often):
    read_often.visit(2.5)
    read_often.retraction = "1"

    assert read_often.visit(2.6) == b"page 2"


def test_pages_that_were_sent_are_checked_together():
    site = Site(headers=COUNTED)
    site.states = dict.fromkeys((7, 8, 9), "a state")
    for site.time in (0.0, 1.5, 2.0):
        for path, query in ((ARTICLE, ""), ("/articles/8/", ""), ("/articles/9/", "start=1"), ("/", "")):
            site.get(path, query=query)
    site.asked.clear()
    site.pages.check(site.pages._to_check)

    assert [sorted(articles) for articles in site.asked] == [[7, 8]]


def test_pages_are_checked_a_second_after_one_was_sent(read_often, monkeypatch):
    monkeypatch.setattr(recent_pages, "CHECK_EVERY", 0.0)
    checked = threading.Event()
    monkeypatch.setattr(read_often.pages, "check", lambda shares: checked.set())

    async def visit():
        await read_often.ask(ARTICLE)
        return await asyncio.to_thread(checked.wait, 60)

    assert asyncio.run(visit())


def test_a_list_that_must_not_be_stored_is_not_shared():
    site = Site(headers=COUNTED)

    assert [site.get("/"), site.get("/")] == [b"page 1", b"page 2"]


def test_the_time_spent_waiting_for_another_rendering_counts_towards_the_deadline():
    site = Site(status="503 Service Unavailable")

    async def during():
        site.go_on.clear()
        first = asyncio.create_task(site.ask())
        await asyncio.to_thread(site.rendering.wait, 60)
        second = asyncio.create_task(site.ask())
        await asyncio.sleep(0)  # let it begin
        go_on_at = time.monotonic()
        site.go_on.set()
        await asyncio.gather(first, second)
        return go_on_at

    go_on_at = asyncio.run(during())

    assert [variables[ARRIVED_AT] < go_on_at for variables in site.seen] == [True, True]


def test_after_a_retraction_no_earlier_page_is_sent(site):
    site.get()
    site.retraction = "1"

    assert [site.get(), site.get()] == [b"page 2", b"page 2"]


def test_a_page_that_was_being_rendered_at_a_retraction_is_not_shared(site):
    async def during():
        site.go_on.clear()
        first = asyncio.create_task(site.ask())
        await asyncio.to_thread(site.rendering.wait, 60)
        site.retraction = "1"
        second = asyncio.create_task(site.ask())
        await asyncio.sleep(0)  # let it begin
        site.go_on.set()
        return (await first).content, (await second).content

    assert asyncio.run(during()) == (b"page 1", b"page 2")


def test_the_oldest_pages_go_when_there_are_too_many_bytes(site, monkeypatch):
    monkeypatch.setattr(recent_pages, "MOST_BYTES", 20)
    for page in "1", "2", "3", "4":
        site.get(query=f"page={page}")

    assert site.get(query="page=4") == b"page 4"
    assert site.get(query="page=1") == b"page 5"


def test_old_pages_do_not_stay_in_memory(site):
    site.get()
    site.time = USABLE
    site.get("/hot/")

    assert len(site.pages._pages) == 1


def test_a_very_large_page_is_not_kept(monkeypatch):
    monkeypatch.setattr(recent_pages, "LARGEST_PAGE", 10)
    site = Site(content=b"x" * 11)
    site.get()
    site.get()

    assert len(site.seen) == 2


@pytest.mark.parametrize("is_on", [True, False])
def test_recent_pages_can_be_turned_off(settings, tmp_path, is_on):
    settings.RECENT_PAGES, settings.KEPT_PAGES_DIR = is_on, tmp_path

    assert (recent_pages_of_this_site() is not None) == is_on
