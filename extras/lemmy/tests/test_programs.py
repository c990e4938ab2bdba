"""What programs for Lemmy do with the site beside calling its API: decode tokens, build addresses, show texts."""

import base64
import json
import re
from functools import partial
from urllib.parse import urlsplit

import pytest
from django.test import Client

from accounts.models import Token
from articles import site
from articles.models import SiteText
from articles.web.groups import set_visibility
from extras.lemmy.shapes import WHOLE_SITE, absolute_links
from extras.lemmy.tests.client import Lemmy, log_in
from tests.cast import MODERATOR
from tests.factories import actor, browser_of, comment_on, post_as

pytestmark = pytest.mark.usefixtures("lemmy")


# Tokens


def of_jwt(text: str) -> dict[str, object]:
    """Decode what a token claims as strictly as any app: the middle part with base64's own letters alone."""
    head, claims, _signature = text.split(".")
    for part in (head, claims):
        assert re.fullmatch("[A-Za-z0-9+/]+", part), part
    json.loads(base64.b64decode(head + "=" * (-len(head) % 4), validate=True))
    return json.loads(base64.b64decode(claims + "=" * (-len(claims) % 4), validate=True))


@pytest.mark.parametrize(
    "host", ["example.org", "a.b.example.org:8443", "localhost:8000", "[::1]:8000", "xn--fiq228c.example", *"abc"]
)
def test_a_login_returns_a_token_that_apps_can_decode(site_store, alice, settings, host):
    settings.SITE_URL = f"https://{host}"
    said = log_in(Lemmy())["jwt"]

    (token,) = Token.objects.filter(user=alice)
    issued = int(token.created_at.timestamp())
    assert of_jwt(said) == {"sub": str(alice.pk), "iss": host, "iat": issued}
    assert (
        Lemmy(authorization=f"Bearer {said}").get("site")["my_user"]["local_user_view"]["person"]["id"] == alice.pk
    )
    assert Lemmy().get("user/validate_auth", auth=said) == {"success": True}


def test_only_the_last_part_of_a_token_counts_and_only_here(article, alice, bob):
    mine, theirs = (Token.objects.issue(one, "an app")[1] for one in (alice, bob))
    said = log_in(Lemmy())["jwt"]
    head, claims, _own = said.split(".")

    assert Lemmy(authorization=f"Bearer {mine}").get("user/validate_auth") == {"success": True}
    me = Lemmy(authorization=f"Bearer {head}.{claims}.{theirs}").get("site")["my_user"]
    assert me["local_user_view"]["person"]["name"] == "bob", "what is not secret proves nothing"
    for wrong in (
        f"{head}.{claims}.", f"{head}.{claims}", f"{mine}.{claims}.{head}", f".{said}", f"{said}.", "..", ".",
    ):  # fmt: skip
        assert Lemmy(authorization=f"Bearer {wrong}").get("user/validate_auth") == "not_logged_in", wrong
    assert Client().get("/api/me", headers={"authorization": f"Bearer {said}"}).status_code == 401
    assert "my_user" not in Lemmy(cookie=f"jwt={said}").get("site"), "another page's form would send it"
    assert Lemmy(authorization=f"Bearer {said}").post("user/logout") == {"success": True}
    assert Lemmy(authorization=f"Bearer {said}").get("user/validate_auth") == "not_logged_in"


@pytest.mark.parametrize("is_on", [True, False])
def test_the_settings_show_a_new_token_as_apps_take_it(site_store, alice, settings, is_on):
    settings.LEMMY_API = is_on
    page = browser_of(alice).post("/settings/tokens/", {"name": "My app", "scopes": ["vote"]}).text
    plain, *jwt = re.findall(r'<input id="(?:token|form-1)"[^>]* value="([^"]+)"', page)

    assert len(jwt) == is_on
    for text in jwt:
        assert text.endswith(f".{plain}")
        assert of_jwt(text)["sub"] == str(alice.pk)
        assert Lemmy(authorization=f"Bearer {text}").get("user/validate_auth") == {"success": True}
        assert (
            Lemmy(authorization=f"Bearer {text}").post("post", name="x", community_id=1) == "couldnt_create_post"
        )


# Addresses

NODEINFO = {"/nodeinfo/2.0": "2.0", "/nodeinfo/2.0.json": "2.0", "/nodeinfo/2.1.json": "2.1", "/version": "2.1"}


@pytest.mark.parametrize(("address", "version"), NODEINFO.items())
def test_programs_find_the_version_without_looking_for_its_address(article, settings, address, version):
    told, newest = (
        Client().get(one, headers={"origin": "https://vger.app"}) for one in (address, "/nodeinfo/2.1")
    )

    assert told.json() == newest.json() | {"version": version}
    assert told["Access-Control-Allow-Origin"] == "*"
    assert f"/schema/{version}#" in told["Content-Type"]
    settings.LEMMY_API, settings.NODEINFO = False, True
    assert [Client().get(one).status_code for one in (address, "/nodeinfo/2.1")] == [404, 200]


