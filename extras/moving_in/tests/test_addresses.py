"""Old addresses lead to what they were of, and cost nothing otherwise."""

import random
import re
import shutil
import subprocess
import time

import pytest
import requests
from django.core.checks import run_checks
from django.db import connection, reset_queries
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


def test_an_old_address_is_answered_for_good_but_not_for_ever(old, site_store):
    article = post(site_store, 1)
    came(old[0], Kind.ARTICLE, "abc123", article)
    for method in (Client().get, Client().head):
        answer = method("/s/abc123/a_title")
        assert (answer.status_code, answer.content, answer["Location"]) == (301, b"", f"/articles/{article}/")
        assert answer["Cache-Control"] == "public, max-age=3600"
    assert asked(answer["Location"])[0] == 200
    assert Client().post("/s/abc123/a_title").status_code in (404, 405)


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


SPELLINGS = """
lobsters article /s/ID /s/ID/ /s/ID.json /s/ID/a_title /s/ID/a_title.json /s/ID/a%20title/
lobsters article /s/ID/%E4%BD%A0%E5%A5%BD /s/ID/t?utm_source=x&utm_medium=y /s/ID. /s/ID) /s/ID, /stories/ID
lobsters article /stories/ID/title /stories/ID/suggest
lobsters comment /c/ID /c/ID.json /comments/ID /comments/ID/reply /s/x/a_title/comments/ID /c/ID?x=1
lobsters group /t/ID /t/ID.json /t/ID/page/3 /t/ID,rust /t/ID.rss /t/ID,rust.rss /t/ID?x=1
lobsters member /~ID /%7EID /~ID.json /~ID/stories /~ID/stories/page/2 /~ID/threads /~ID/standing /u/ID
lobsters member /u/ID/threads /@ID /newest/ID /newest/ID.rss /newest/ID/page/2 /threads/ID /~ID/stories.rss
lemmy article /post/ID /post/ID/ /post/ID?scrollToComments=true /post/ID?sort=Old&view=Chat /post/ID. /post/ID)
lemmy comment /post/1/ID /post/1/comment/ID /comment/ID /comment/ID/ /comment/ID?context=3 /post/1/ID?x=1
lemmy group /c/ID /c/ID@old.example /c/ID/data_type/Post/sort/Active/page/1 /c/ID?dataType=Post&page=3
lemmy group /feeds/c/ID.xml?sort=New /feeds/c/ID@old.example.xml
lemmy member /u/ID /u/ID@old.example /u/ID%40old.example /u/ID/view/Comments/sort/New/page/1 /u/ID?view=Posts
lemmy member /feeds/u/ID.xml
reddit article /r/py/comments/ID/title/ /r/py/comments/ID /comments/ID /r/py/comments/ID/_/
reddit article /r/py/comments/ID.json /r/py/comments/ID/title/?sort=new&limit=500 /r/py/comments/ID/title/.json
reddit article /r/py/comments/ID/title/.rss /r/py/comments/ID/title.compact /user/x/comments/ID/title/ /tb/ID
reddit article /gallery/ID /r/py/duplicates/ID/title/ /r/py/comments/ID/%E4%BD%A0%E5%A5%BD/
reddit article /r/py/comments/ID/title/)
reddit comment /r/py/comments/a/title/ID/ /r/py/comments/a/_/ID/ /r/py/comments/a/title/ID/?context=3
reddit comment /comments/a/_/ID /r/py/comments/a/comment/ID/ /r/py/comments/a//ID
reddit comment /r/py/comments/a/title/ID/.json /u/x/comments/a/title/ID/
reddit comment /r/py/comments/a/title/ID?utm_source=share /r/py/comments/a/title/ID/.rss
reddit group /r/ID /r/ID/ /r/ID/new/ /r/ID/.rss /r/ID/new/.rss /r/ID.rss /r/ID/top/?sort=top&t=all /r/ID.json
reddit group /r/ID/wiki/index /r/ID+other
reddit member /u/ID /user/ID/comments/ /u/ID/.rss /user/ID.rss /user/ID.json /user/ID/submitted/?sort=top
hackernews article /item?id=ID /item?id=ID&p=2 /item?goto=x&id=ID /item/?id=ID /item?id=ID. /item?id=ID)
hackernews article /item?id=ID/ /item?id=ID& /item?id=%20ID /item?id=ID%20 /item?id=ID?ref=x /item?id=ID%23c
hackernews article /item?id=ID&amp;p=2 /hide?id=ID&goto=news
hackernews comment /item?id=ID /reply?id=ID&goto=item%3Fid%3D12%2334 /context?id=ID /edit?id=ID
hackernews comment /vote?id=ID&how=up&goto=x
hackernews member /user?id=ID /submitted?id=ID /threads?id=ID&next=34 /favorites?id=ID&comments=t
lines path /2009/ID /2009/ID/ /2009/ID?utm_source=x
feed path /p/%C3%A9ID?p=1 /p/%c3%a9ID/?p=1 /p/éID?p=1
"""
LISTS = """
lobsters /newest/page/2 /recent/page/2 /recent.rss /page/2 /top/1w /hottest.json /upvoted/stories /search/rust
lobsters /users
lemmy /communities/listing_type/All/page/1 /modlog/3 /search/q/x/type/All/sort/TopAll/page/1
lemmy /feeds/all.xml?sort=Hot
reddit /hot/ /new/ /top/?t=all /new/.rss /top/.rss
hackernews /news?p=2 /newest?next=34&n=31 /front?day=2020-01-01 /rss /submitlink?u=x
"""
NOT_THERE = """/stories/url/latest?url=x /r/py/s/AbCdEf /r/py/comments/zzz/title/ /x?fnid=abc /s/zzz /stats
/c/rust@elsewhere.example"""

