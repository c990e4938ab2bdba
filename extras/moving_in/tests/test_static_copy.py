"""A static copy: that every link leads somewhere, what pages have, and what they must not have."""

import json
import re
import shutil
import subprocess
import urllib.error
import urllib.request
from datetime import date
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from django.core.management.base import CommandError

from accounts.models import User
from articles.configuration import choices
from articles.domain.comments import CommentOrder
from articles.domain.moderation_log import OPERATOR
from articles.models import SiteText
from articles.site import forget_texts
from articles.web import wiring
from extras.moving_in import static_copy
from extras.moving_in.tests.copies import Page, served, walked
from extras.moving_in.tests.used_site import SECRET, fill
from tests.site_process import free_port
from tests.waiting import until
from voting_site import jinja

SITE = "https://copy.example"


@pytest.fixture
def folder(tmp_path, settings, static_files):
    """Where the copy goes, of a site whose style sheets are prepared."""
    settings.STATIC_ROOT, settings.NAMES, settings.DATA_DIR, settings.SITE_URL = (
        static_files,
        "any",
        tmp_path,
        SITE,
    )
    settings.STORE_OPENER = "contextlib.nullcontext"
    backend = "voting_site.serving.static_files.PreparedStaticFilesStorage"
    settings.STORAGES = settings.STORAGES | {"staticfiles": {"BACKEND": backend}}
    jinja._kept_static.cache_clear()
    yield tmp_path / "copies" / "out"
    jinja._kept_static.cache_clear()


def write_texts(**texts):
    for name, text in texts.items():
        SiteText.objects.create(name=name, language="en", text=text)
    forget_texts()


def text_of(folder, address):
    return (folder / address.strip("/") / "index.html").read_text("utf-8")


@pytest.fixture
def small_pages(settings, monkeypatch):
    """Pages with so little that everything has several."""
    settings.ARTICLES_PER_PAGE = 2
    wiring.forget_repositories()
    monkeypatch.setattr(static_copy, "COMMENTS_PER_PAGE", 2)
    monkeypatch.setattr(static_copy, "MONTH_PAGE", 3)
    monkeypatch.setattr(static_copy, "DEEPEST_SHOWN", 1)


def test_every_link_of_a_copy_leads_to_something(run, site_store, folder, small_pages):
    ids = fill(site_store)
    ann = User.objects.get(username="ann")
    said = "@Bob, @zqx-lurker and @nobody: see https://copy.example/post/"
    site_store.comments.post(ids["target"], ann.pk, "ann", said)
    write_texts(
        welcome="[Why](/about/)", rules="[Post](/post/), [bob](/users/BOB/), [it](/articles/1/)", imprint="Us"
    )
    run("export_site", folder, static=True)

    with served(folder) as site:
        pages, clicks, faults = walked(site)
    assert faults == []
    assert (
        set()
        .union(*(page.tags for page in pages.values()))
        .isdisjoint({"form", "button", "input", "script", "img"})
    )
    files = {f"/{one.relative_to(folder)}".removesuffix("index.html") for one in folder.rglob("*.html")}
    assert set(map(unquote, pages)) == files - {"/404.html"} - {f"/articles/{ids[one]}/" for one in GONE[:3]}
    articles = [address for address in pages if re.fullmatch("/articles/[0-9]+/", address)]
    assert len(articles) == 7
    assert max(clicks[address] for address in articles if address != f"/articles/{ids['merged']}/") <= 3
    assert re.search(
        'href="/users/bob/"[^>]*>@Bob</a>, @zqx-lurker and @nobody', text_of(folder, "/users/ann/comments/")
    )
    assert '<a href="/users/bob/"' in text_of(folder, "/rules/")
    assert '<a href="/about/"' in text_of(folder, "/")
    assert "<p>Post, " in text_of(folder, "/rules/")


GONE = ("removed", "withdrawn", "redacted", "merged")  # they have pages, but hardly anything leads there