ADDRESSES = {
    "/post/1": "/articles/1/",
    "/post/1/1000001": "/comments/1000001/",
    "/comment/1000001": "/comments/1000001/",
    "/c/python": "/groups/python/",
    "/c/python@testserver": "/groups/python/",
    f"/c/{WHOLE_SITE}": "/",
    "/u/alice": "/users/alice/",
    "/u/alice@testserver:8000": "/users/alice/",
    "/feeds/c/python.xml": "/feeds/groups/python.rss",
    f"/feeds/c/{WHOLE_SITE}.xml": "/feeds/front.rss",
    "/feeds/u/alice.xml": "/feeds/users/alice.rss",
}


@pytest.mark.deep
@pytest.mark.parametrize("end", ["", "/"])
@pytest.mark.parametrize(("address", "page"), ADDRESSES.items())
def test_lemmys_addresses_lead_to_the_sites_pages(site_store, article, settings, alice, address, page, end):
    comment_on(site_store, article, "A comment", alice.pk)

    answer = Client().get(address + end)
    assert (answer.status_code, answer["Location"]) == (302, page)
    assert "private" in answer["Cache-Control"], "it ends with the setting"
    assert Client().get(page).status_code == 200
    assert Client().post(address + end).status_code in (403, 405)
    settings.LEMMY_API = False
    assert Client().get(address + end).status_code == 404


def test_an_address_leads_on_whether_or_not_the_reader_sees_what_is_there(
    site_store, article, carol, alice, settings, tmp_path, django_capture_on_commit_callbacks
):
    settings.DATA_DIR = tmp_path
    comment = comment_on(site_store, article, "A comment", alice.pk)
    with django_capture_on_commit_callbacks(execute=True):
        set_visibility("python", actor(carol), "For us", is_closed=True)

    def told(address):
        answer = Client().get(address)
        name = address.rpartition("/")[2]
        leads_to = answer["Location"].replace(name, "…")
        return answer.status_code, leads_to, answer["Cache-Control"], Client().get(answer["Location"]).status_code

    for closed, missing in (
        (f"/post/{article}", "/post/4711"),
        (f"/comment/{comment}", "/comment/4711000001"),
        ("/c/python", "/c/nothing"),
    ):
        assert told(closed) == told(missing)
        for address in (closed, missing):
            said = Lemmy().get("resolve_object", q=f"http://testserver{address}")
            assert said in ("couldnt_find_post", "couldnt_find_comment", "couldnt_find_community")


def test_a_site_for_members_asks_for_a_login_first(article, settings):
    settings.READING = "members"

    assert all(Client().get(one)["Location"].startswith("/login/") for one in ("/post/1", "/c/python", "/u/alice"))
    assert all(Client().get(one).json()["usage"]["localPosts"] == 0 for one in NODEINFO)


@pytest.mark.deep
@pytest.mark.parametrize("form", ["{}/", "{}?sort=New#top"])
@pytest.mark.parametrize("address", [one for one in ADDRESSES if not one.startswith("/feeds")])
def test_apps_resolve_both_kinds_of_addresses_to_the_same(site_store, article, alice, address, form):
    comment_on(site_store, article, "A comment", alice.pk)
    ask = partial(Lemmy().get, "resolve_object")

    found = ask(q="http://testserver" + form.format(address))
    assert found == ask(q=f"http://testserver{ADDRESSES[address]}")
    (kind,) = found
    assert kind in ("post", "comment", "community", "person")
    assert ask(q=f"https://lemmy.example{address}") == "couldnt_find_object"
    assert ask(q=f"ftp://testserver{address}") == "couldnt_find_object"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("!python", "community"), ("!python@testserver", "community"), ("@alice", "person"),
        ("@alice@testserver", "person"), ("!python@lemmy.example", "couldnt_find_community"),
        ("@alice@lemmy.example", "couldnt_find_person"),
        ("http://testserver/feeds/u/alice.xml", "couldnt_find_object"),
        ("http://testserver/articles/1", "post"),
        ("HTTP://TestServer/post/1", "post"),
        ("http://[x/post/1", "couldnt_find_object"),
        ("post/1", "couldnt_find_object"),
    ],
)  # fmt: skip
def test_what_apps_resolve(article, text, found):
    said = Lemmy().get("resolve_object", q=text)

    assert (said if isinstance(said, str) else next(iter(said))) == found


