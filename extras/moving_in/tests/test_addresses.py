"""Old addresses lead to what they were of, and cost nothing otherwise."""

import random
import re
import shutil
import subprocess
import time

import pytest
import requests
from django.core.checks import run_checks
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from extras.moving_in import addresses
from extras.moving_in.models import Arrival, Kind, Source
from extras.moving_in.tests.readme import follow
from tests.cast import ALICE
from tests.factories import comment_on, member, post
from tests.site_process import free_port
from tests.waiting import until


@pytest.fixture
def old(db):
    """Three sources that moved in, with nothing yet."""
    return [
        Source.objects.create(name="crabs", format="lobsters", host="old.example"),
        Source.objects.create(name="news", format="hackernews"),
        Source.objects.create(name="sub", format="reddit"),
    ]


def came(source, kind, old_id, new_id):
    return Arrival.objects.create(source=source, kind=kind, old_id=old_id, new_id=str(new_id))


def asked(path, **headers):
    answer = Client(headers=headers).get(path)
    return answer.status_code, answer.headers.get("Location", "")


def test_each_kind_of_old_address_leads_to_what_it_was_of(old, site_store):
    crabs, news, _sub = old
    member("alice")
    article = post(site_store, 1, ("python",))
    comment = comment_on(site_store, article, "Hello", ALICE)
    for kind, old_id, new_id in (
        (Kind.ARTICLE, "abc123", article),
        (Kind.COMMENT, "xyz789", comment),
        (Kind.MEMBER, "ally", ALICE),
        (Kind.GROUP, "py", "python"),
        (Kind.PATH, "/2009/hello?p=1", f"article {article}"),
    ):
        came(crabs, kind, old_id, new_id)
    came(news, Kind.ARTICLE, "8", article)
    came(news, Kind.COMMENT, "9", comment)
    for path, to in {
        "/s/abc123/a_title": f"/articles/{article}/",
        "/stories/abc123": f"/articles/{article}/",
        "/c/xyz789": f"/comments/{comment}/",
        "/item?id=8&utm_source=mail": f"/articles/{article}/",
        "/item?p=2&id=9": f"/comments/{comment}/",
        "/~ally": "/users/alice/",
        "/t/py": "/groups/python/",
        "/t/py.rss?x=1": "/feeds/groups/python.rss",
        "/2009/hello?p=1": f"/articles/{article}/",
        "/recent?x=1": "/newest/",
    }.items():
        assert asked(path) == (301, to), path
        assert asked(to)[0] in (200, 302), to
        answer = Client().head(path)
        assert (answer.status_code, answer.content, answer["Location"]) == (301, b"", to)
        assert answer["Cache-Control"] == "public, max-age=3600"
        assert Client().post(path).status_code in (404, 405)


def test_what_did_not_come_says_so_and_other_addresses_do_not(old, site_store):
    member("alice")
    came(old[0], Kind.MEMBER, "ally", ALICE)
    User.objects.filter(pk=ALICE).update(left_at="2026-01-01T00:00Z")
    for path in ("/s/nothing", "/~ally"):
        answer = Client().get(path)
        assert answer.status_code == 404
        assert "This was at old.example before. It did not move here." in answer.content.decode()
        assert "no-store" not in answer.headers.get("Cache-Control", "")
    in_chinese = Client(headers={"accept-language": "zh-hans"}).get("/item?id=5").content.decode()
    assert "这个页面原来在 news，没有迁到这里。" in in_chinese
    assert "before" not in Client().get("/nothing/here").content.decode()


def test_only_the_way_to_404_has_a_query_and_only_one(old, site_store):
    came(old[1], Kind.ARTICLE, "8", post(site_store, 1))
    counts = []
    for path in ("/item?id=8", "/item?id=9", "/nothing", "/", "/articles/1/", "/newest/"):
        with CaptureQueriesContext(connection) as asking:
            Client().get(path)
        counts.append(sum("moving_in" in one["sql"] for one in asking.captured_queries))
    assert counts == [1, 1, 1, 0, 0, 0]


