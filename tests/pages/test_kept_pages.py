"""What readers see while the store is away."""

import os
import time
from types import SimpleNamespace

import pytest
from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from django.http import QueryDict
from django.test import Client, RequestFactory

from articles import page_store, site
from articles.domain.articles import Choice
from articles.kept_pages.middleware import Refresher
from articles.kept_pages.requests import KEPT_VIEWS, PARAMETERS
from articles.models import SiteText
from articles.page_store import Address, PageStore, pack
from tests import extras
from tests.factories import browser_of, comment_on
from tests.pages.copies import make_old
from tests.routes import routes
from tests.store_state import lose_article, lose_everything, lost_answers

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
NOTICE = "Part of the site is down"
PUBLIC = ("/", "/newest/", "/hot/", "/top/", "/groups/", "/groups/python/", "/users/alice/", "/search/?q=title")


@pytest.fixture
def few_places(monkeypatch, request):
    """Places for copies: three, or as many as the test says."""
    places = getattr(request, "param", 3)
    for name in ("SHELF", "MOST_PAGES"):
        monkeypatch.setattr(page_store, name, places)
    return places


@pytest.mark.parametrize("path", [*PUBLIC, "/articles/1/", "/feeds/front.atom"])
def test_a_page_that_was_read_stays_readable(kept, outage, article, path):
    before = Client().get(path).content.decode()
    make_old(kept, 100)
    outage()
    response = Client().get(path)
    after = response.content.decode()

    assert response.status_code == 200
    assert ("A title" in after) == ("A title" in before)
    assert (NOTICE in after) == ("<html" in before)
    assert response["Cache-Control"] == "no-store"
    assert int(response["Age"]) >= 0


def test_a_page_without_a_copy_is_503(kept, outage, article):
    Client().get("/")
    outage()

    assert Client().get("/newest/").status_code == 503


def test_a_page_is_kept_in_the_language_of_its_reader(kept, outage, article):
    for language in ("en", "zh-hans"):
        Client().get("/", headers={"Accept-Language": language})
    outage()

    chinese = Client().get("/", headers={"Accept-Language": "zh-hans"}).content.decode()
    assert '<html lang="zh-Hans"' in chinese
    assert NOTICE not in chinese
    assert "网站部分功能暂时不可用" in chinese
    assert NOTICE in Client().get("/", headers={"Accept-Language": "en"}).content.decode()


def test_without_a_copy_in_their_language_readers_get_another(kept, outage, article):
    Client().get("/")
    outage()

    assert NOTICE in Client().get("/", headers={"Accept-Language": "zh-hans"}).content.decode()


def test_members_get_the_page_of_a_reader_without_account(kept, outage, article, bob, alice):
    Client().get("/")
    outage()
    page = browser_of(bob).get("/")

    assert page.status_code == 200
    assert NOTICE in page.content.decode()
    assert "bob" not in page.content.decode()


@pytest.mark.parametrize("cookies", [{"hidden": "python"}, {"theme": "dark"}, {"keyboard": "off"}])
def test_a_page_that_preferences_shape_is_not_kept(kept, outage, article, cookies):
    client = Client()
    client.cookies.load(cookies)
    client.get("/")

    assert not kept.exists() or not list(kept.glob("[!.]*"))


def test_the_page_of_a_member_is_never_kept_but_the_public_one_soon(kept, outage, article, bob, refresher):
    browser_of(bob).get("/newest/")
    assert not kept.exists()
    refresher().keep_waiting(0)
    outage()

    page = Client().get("/newest/").content.decode()
    assert "A title" in page
    assert "bob" not in page


@pytest.mark.parametrize(
    "path", ["/search/?q=1234567", "/?x=1234567", "/articles/1/?x=1234567", "/?page=1&page=1", "/?page=1&after=x"]
)
def test_what_only_one_reader_asks_for_is_not_copied_for_members(kept, article, bob, refresher, path):
    assert browser_of(bob).get(path).status_code == 200
    refresher().keep_waiting(0)

    assert not list(kept.glob("[!.]*"))