def test_addresses_in_answers_are_absolute_and_can_be_resolved(site_store, article, alice):
    """Apps make `name@host` of them, share them, and ask for what they stand for."""
    comment_on(site_store, article, "A comment", alice.pk)
    asked = ("post/list", "comment/list", "community/list", "user?username=alice", "site")
    said = [Lemmy().get(one) for one in asked]
    addresses = set(re.findall(r'"(?:actor_id|ap_id)": "([^"]+)"', json.dumps(said)))

    assert len(addresses) >= 5
    for address in addresses:
        assert urlsplit(address).netloc == "testserver"
        assert isinstance(Lemmy().get("resolve_object", q=address), dict), address


# Texts

LINKED = [
    ("[rules](/rules/)", "[rules](S/rules/)"),
    ("[a](/x) and [b](/y)", "[a](S/x) and [b](S/y)"),
    ("[rules]( /rules/ 'Our rules')", "[rules]( S/rules/ 'Our rules')"),
    ("[rules](</rules/>)", "[rules](<S/rules/>)"),
    ("![a picture](/a.png)", "![a picture](S/a.png)"),
    ("[rules][r]\n\n[r]: /rules/", "[rules][r]\n\n[r]: S/rules/"),
    ("[r]: </rules/>", "[r]: <S/rules/>"), ("**[rules](/rules/)**", "**[rules](S/rules/)**"),
    ("> [rules](/rules/)", "> [rules](S/rules/)"), ("[规则](/rules/)", "[规则](S/rules/)"),
    ("[front](/)", "[front](S/)"), ("`code` [a](/x) `code`", "`code` [a](S/x) `code`"),
    ("`` [a](/x)", "`` [a](S/x)"),
    *(
        (text, text)
        for text in (
            "", "/rules/", "[a](https://example.org/)", "[a](//example.org/)", "[a](/\\example.org/)",
            "[a](mailto:a@example.org)", "`[a](/x)`", "`` `[a](/x)` ``", "```\n[a](/x)\n```",
            "and/or (/x)", "[a]\\(/x)",
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "linked"), LINKED)
def test_links_to_pages_of_the_site_have_its_address(text, linked):
    assert absolute_links(text, "https://example.org") == linked.replace("S/", "https://example.org/")


HOSTILE = ["`" * 20_000, "".join("`" * (n % 200) + " " for n in range(300)), "[x](" * 5_000]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_as_they_are(text):
    assert absolute_links(text, "https://example.org") == text


@pytest.mark.parametrize(
    ("welcome", "shown"),
    [
        ("Hello", "Hello"),
        ("# Hello\n\n**You** & [rules](/rules/)", "Hello · You & rules"),
        ("a\n\nb", "a · b"), ("1 < 2", "1 < 2"), ("`code` <b>", "code <b>"), ("* one\n* two", "one · two"),
    ],
)  # fmt: skip
def test_apps_show_the_welcome_as_plain_text_and_the_rules_as_markdown(site_store, carol, welcome, shown):
    SiteText.objects.create(name="welcome", language="en", text=welcome)
    SiteText.objects.create(name="rules", language="en", text="See [about](/about/).")
    site.forget_texts()
    site_store.groups.create("python", "Python", actor(carol))
    site_store.groups.describe("python", "See [rules](/rules/).", actor(carol))

    said = Lemmy().get("site")["site_view"]["site"]
    assert (said["description"], said["sidebar"]) == (shown, "See [about](http://testserver/about/).")
    whole, python = Lemmy().get("community/list")["communities"]
    assert "](/" not in whole["community"]["description"]
    assert python["community"]["description"] == "See [rules](http://testserver/rules/)."


# Numbers


def test_the_counts_of_a_member_leave_out_what_was_removed(site_store, article, alice, bob, carol):
    def counts():
        said = Lemmy().get("user", username="alice")["person_view"]["counts"]
        own = Lemmy(alice).get("site")["my_user"]["local_user_view"]["counts"]
        assert said == own
        return said["post_count"], said["comment_count"]

    assert counts() == (1, 0)
    other = post_as(site_store, alice, "Other", "https://example.org/other").id
    on = {"One": article, "Two": article, "Three": other}
    written = [comment_on(site_store, one, text, alice.pk) for text, one in on.items()]
    comment_on(site_store, article, "Of another", bob.pk)
    assert counts() == (2, 3)
    site_store.comments.remove(written[0], MODERATOR, "Rude")
    assert counts() == (2, 2)
    site_store.articles.remove(other, MODERATOR, "Spam")
    assert counts() == (1, 1)
    site_store.articles.restore(other, MODERATOR, "Not spam")
    site_store.comments.restore(written[0], MODERATOR, "Fine")
    assert counts() == (2, 3)
    site_store.comments.delete(written[1], alice.pk)
    assert counts() == (2, 2)