def test_of_two_sources_that_of_the_host_wins(old, settings):
    settings.ALLOWED_HOSTS = ["*"]
    other = Source.objects.create(name="other", format="lobsters", host="other.example")
    came(old[0], Kind.ARTICLE, "a", 1)
    came(other, Kind.ARTICLE, "a", 2)
    assert asked("/s/a") == (301, "/articles/1/")
    assert asked("/s/a", host="other.example") == (301, "/articles/2/")


@pytest.fixture
def former(settings):
    """The former host leads here."""
    settings.SITE_URL, settings.OLD_HOSTS = "https://new.example", ["old.example", ".old.example", "new.example"]
    settings.HOSTS_OF_EXTRAS = tuple(settings.OLD_HOSTS)
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, *settings.OLD_HOSTS]


def test_a_former_host_leads_to_the_site_by_the_table_or_to_the_same_path(old, former, site_store):
    came(old[0], Kind.ARTICLE, "abc123", 5)
    for host in ("old.example", "www.old.example:8000"):
        for path, to in {
            "/s/abc123": "/articles/5/",
            "/": "/",
            "/groups/?page=2": "/groups/?page=2",
            "/feeds/newest.rss": "/feeds/newest.rss",
            "/%2fevil.example/": "/evil.example/",
            "/a%0d%0aB:%20c": "/a%0D%0AB:%20c",
            "/s/nothing": "/s/nothing",
        }.items():
            assert asked(path, host=host) == (301, f"https://new.example{to}")
        assert Client(headers={"host": host}).post("/newest/").status_code == 301
        assert asked("/healthz", host=host)[0] == 200
        assert asked("/.well-known/acme-challenge/x", host=host)[0] == 404
    assert asked("/", host="new.example")[0] == 200
    assert asked("/", host="else.example")[0] == 400


def test_former_hosts_without_an_address_of_the_site_are_a_mistake(db, settings):
    settings.SITE_URL, settings.OLD_HOSTS = "", ["old.example"]
    assert "moving_in.E001" in [one.id for one in run_checks()]
    settings.SITE_URL = "https://new.example"
    assert "moving_in.E001" not in [one.id for one in run_checks()]


def test_crawlers_learn_of_the_old_addresses(old, former, site_store):
    came(old[0], Kind.ARTICLE, "abc123", 5)
    came(old[0], Kind.PATH, "/a&b", "article 6")
    came(old[1], Kind.COMMENT, "7", 1_000_001)
    came(old[2], Kind.COMMENT, "7", 1_000_001)
    there = "Sitemap: https://new.example/sitemap-old-addresses-1.xml\n"
    assert there in Client(headers={"host": "old.example"}).get("/robots.txt").content.decode()
    assert there in Client().get("/robots.txt").content.decode()
    part = Client().get("/sitemap-old-addresses-1.xml").content.decode()
    assert re.findall("<loc>(.*?)</loc>", part) == [
        "https://old.example/s/abc123",
        "https://old.example/a&amp;b",
        "https://new.example/item?id=7",
        "https://new.example/comments/_/_/7",
    ]
    assert [asked(path)[1] for path in ("/item?id=7", "/comments/_/_/7")] == ["/comments/1000001/"] * 2
    assert Client().get("/sitemap-old-addresses-2.xml").status_code == 404


@pytest.mark.long
def test_ten_thousand_old_addresses_lead_each_to_its_own(old, site_store):
    kinds, rows = [(Kind.ARTICLE, "/s/{}/title", "/articles/{}/"), (Kind.COMMENT, "/c/{}", "/comments/{}/")], []
    for number in range(1, 10_001):
        kind, _path, _to = kinds[number % 2]
        new = number + 1_000_000 * (kind == Kind.COMMENT)
        rows.append(Arrival(source=old[0], kind=kind, old_id=f"{number:06x}", new_id=str(new)))
    Arrival.objects.bulk_create(rows)
    browser = Client()
    for row in rows:
        _kind, path, to = kinds[row.kind == Kind.COMMENT]
        answer = browser.get(path.format(row.old_id))
        assert (answer.status_code, answer["Location"]) == (301, to.format(row.new_id))