def test_a_copy_has_what_readers_see_and_no_more(run, site_store, folder):
    ids = fill(site_store)
    run("export_site", folder, static=True, closed=date(2026, 11, 30))

    for one in filter(lambda one: one.is_file(), folder.rglob("*")):
        assert SECRET not in one.read_bytes().decode("utf-8", "replace").lower() + str(one.relative_to(folder)), (
            one
        )
    page = {
        name: text_of(folder, f"/articles/{ids[name]}/") for name in (*GONE, "open", "target", "text", "closed")
    }
    assert "Reason: Spam" in page["removed"]
    assert "<s>Spam title</s>" in page["removed"]
    assert "withdrawn by its poster" in page["withdrawn"]
    assert f'href="/articles/{ids["target"]}/#merged-{ids["merged"]}"' in page["merged"]
    assert "On the merged one" in page["target"]
    assert "On the kept one" in page["target"]
    assert "Reason: Enough" in page["text"]
    assert "This site closed on 30 Nov 2026" in page["text"]
    assert "deleted by its author" in page["open"]
    assert "Reason: Rude" in page["open"]
    assert "<code>code</code>" in page["open"]
    assert "[deleted]" in page["open"]
    assert not (folder / "articles" / str(ids["secret"])).exists()
    assert page["closed"].index("Top") < page["closed"].index("Reply")
    assert 'title="40 for, 3 against"' in page["closed"]
    assert 'title="4 for, 1 against"' in page["closed"]