# Addresses that links on the web have, by lobsters' routes.rb, lemmy-ui's routes.ts, and as people link to others.
EVERY = [
    (form, Kind(kind), path)
    for form, kind, *paths in map(str.split, SPELLINGS.split("\n")[1:-1])
    for path in paths
]
FORMS = list(dict.fromkeys(form for form, _kind, _path in EVERY))


def spelled(number, form, kind, path):
    """Return an address of a thing, its old id, and the id of the article or comment that it has here."""
    digits = number + 100_000 if form in ("lemmy", "hackernews") else f"{number:x}z"
    old_id = digits if kind in (Kind.ARTICLE, Kind.COMMENT, Kind.PATH) else f"Name-{number}"
    if form == "reddit" and kind == Kind.GROUP:
        old_id = f"Group{number}"
    return path.replace("ID", str(old_id)), str(old_id)


def moved_in(count):
    """Let things move in, as many as addresses are returned, each with where it has to lead."""
    sources = {form: Source.objects.create(name=form, format=form, host="old.example") for form in FORMS}
    member("alice")
    rows, found = [], {}
    for number in range(1, count + 1):
        form, kind, path = EVERY[number % len(EVERY)]
        address, old_id = spelled(number, form, kind, path)
        new_id, to = {
            Kind.ARTICLE: (number, f"/articles/{number}/"),
            Kind.COMMENT: (number + 10**6, f"/comments/{number + 10**6}/"),
            Kind.PATH: (f"article {number}", f"/articles/{number}/"),
            Kind.GROUP: (f"g{number}", f"/groups/g{number}/"),
            Kind.MEMBER: (ALICE, "/users/alice/"),
        }[kind]
        if kind == Kind.PATH:
            old_id = {"lines": f"/2009/{old_id}", "feed": f"/p/é{old_id}?p=1"}[form]
        ids = {old_id, old_id.lower()} if kind in (Kind.MEMBER, Kind.GROUP) else {old_id}
        rows += [Arrival(source=sources[form], kind=kind, old_id=one, new_id=str(new_id)) for one in ids]
        if kind in (Kind.MEMBER, Kind.GROUP) and number % 2:
            address = address.replace(old_id, old_id.lower())
        found[address] = to
    Arrival.objects.bulk_create(rows)
    return found


def leads(place, to):
    """Whether a place is that of the thing, or of a feed of it."""
    path = place.removeprefix("https://new.example").removeprefix("/feeds")
    return path.removesuffix(".rss").strip("/") == to.strip("/") or (
        path.endswith(".rss") and to.strip("/") in path
    )