@pytest.mark.long
def test_ten_thousand_hostile_addresses_are_answered_fast(old, site_store):
    came(old[0], Kind.ARTICLE, "abc123", 5)
    chance = random.Random(58)
    parts = [*"?&='/(+é\\\u202e😀", "/s/", "/c/", "/t/", "/~", "/item?id=", "id", "abc123", ".rss", "//", ".."]
    parts += ["%00", "%ff", "%2f", "$1", "a" * 300, "1" * 40]
    browser = Client(raise_request_exception=True)
    for _turn in range(10_000):
        path = "/" + "".join(chance.choices(parts, k=chance.randint(1, 9)))
        begun = time.process_time()
        answer = browser.get(path)
        assert answer.status_code in (200, 301, 302, 400, 404), path
        assert time.process_time() - begun < 1, path
    longest = max((f"/s/{unit * 400}" for unit in parts), key=_seconds)
    assert _seconds(longest) < 0.1


def _seconds(path):
    begun = time.process_time()
    addresses.find(path, path[:500])
    return time.process_time() - begun


def test_nginx_answers_from_the_map_as_the_site_does(old, run, site_store, tmp_path, monkeypatch):
    if not shutil.which("nginx"):
        pytest.skip("nginx is not installed")
    member("alice")
    came(old[0], Kind.ARTICLE, "abc123", 5)
    came(old[0], Kind.MEMBER, "ally", ALICE)
    came(old[0], Kind.GROUP, "py", "python")
    came(old[0], Kind.PATH, "/2009/hello?p=1", "article 6")
    came(old[1], Kind.ARTICLE, "8", 5)
    came(old[1], Kind.COMMENT, "9", 1_000_001)
    came(old[2], Kind.COMMENT, "7", 1_000_002)
    monkeypatch.chdir(tmp_path)
    assert "lines written to moved.conf" in next(follow("Old addresses", run))
    redirect = re.search(r"if .*", (tmp_path / "moved.conf").read_text())[0].replace("YOUR.SITE", "new.example")
    port = free_port()
    places = " ".join(
        f"{name}_temp_path {tmp_path}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (tmp_path / "nginx.conf").write_text(f"""
        daemon off; pid {tmp_path}/pid; error_log {tmp_path}/error.log; events {{}}
        http {{ access_log off; {places} include {tmp_path}/moved.conf;
          server {{ listen 127.0.0.1:{port};
            {redirect} return 404; }} }}
    """)
    running = subprocess.Popen(["nginx", "-c", tmp_path / "nginx.conf", "-e", tmp_path / "error.log"])
    try:
        here = f"http://127.0.0.1:{port}"
        until(lambda: _answers(here))
        for path in (
            "/s/abc123/a_title?x=1",
            "/~ally",
            "/t/py",
            "/t/py.rss",
            "/2009/hello?p=1",
            "/item?id=8",
            "/item?id=9",
            "/reply?id=9&goto=x",
            "/r/py/comments/8/title/7/?context=3",
            "/recent",
        ):
            answer = requests.get(here + path, allow_redirects=False, timeout=5)
            status, place = asked(path)
            assert (answer.status_code, answer.headers["Location"]) == (status, f"https://new.example{place}")
        assert requests.get(f"{here}/s/nothing", allow_redirects=False, timeout=5).status_code == 404
    finally:
        running.terminate()
        running.wait(10)


def _answers(address):
    try:
        return requests.get(address, timeout=5).status_code == 404
    except requests.ConnectionError:
        return False