@pytest.mark.parametrize(
    "path",
    [
        "/?x=1234567", "/articles/1/?x=1234567", "/?page=1&after=1234567", "/articles/1/?comments=1234567",
        "/articles/1/?start=7", "/articles/1/?start=0", "/articles/1/?start=007",
        "/articles/1/?start=7&after=x",
    ],
)  # fmt: skip
def test_what_a_page_does_not_read_makes_no_other_copy(kept, outage, article, path):
    Client().get(path)
    assert not list(kept.glob("[!.]*"))
    plain = path.partition("?")[0]
    Client().get(plain)
    outage()

    assert "A title" in Client().get(path).content.decode() or "page=" in path
    assert "A title" in Client().get(plain).content.decode()
    assert len(list(kept.glob("[!.]*"))) == 1


@pytest.mark.parametrize("path", ["/articles/1/?start=99999999", "/articles/1/?start=x", "/?page=0&x=1"])
def test_an_address_that_no_page_links_to_forgets_no_copy(kept, article, path):
    plain = path.partition("?")[0]
    Client().get(plain)
    copies = {file.name for file in kept.glob("[!.]*")}

    assert Client().get(path).status_code == 404
    assert {file.name for file in kept.glob("[!.]*")} == copies != set()


@pytest.mark.deep
@pytest.mark.parametrize(
    "path",
    [
        "/search/?q=word{}", "/search/?q=title&group=python&page=1&q={}", "/feeds/newest.atom?min_points={}",
        "/feeds/newest.atom?hide=group{}", "/feeds/search.atom?q=title{}", "/groups/?any=group{}",
        "/articles/1/?start={}", "/articles/1/?comments={}", "/comments/1000001/?start={}",
        "/groups/python+z{}/",
        "/feeds/groups/python+z{}.atom", "/feeds/articles/1/comments.atom?x={}", "/users/alice/?page=1&x={}",
    ],
)  # fmt: skip
def test_addresses_that_readers_make_up_share_a_few_places(kept, article, site_store, path, few_places):
    comment_on(site_store, article, "A comment")
    for number in range(12):
        site_store.groups.create(f"z{number}", f"Group {number}")
    for number in range(12):
        assert Client().get(path.format(number)).status_code == 200

    assert len(list(kept.glob("[!.]*"))) <= few_places


@pytest.mark.parametrize("few_places", [1], indirect=True)
@pytest.mark.usefixtures("few_places")
def test_a_copy_is_never_taken_for_that_of_another_address_on_its_shelf(kept, article, site_store):
    paths = (
        "/search/?q=title",
        "/search/?q=nothing",
        "/feeds/newest.atom?min_points=0",
        "/feeds/newest.atom?min_points=9",
    )

    for path in paths * 2:
        assert ("A title" in Client().get(path).content.decode()) == (path in paths[::2])


class Spied(QueryDict):
    """A query that notes which of its parameters are read by name."""

    names: set[str]

    def get(self, name, default=None):
        self.names.add(name)
        return super().get(name, default)

    def getlist(self, name, default=None):
        self.names.add(name)
        return super().getlist(name, default)


ADDRESSES = {route.name: route.path(month="2026-11") for route in routes()} | {
    "articles:feed": "/feeds/front.atom",
    "articles:search": "/search/?q=title",
    "articles:search_feed": "/feeds/search.atom?q=title",
}


@pytest.mark.parametrize("view", sorted(KEPT_VIEWS))
def test_the_parameters_of_a_page_are_those_that_its_view_reads(
    site_store, article, alice, settings, monkeypatch, view
):
    settings.SECURITY_CONTACT, settings.NODEINFO = "mailto:security@example.org", True
    comment_on(site_store, article, "A comment")
    SiteText.objects.create(name="rules", language="en", text="Be kind.")
    site.forget_texts()
    for fill in extras.all_of("fill"):
        fill(alice)
    names = set()

    def spied(request):
        query = Spied(request.META["QUERY_STRING"], encoding=request.encoding)
        query.names = names
        return query

    monkeypatch.setattr(WSGIRequest, "GET", property(spied))

    assert Client().get(ADDRESSES[view], follow=True).status_code == 200
    assert names == set(PARAMETERS.get(view, ()))