def test_each_comment_is_on_one_page_in_the_order_of_the_site(run, site_store, folder, small_pages):
    alice = User.objects.create_user("alice")
    article = site_store.articles.post(alice.pk, "alice", "Long", "https://example.org/").id
    written, shown = [None], []
    for n in range(9):
        written.append(site_store.comments.post(article, 9, "bob", f"Number {n}", parent=written[n // 2]))
    run("export_site", folder, static=True)

    for place in ("", *(f"comments/{n}/" for n in range(2, 6))):
        shown += map(int, re.findall('id="comment-([0-9]+)"', text_of(folder, f"/articles/{article}/{place}")))
    assert shown == [one.id for one in site_store.comments.get_thread(article, CommentOrder.BEST).comments]
    assert len(shown) == 9


def test_nginx_leads_from_addresses_that_no_file_can_have(run, site_store, folder, small_pages):
    if not shutil.which("nginx"):
        pytest.skip("nginx is not installed")
    ids = fill(site_store)
    run("export_site", folder, static=True)
    port, here = free_port(), folder.parent
    places = " ".join(
        f"{name}_temp_path {here}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    rules = " ".join(re.findall(r"if \(.*?\}", (folder / "nginx.conf").read_text())).replace(
        "https://YOUR.SITE", ""
    )
    (here / "nginx.conf").write_text(f"""
        user root; daemon off; pid {here}/pid; error_log {here}/error.log; events {{}}
        http {{ access_log off; {places} types {{ text/html html; }} include {folder}/nginx.conf;
          server {{ listen 127.0.0.1:{port}; root {folder}; error_page 404 /404.html; {rules} }} }}
    """)
    running = subprocess.Popen(["nginx", "-c", here / "nginx.conf", "-e", here / "error.log"])

    def landed(path):
        try:
            answer = urllib.request.urlopen(f"http://127.0.0.1:{port}{path}")
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        return answer.url.partition(str(port))[2], answer.read().decode()

    def is_up():
        try:
            return landed("/")[0] == "/"
        except urllib.error.URLError:
            return False

    try:
        until(is_up)
        for name in ("top", "stub", "below", "bad", "gone", "on merged", "on target"):
            place, page = landed(f"/comments/{ids[name]}/")
            assert f'id="comment-{ids[name]}"' in page
            assert place.endswith(f"#comment-{ids[name]}")
        assert landed(f"/articles/{ids['merged']}/")[0] == f"/articles/{ids['target']}/#merged-{ids['merged']}"
        assert landed("/s/abc123/title")[0] == f"/articles/{ids['closed']}/"
        assert landed("/x?y=1")[0] == f"/articles/{ids['closed']}/"
        for path, place in (
            ("/?page=2", "/page/2/"), ("/newest/?page=3", "/newest/page/3/"), ("/hot/?range=24h", "/hot/24h/"),
            ("/top/?range=all", "/top/all/"), ("/top/?page=2&range=all", "/top/all/page/2/"),
            ("/groups/web/?order=time", "/groups/web/time/"), ("/users/bob/?page=1", "/users/bob/?page=1"),
            ("/groups/web/?page=2&order=time", "/groups/web/time/page/2/"), ("/newest", "/newest/"),
        ):  # fmt: skip
            assert landed(path)[0] == place
        status, page = landed("/login/")
        assert status == 404
        assert "Page not found" in page
    finally:
        running.terminate()
        running.wait(10)


def test_programs_find_feeds_and_every_article(run, site_store, folder):
    ids = fill(site_store)
    run("export_site", folder, static=True)

    for path in ("front", "newest", "hot", "active", "top/all", "groups/web", "comments"):
        feed = json.loads((folder / f"feeds/{path}.json").read_text())
        assert feed["feed_url"] == f"{SITE}/feeds/{path}.json"
        assert path == "hot" or feed["items"]
        for kind in ("atom", "rss"):
            assert "Vote on it" not in ElementTree.parse(folder / f"feeds/{path}.{kind}").getroot().tag
    assert "Vote on it" not in (folder / "feeds/newest.atom").read_text()
    part = f"{SITE}/sitemap-articles-1.xml"
    assert [one.text for one in ElementTree.parse(folder / "sitemap.xml").iter() if (one.text or "").strip()] == [
        part
    ]
    listed = re.findall("<loc>(.*?)</loc>", (folder / "sitemap-articles-1.xml").read_text())
    assert f"{SITE}/articles/{ids['open']}/" in listed
    assert len(listed) == 6
    assert f"Sitemap: {SITE}/sitemap.xml" in (folder / "robots.txt").read_text()


def test_hostile_texts_stay_texts(run, site_store, folder, shared_dir):
    alice = User.objects.create_user("alice")
    lines = (shared_dir / "cases/xss_300.txt").read_text("utf-8").splitlines()
    for n, line in enumerate(lines):
        text = f"{line}\n\n[{line}]({line})\n\n> {line}"
        if n % 20 == 0:
            article = site_store.articles.post(alice.pk, "alice", line[:200], "", text=text, is_limited=False).id
        site_store.comments.post(article, 9, f"bob{n}", text)
    site_store.groups.ensure({"xss": lines[0][:50]})
    site_store.groups.describe("xss", "\n\n".join(lines[:20])[:1000], OPERATOR)
    run("export_site", folder, static=True)

    files = list(folder.rglob("*.html"))
    assert len(files) > 15
    for file in files:
        page = Page(file.read_text("utf-8"))
        assert page.tags.isdisjoint({"script", "iframe", "img", "object", "embed", "form", "input", "style"})
        assert not [name for name in page.names if name.startswith("on") or name == "style"]
        assert not [link for link in page.links if not link.startswith(("/", "#", "http:", "https:", "mailto:"))]


def test_a_copy_speaks_the_language_that_is_asked_for(run, site_store, folder):
    fill(site_store)
    run("export_site", folder, static=True, language="zh-hans")
    assert '<html lang="zh-Hans">' in text_of(folder, "/")
    assert "最新" in text_of(folder, "/")


def test_no_name_leads_out_of_the_folder_or_onto_another_file(site_store, folder):
    copy = static_copy.StaticCopy(folder, site_store, date(2026, 11, 30), lambda _: None)
    for address in ("/users/%2e%2e/", "/users/../x/", "/groups/a%2Fb/", "/groups/%5C/", "/x//", "/groups/%00/"):
        with pytest.raises(static_copy.CannotCopy, match="cannot be"):
            copy._put(address, b"")
    assert not folder.exists()
    copy._put("/users/%E5%BC%A0/", b"")
    assert (folder / "users/张/index.html").exists()
    with pytest.raises(static_copy.CannotCopy, match="another address"):
        copy._put("/users/张/", b"")


def test_what_cannot_be_copied_is_refused(run, site_store, folder, settings, monkeypatch):
    site_store.articles.post(1, "alice", "One", "https://example.org/")
    choices.save("READING", "members")
    choices.forget()
    with pytest.raises(CommandError, match="--for-everyone"):
        run("export_site", folder, static=True)
    run("export_site", folder, static=True, for_everyone=True)
    choices.save("READING", "")
    choices.forget()
    shutil.rmtree(folder)
    with monkeypatch.context() as patch:
        patch.setattr(
            static_copy.StaticCopy, "_write_texts", lambda _self: (_ for _ in ()).throw(KeyboardInterrupt)
        )
        with pytest.raises(CommandError, match="nothing was written"):
            run("export_site", folder, static=True)
    assert [*folder.parent.iterdir()] == []
    settings.SITE_URL = ""
    with pytest.raises(CommandError, match="SITE_URL"):
        run("export_site", folder, static=True)