@pytest.mark.parametrize("count", [len(EVERY), pytest.param(10_000, marks=pytest.mark.long)])
def test_each_old_address_leads_to_its_own(db, former, site_store, count):
    browser, seconds, most = Client(headers={"host": "old.example"}), 0.0, 0
    for address, to in moved_in(count).items():
        reset_queries()
        begun = time.process_time()
        with CaptureQueriesContext(connection) as asking:
            answer = browser.get(address)
        seconds += time.process_time() - begun
        most = max(most, sum("moving_in" in one["sql"] for one in asking.captured_queries))
        assert answer.status_code == 301, address
        assert leads(answer["Location"], to), (address, answer["Location"], to)
    assert most == 1
    assert seconds / count < 0.02


def test_addresses_of_lists_lead_to_lists_and_others_nowhere(db, former, site_store):
    for form, *addresses_there in map(str.split, LISTS.split("\n")[1:-1]):
        Source.objects.update_or_create(name=form, format=form, defaults={"host": "old.example"})
        for address in addresses_there:
            status, place = asked(address, host="old.example")
            assert (status, place != f"https://new.example{address}") == (301, True), address
            assert asked(place.removeprefix("https://new.example"))[0] in (200, 302), place
        Source.objects.update(host="")
    for address in NOT_THERE.split():
        assert asked(address)[0] == 404, address


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


def test_nginx_answers_from_the_map_as_the_site_does(db, run, site_store, tmp_path, monkeypatch):
    if not shutil.which("nginx"):
        pytest.skip("nginx is not installed")
    there = moved_in(len(EVERY))
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
        answered = 0
        for address, to in there.items():
            answer = requests.get(here + address, allow_redirects=False, timeout=5)
            if answer.status_code != 404:  # else the site answers
                assert answer.status_code == 301
                assert leads(answer.headers["Location"], to), address
                answered += 1
        assert answered > 0.7 * len(there)
    finally:
        running.terminate()
        running.wait(10)


def _answers(address):
    try:
        return requests.get(address, timeout=5).status_code == 404
    except requests.ConnectionError:
        return False


def test_addresses_of_this_software_are_old_ones_on_their_own_host_alone(former, site_store):
    older = Source.objects.create(name="older", format="site", host="old.example")
    member("alice")
    article = post(site_store, 1, ("python",))
    comment = comment_on(site_store, article, "Hello", ALICE)
    rows = {Kind.ARTICLE: ("77", article), Kind.COMMENT: ("77000001", comment), Kind.MEMBER: ("ali", ALICE)}
    rows[Kind.GROUP] = ("py", "python")
    for kind, (old_id, new_id) in rows.items():
        came(older, kind, old_id, new_id)
    for path, to in {
        "/articles/77/": f"/articles/{article}/",
        "/articles/77/why/?x=1": f"/articles/{article}/",
        "/feeds/articles/77/comments.atom": f"/feeds/articles/{article}/comments.atom",
        "/comments/77000001/": f"/comments/{comment}/",
        "/users/ali/comments/": "/users/alice/",
        "/feeds/users/ali.json": "/feeds/users/alice.json",
        "/groups/py/": "/groups/python/",
        "/feeds/groups/py.rss": "/feeds/groups/python.rss",
        "/newest/": "/newest/",
    }.items():
        assert asked(path, host="old.example") == (301, f"https://new.example{to}"), path
    asked_there = Client(headers={"host": "old.example"}).get(f"/articles/{article}/")
    assert (asked_there.status_code, b"did not move" in asked_there.content) == (404, True)
    for path in ("/articles/77/", "/users/ali/"):
        answer = Client(headers={"host": "new.example"}).get(path)
        assert (answer.status_code, b"did not move" in answer.content) == (404, False), path
    listed = [*addresses.old_addresses(0, 10**9, "https://new.example")]
    assert listed == [
        f"https://old.example{path}"
        for path in ("/articles/77/", "/comments/77000001/", "/users/ali/", "/groups/py/")
    ]
    news = Source.objects.create(name="news", format="hackernews")
    assert "/articles/77/" not in "\n".join(addresses.nginx_map([older, news]))
    assert f'"/articles/{article}/"' in "\n".join(addresses.nginx_map([older]))