def test_keeping_a_page_is_nobodys_view(kept, article, bob, refresher, site_store):
    browser_of(bob).get("/articles/1/", headers={"User-Agent": FIREFOX})
    views = site_store.articles.get(1).pv
    refresher().keep_waiting(0)

    assert list(kept.glob("[!.]*"))
    assert site_store.articles.get(1).pv == views == 1


def test_the_main_lists_are_kept_without_readers_in_every_language(kept, outage, article, refresher):
    client = Client()
    client.get("/about/")
    refresher().keep_main_lists()
    outage()

    for path in ("/", "/newest/", "/hot/", "/top/", "/groups/"):
        for language in ("en", "zh-hans"):
            assert Client().get(path, headers={"Accept-Language": language}).status_code == 200


@pytest.mark.parametrize(
    ("age", "is_idle", "is_kept_again"), [(10, False, True), (10, True, False), (1200, True, True)]
)
def test_main_lists_are_kept_again_after_requests_or_else_after_minutes(
    kept, article, refresher, age, is_idle, is_kept_again
):
    Client().get("/about/")
    refresher().keep_main_lists()
    make_old(kept, age)
    if is_idle:
        refresher().requested_at -= 60
    refresher().keep_main_lists()

    recent = [copy for copy in kept.glob("[!.]*") if time.time() - copy.stat().st_mtime < age / 2]
    assert len(recent) == (5 * len(settings.LANGUAGES) if is_kept_again else 0)


def test_the_main_lists_are_kept_from_the_first_request_on(tmp_path, monkeypatch, db):
    monkeypatch.setattr(
        "articles.kept_pages.middleware.Thread",
        lambda target, **_: SimpleNamespace(start=target, is_alive=lambda: False),
    )

    def keep(request):
        raise SystemExit(request.path)

    with pytest.raises(SystemExit, match=r"^/$"):
        Refresher(tmp_path, PageStore(tmp_path), keep).see(RequestFactory().get("/about/"), "http://testserver")


def test_the_copy_of_a_removed_article_shows_no_more_than_its_page(kept, outage, article, carol, refresher):
    Client().get("/articles/1/")
    browser = browser_of(carol)
    browser.post("/articles/1/remove/", {"reason": "Spam"})
    make_old(kept)
    browser.get("/articles/1/")
    refresher().keep_waiting(0)
    public = Client().get("/articles/1/").content.decode()
    outage()

    kept_page = Client().get("/articles/1/").content.decode()
    assert ("https://example.org/a" in kept_page) == ("https://example.org/a" in public)


@pytest.mark.parametrize("is_old", [False, True])
def test_a_page_is_kept_again_after_some_seconds(kept, outage, article, alice, site_store, is_old):
    Client().get("/")
    site_store.articles.post(alice.pk, "alice", "Another title", "https://example.org/b")
    if is_old:
        make_old(kept)
    Client().get("/")
    outage()
    page = Client().get("/").content.decode()

    assert ">A title<" in page
    assert (">Another title<" in page) == is_old


@pytest.mark.parametrize(
    ("age", "has_changed", "is_kept_again"), [(60, False, False), (60, True, True), (1200, False, True)]
)
def test_the_copy_of_an_unchanged_article_is_kept_again_after_minutes(
    kept, article, bob, site_store, refresher, age, has_changed, is_kept_again
):
    Client().get(f"/articles/{article}/")
    if has_changed:
        site_store.votes.cast(article, bob.pk, Choice.VOTE)
    for reader in (Client(), browser_of(bob)):
        make_old(kept, age)
        reader.get(f"/articles/{article}/")
        refresher().keep_waiting(0)

        (copy,) = kept.glob("article-*")
        assert (time.time() - copy.stat().st_mtime < age / 2) == is_kept_again
        has_changed = has_changed and site_store.votes.cast(article, bob.pk, Choice.OPPOSE)


@pytest.mark.parametrize(
    ("path", "form"),
    [("/articles/1/vote/", {"choice": "vote"}), ("/post/", {"title": "T", "link": "https://b.example/"})],
)
def test_a_change_is_refused_with_the_sentence_that_nothing_was_counted(outage, article, bob, path, form):
    browser = browser_of(bob)
    outage()
    response = browser.post(path, form)

    assert response.status_code == 503
    assert response["Retry-After"] == "5"
    assert "nothing was counted or saved" in response.content.decode()


def test_a_change_without_an_answer_is_not_called_uncounted(article, bob, site_store):
    browser = browser_of(bob)
    with lost_answers():
        response = browser.post("/articles/1/vote/", {"choice": "vote"})

    assert response.status_code == 503
    assert "not certain whether this was saved" in response.content.decode()
    assert site_store.articles.get(1).votes == 2, "it was counted, in this case"


def test_a_page_that_no_longer_exists_is_forgotten(kept, outage, article, site_store):
    assert Client().get("/articles/1/").status_code == 200
    lose_article(site_store, 1)
    assert Client().get("/articles/1/").status_code == 404
    outage()

    assert Client().get("/articles/1/").status_code == 503


def test_a_damaged_copy_counts_as_none(kept, outage, article):
    Client().get("/")
    for path in kept.glob("[!.]*"):
        path.write_bytes(b"{}\nnot compressed")
    outage()

    assert Client().get("/").status_code == 503


def test_where_nothing_can_be_written_pages_are_served_all_the_same(kept, article):
    kept.parent.mkdir(exist_ok=True)
    kept.write_text("a file in place of the directory")

    assert Client().get("/").status_code == 200


def test_an_emptied_store_shows_copies_instead_of_empty_lists(kept, article, site_store):
    Client().get("/")
    lose_everything(site_store)
    response = Client().get("/")

    assert response.status_code == 200
    assert "A title" in response.content.decode()
    assert NOTICE in response.content.decode()


# The directory


def copy(number, content=b"x"):
    return pack(Address("http://a", f"/{number}", "", "en"), {"Content-Type": "text/html"}, 1.0, content)


def test_the_oldest_copies_beyond_the_limits_are_deleted(tmp_path, few_places):
    kept_pages = PageStore(tmp_path)
    for number in range(5):
        kept_pages.keep(copy(number))
    assert kept_pages.trim() == 5 - few_places
    for path in tmp_path.glob("[!.]*"):
        os.truncate(path, page_store.MOST_BYTES + 1)

    assert kept_pages.trim() == few_places
    assert list(tmp_path.glob("[!.]*")) == []


def test_copies_that_share_places_are_deleted_first(tmp_path, few_places):
    kept_pages = PageStore(tmp_path)
    for number in range(few_places):
        kept_pages.keep(copy(number))
        kept_pages.keep(pack(Address("http://a", "/search/", f"q={number}", "en", shelf="x"), {}, 1.0, b"x"))
    kept_pages.trim()

    assert all(kept_pages.get(copy(number).address) for number in range(few_places))


def test_copies_not_requested_for_a_day_are_deleted(tmp_path):
    kept_pages = PageStore(tmp_path)
    kept_pages.keep(copy(1))
    assert kept_pages.trim() == 0
    make_old(tmp_path)

    assert kept_pages.trim() == 1


def test_a_copy_is_only_readable_for_the_sites_user(tmp_path):
    kept_pages = PageStore(tmp_path / "kept")
    kept_pages.keep(copy(1))

    assert (tmp_path / "kept").stat().st_mode & 0o077 == 0
