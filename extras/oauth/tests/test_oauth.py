"""Apps that ask members for permission: what the protocol allows, and what it refuses."""

import base64
import hashlib
import json
import re
from datetime import timedelta
from html import unescape
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts.models import Token
from articles.operation.extras import delete_stale
from extras.oauth import models, registration
from extras.oauth.models import App, AppRequest, Grant
from tests.factories import browser_of

pytestmark = pytest.mark.usefixtures("site_store")

BACK = "https://app.example.org/back"
VERIFIER = "v" * 43


def challenge_of(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")


def register(**facts):
    facts = {"client_name": "Reader", "redirect_uris": [BACK]} | facts
    return Client().post("/oauth/register/", json.dumps(facts), content_type="application/json")


@pytest.fixture
def app() -> App:
    return App.objects.get(client_id=register().json()["client_id"])


def address(app, **changes):
    asked = {
        "response_type": "code",
        "client_id": app.client_id,
        "redirect_uri": BACK,
        "scope": "vote post",
        "state": "a state",
        "code_challenge": challenge_of(VERIFIER),
        "code_challenge_method": "S256",
    } | changes
    return f"/oauth/authorize/?{urlencode({name: text for name, text in asked.items() if text is not None})}"


def answer_of(page) -> dict[str, str]:
    """Return what the page that leads back to the app gives it."""
    (link,) = re.findall(r'<a class="button" href="([^"]+)"', page.text)
    return {name: one for name, (one,) in parse_qs(urlsplit(unescape(link)).query).items()}


def decide(browser, where, decision="allow", scopes=("vote", "post")):
    return browser.post(where, {"decision": decision, "scopes": list(scopes)})


def exchange(app, code, **changes):
    fields = {"grant_type": "authorization_code", "code": code, "redirect_uri": BACK, "code_verifier": VERIFIER}
    return ask_for_token(app, **(fields | changes))


def ask_for_token(app, **fields):
    given = {"client_id": app.client_id} | fields
    return Client(enforce_csrf_checks=True).post(
        "/oauth/token/", {name: text for name, text in given.items() if text is not None}
    )


def code_for(app, browser, **changes) -> str:
    return answer_of(decide(browser, address(app, **changes)))["code"]


@pytest.fixture
def pair(app, as_alice) -> dict[str, str]:
    return exchange(app, code_for(app, as_alice)).json()


def me(access: str):
    return Client().get("/api/me", headers={"Authorization": f"Bearer {access}"})


def refresh(app, token, **more):
    return ask_for_token(app, grant_type="refresh_token", refresh_token=token, **more)


def later(monkeypatch, **passed):
    now = timezone.now() + timedelta(**passed)
    monkeypatch.setattr(timezone, "now", lambda: now)


# The way of a code


def test_an_app_gets_what_the_member_ticks_and_uses_the_api_with_it(app, as_alice, alice):
    page = as_alice.get(address(app, scope="read vote post moderate"))

    answer = answer_of(decide(as_alice, address(app, scope="read vote post moderate"), scopes=["vote"]))
    given = exchange(app, answer["code"])

    assert "Reader" in page.text
    assert "app.example.org" in page.text
    assert (answer["state"], answer["iss"]) == ("a state", "http://testserver")
    assert "no-store" in given["Cache-Control"]
    assert (given.json()["scope"], given.json()["expires_in"]) == ("read vote", 3600)
    assert me(given.json()["access_token"]).json()["name"] == "alice"
    assert Token.objects.get().scopes == "read vote"


def test_the_way_of_each_code_is_a_decision_of_the_member(app, as_alice, pair):
    assert "http-equiv" not in as_alice.get(address(app)).text
    assert AppRequest.objects.filter(is_used=False).count() == 0


def test_what_is_not_asked_for_cannot_be_ticked(app, as_alice):
    assert decide(as_alice, address(app, scope="vote"), scopes=["moderate"]).status_code == 400
    assert not AppRequest.objects.exists()


def test_a_refusal_is_told_to_the_app(app, as_alice):
    answer = answer_of(decide(as_alice, address(app), "deny"))

    assert (answer["error"], answer["state"]) == ("access_denied", "a state")
    assert answer["iss"] == "http://testserver"
    assert not AppRequest.objects.exists()


def test_the_login_keeps_what_an_app_asks_for(app):
    response = Client().get(address(app))

    assert response["Location"].startswith("/login/?next=/oauth/authorize/%3F")
    assert app.client_id in response["Location"]


def test_an_open_session_alone_allows_nothing(app, as_alice):
    session = as_alice.session
    session["proven"] -= 601
    session.save()

    assert "/login/confirm/" in as_alice.get(address(app))["Location"]
    assert 'action="/login/confirm/"' in decide(as_alice, address(app)).text
    assert not AppRequest.objects.exists()


def test_no_other_site_can_press_the_button_or_frame_the_page(app, alice):
    strict = browser_of(alice, strict=True)

    assert (
        strict.post(address(app), {"decision": "allow"}, headers={"Sec-Fetch-Site": "cross-site"}).status_code
        == 403
    )
    assert not AppRequest.objects.exists()
    assert "frame-ancestors 'none'" in strict.get(address(app)).headers["Content-Security-Policy"]


@pytest.mark.deep
@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": None}, {"client_id": "x" * 22}, {"client_id": "\0"}, {"response_type": None},
        {"response_type": "token"}, {"response_type": "code token"}, {"code_challenge": None},
        {"code_challenge_method": None}, {"code_challenge_method": "plain"}, {"code_challenge": "short"},
        {"scope": "admin"}, {"redirect_uri": None},
        *({"redirect_uri": BACK + more} for more in ("/", "?x=1", "#x")),
        *({"redirect_uri": BACK.replace("https", scheme)} for scheme in ("http", "HTTPS")),
        *({"redirect_uri": BACK.replace("/back", other)} for other in (":444/back", ".evil.example/back")),
        *({"redirect_uri": BACK.replace("/back", other)} for other in ("@evil.example/back", "/a/../back")),
        *({"redirect_uri": other} for other in ("https://evil.example/back", "javascript:alert(1)")),
    ],
)  # fmt: skip
def test_a_wrong_request_leads_nowhere(app, as_alice, changes):
    for answer in (as_alice.get(address(app, **changes)), decide(as_alice, address(app, **changes))):
        assert answer.status_code == 400
        assert "http-equiv" not in answer.text
        assert not re.search(r'href="https?://(?!testserver)', answer.text)
    assert not AppRequest.objects.exists()


@pytest.mark.parametrize("name", ["client_id", "redirect_uri", "scope", "state", "code_challenge"])
def test_a_parameter_comes_once(app, as_alice, name):
    twice = f"{address(app)}&{urlencode({name: 'x'})}"

    assert as_alice.get(twice).status_code == 400


def test_a_program_on_the_device_may_listen_on_any_port(as_alice):
    app = App.objects.register("CLI", ["http://127.0.0.1/back?a=1"])

    for good in ("http://127.0.0.1:4711/back?a=1", "http://127.0.0.1/back?a=1"):
        assert as_alice.get(address(app, redirect_uri=good)).status_code == 200
    for bad in (
        "http://127.0.0.1:4711/other?a=1", "http://127.0.0.1:4711/back?a=2", "http://localhost:4711/back?a=1",
        "http://x@127.0.0.1:4711/back?a=1", "http://127.0.0.1:99999/back?a=1",
        "http://127.0.0.1.evil.example:1/back?a=1",
    ):  # fmt: skip
        assert as_alice.get(address(app, redirect_uri=bad)).status_code == 400


# Codes and tokens


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_verifier": "w" * 43}, "invalid_grant"),
        ({"code_verifier": None}, "invalid_request"),
        ({"code_verifier": challenge_of(VERIFIER)}, "invalid_grant"),
        ({"redirect_uri": BACK + "/"}, "invalid_grant"),
        ({"redirect_uri": None}, "invalid_grant"),
        ({"client_id": None}, "invalid_client"),
        ({"client_id": "x" * 22}, "invalid_client"),
        ({"client_secret": "x"}, "invalid_client"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"grant_type": "client_credentials"}, "unsupported_grant_type"),
        ({"grant_type": None}, "unsupported_grant_type"),
        ({"code": None}, "invalid_request"),
        ({"code": "x"}, "invalid_grant"),
    ],
)
def test_a_wrong_exchange_gives_nothing(app, as_alice, changes, error):
    answer = exchange(app, **({"code": code_for(app, as_alice)} | changes))

    assert (answer.status_code, answer.json()["error"]) == (400, error)
    assert not Token.objects.exists()


def test_a_code_of_one_app_is_worth_nothing_to_another(app, as_alice):
    other = App.objects.register("Other", [BACK])

    assert exchange(other, code_for(app, as_alice)).json()["error"] == "invalid_grant"


def test_a_code_expires_after_a_minute(app, as_alice, monkeypatch):
    code = code_for(app, as_alice)
    later(monkeypatch, seconds=61)

    assert exchange(app, code).json()["error"] == "invalid_grant"


def test_the_second_use_of_a_code_revokes_what_it_gave(app, as_alice):
    code = code_for(app, as_alice)
    access = exchange(app, code).json()["access_token"]

    assert exchange(app, code).json()["error"] == "invalid_grant"
    assert me(access).status_code == 401


def test_a_token_is_renewed_and_the_old_pair_ends(app, pair, alice):
    renewed = refresh(app, pair["refresh_token"], scope="read").json()

    assert renewed["scope"] == "read vote post"  # the whole grant
    assert me(renewed["access_token"]).json()["name"] == "alice"
    assert me(pair["access_token"]).status_code == 401
    assert refresh(app, renewed["refresh_token"]).status_code == 200


def test_a_renewal_cannot_enlarge_what_is_allowed(app, pair):
    assert refresh(app, pair["refresh_token"], scope="read moderate").json()["error"] == "invalid_scope"


@pytest.mark.parametrize("renewals", [1, 3])
def test_an_old_refresh_token_revokes_the_grant_however_old_it_is(app, pair, renewals):
    newest = pair
    for _ in range(renewals):
        newest = refresh(app, newest["refresh_token"]).json()

    assert refresh(app, pair["refresh_token"]).json()["error"] == "invalid_grant"
    assert me(newest["access_token"]).status_code == 401
    assert refresh(app, newest["refresh_token"]).json()["error"] == "invalid_grant"


def test_two_renewals_at_once_leave_no_grant(app, pair):
    first, second = Grant.objects.find(pair["refresh_token"]), Grant.objects.find(pair["refresh_token"])

    assert Grant.objects.renew(first, "avs_a", "f.a", timedelta(hours=1))
    assert not Grant.objects.renew(second, "avs_b", "f.b", timedelta(hours=1))
    assert not Token.objects.exists()


def test_an_app_asks_again_after_a_year(app, pair):
    Token.objects.update(created_at=timezone.now() - timedelta(days=365))

    assert refresh(app, pair["refresh_token"]).json()["error"] == "invalid_grant"
    assert App.objects.expire() == 1
    assert not Grant.objects.exists()


def test_one_app_cannot_use_the_refresh_token_of_another(app, pair):
    other = App.objects.register("Other", [BACK])

    assert refresh(other, pair["refresh_token"]).json()["error"] == "invalid_grant"
    assert me(pair["access_token"]).status_code == 200


def test_an_access_token_is_valid_for_an_hour(pair, monkeypatch):
    later(monkeypatch, seconds=3601)

    assert me(pair["access_token"]).status_code == 401


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
def test_an_app_gives_its_grant_back(app, pair, kind):
    other = App.objects.register("Other", [BACK])

    def revoke(whose):
        return Client().post("/oauth/revoke/", {"client_id": whose.client_id, "token": pair[kind]}).status_code

    assert revoke(other) == 400
    assert me(pair["access_token"]).status_code == 200
    assert revoke(app) == 200
    assert me(pair["access_token"]).status_code == 401
    assert revoke(app) == 200


def test_a_token_that_a_member_created_cannot_be_revoked_by_an_app(app, alice):
    token, plaintext = Token.objects.issue(alice, "mine")

    Client().post("/oauth/revoke/", {"client_id": app.client_id, "token": plaintext})

    assert Token.objects.filter(pk=token.pk).exists()


@pytest.mark.parametrize("end", ["left", "inactive"])
def test_members_who_are_gone_give_no_tokens(app, as_alice, alice, pair, end):
    code = code_for(app, as_alice)
    if end == "left":
        alice.left_at = timezone.now()
    else:
        alice.is_active = False
    alice.save()

    assert exchange(app, code).json()["error"] == "invalid_grant"
    assert refresh(app, pair["refresh_token"]).status_code == 400


def test_the_member_sees_the_app_in_the_settings_and_withdraws_it(as_alice, pair):
    page = as_alice.get("/settings/programs/").text
    (where,) = re.findall(r'action="(/settings/tokens/\d+/revoke/)"', page)

    as_alice.post(where)

    assert "Apps that you allowed" in page
    assert me(pair["access_token"]).status_code == 401
    assert not Grant.objects.exists()


def test_a_further_grant_replaces_the_one_unused_longest_and_no_token_of_others(app, as_alice, alice, monkeypatch):
    monkeypatch.setattr(models, "MOST_GRANTS", 2)
    own = [Token.objects.issue(alice, f"own {n}")[0].pk for n in range(Token.objects.PER_USER)]
    given = [exchange(app, code_for(app, as_alice)).json() for _ in range(2)]
    given[0] |= refresh(app, given[0]["refresh_token"]).json()

    given.append(exchange(app, code_for(app, as_alice)).json())

    assert [me(one["access_token"]).status_code for one in given] == [200, 401, 200]
    assert Token.objects.filter(pk__in=own).count() == len(own)


# Registration


def test_an_app_is_registered_as_a_public_client():
    answer = register(client_name="Vote  reader", scope="whatever", logo_uri="https://x.example")

    assert answer.status_code == 201
    assert answer.json()["token_endpoint_auth_method"] == "none"
    assert "client_secret" not in answer.json()
    assert App.objects.get(client_id=answer.json()["client_id"]).addresses == BACK


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd", "app:/back",
        "app://localhost/", "http://x.org/",
        "https:///back", "https://x.org/#f", "https://a@x.org/", "https://x.org/ b",
        "https://x.org/\\b", "//x.org/",
        "https://x.org:99999/", "https://[::1/", "https://x.org/\n", "https://x.org/é", "HTTPS://x.org/", "",
        "https://x.org/" + "a" * 300,
        'https://x.org/"',
        "http://localhost.evil.org/", "http://127.0.0.1@x.org/",
        None, 5, {}, ["https://x.org/"],
    ],
)  # fmt: skip
def test_codes_are_sent_to_no_such_address(address):
    answer = register(redirect_uris=[address])

    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_redirect_uri")
    assert not App.objects.exists()


@pytest.mark.parametrize("addresses", [[], None, [BACK] * 6])
def test_an_app_names_one_to_five_addresses(addresses):
    assert register(redirect_uris=addresses).json()["error"] == "invalid_redirect_uri"


@pytest.mark.parametrize(
    "address",
    ["https://x.org", "http://[::1]:80/b", "http://localhost/", "org.example.app:/back", "com.example://x?a=1"],
)
def test_codes_are_sent_to_the_web_to_the_device_itself_and_to_its_apps(address):
    assert register(redirect_uris=[address]).status_code == 201


@pytest.mark.parametrize(
    "body",
    [
        b"", b"x", b"[]", b"null",
        b"[" * 9_000,
        b'{"a":' * 1_500,
        b'{"client_name": "x' + b"x" * 10_000 + b'"}',
        b"\xff",
    ],
)  # fmt: skip
def test_a_registration_is_a_small_json_object(body):
    answer = Client().post("/oauth/register/", body, content_type="application/json")

    assert answer.status_code == 400
    assert not App.objects.exists()


@pytest.mark.parametrize("name", ["a\u202eb", "a\nb", "a\0b"])
def test_nothing_in_the_name_of_an_app_changes_how_the_page_reads(name):
    register(client_name=name)

    assert App.objects.get().name in ("ab", "a b")


def test_an_app_that_wants_a_secret_is_refused():
    assert register(token_endpoint_auth_method="client_secret_basic").status_code == 400


def test_a_flood_replaces_only_apps_that_nobody_uses(app, pair, monkeypatch):
    monkeypatch.setattr(models, "MOST_UNUSED", 3)
    others = [App.objects.register(f"{n}", []) for n in range(5)]

    assert {*App.objects.values_list("pk", flat=True)} == {app.pk, *(one.pk for one in others[-3:])}


def test_housekeeping_forgets_unused_apps_ended_grants_and_old_requests(app, pair, as_alice, monkeypatch):
    App.objects.register("unused", [])
    code_for(app, as_alice)
    assert App.objects.expire() == 0
    later(monkeypatch, days=31)
    assert App.objects.expire() == 3  # two requests and an app
    assert App.objects.get() == app
    later(monkeypatch, days=92)

    assert App.objects.expire() == 2  # the grant, and the app that it was for
    assert not Token.objects.exists()


def test_without_its_token_a_grant_is_forgotten(app, pair):
    """The member revoked it while this folder was not there."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM accounts_token")

    assert refresh(app, pair["refresh_token"]).json()["error"] == "invalid_grant"
    assert App.objects.expire() == 1
    assert not Grant.objects.exists()


def test_a_request_stays_when_its_token_went_while_this_folder_was_not_there(app, pair):
    given = AppRequest.objects.exclude(token=None)
    count = given.count()
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM accounts_token")

    delete_stale()

    assert count
    assert not given.exists()
    assert AppRequest.objects.count() >= count
    assert not Grant.objects.exists()


# Around


def test_the_document_names_addresses_that_exist(app):
    document = Client().get("/.well-known/oauth-authorization-server").json()

    assert document["issuer"] == "http://testserver"
    assert document["code_challenge_methods_supported"] == ["S256"]
    for name in ("token", "registration", "revocation"):
        path = urlsplit(document[f"{name}_endpoint"]).path
        assert (Client().get(path).status_code, Client().post(path).status_code) == (405, 400)


@pytest.mark.parametrize("path", ["/oauth/token/", "/oauth/register/", "/oauth/revoke/"])
def test_pages_elsewhere_use_these_addresses_and_their_cookies_are_not_looked_at(as_alice, path):
    headers = {"Origin": "https://spa.example", "Sec-Fetch-Site": "cross-site"}
    asked = as_alice.options(path, headers=headers | {"Access-Control-Request-Method": "POST"})
    answer = as_alice.post(path, headers=headers)

    assert asked.status_code == 204
    for one in (asked, answer):
        assert one.headers["Access-Control-Allow-Origin"] == "*"
        assert "Access-Control-Allow-Credentials" not in one.headers
    assert answer.json()["error"]


def test_a_site_without_apps_has_no_such_addresses(app, as_alice, settings):
    settings.OAUTH_APPS = False

    assert as_alice.get(address(app)).status_code == 404
    assert Client().get("/.well-known/oauth-authorization-server").status_code == 404
    assert register().status_code == 404
    assert exchange(app, "x").status_code == 404


def test_a_site_for_members_lets_apps_in_by_the_member(app, as_alice, settings):
    settings.READING = "members"

    assert me(exchange(app, code_for(app, as_alice)).json()["access_token"]).status_code == 200
    assert register().status_code == 201


# What no app should send, and what honest ones rely on

ODD = ('é"', "\\", "\u202e", "\x00", "\n", "<b>", "x" * 5_000)


@pytest.mark.deep
@pytest.mark.parametrize("odd", ODD, ids=ascii)
@pytest.mark.parametrize(
    "name", ["response_type", "client_id", "redirect_uri", "scope", "code_challenge", "code_challenge_method"]
)
def test_odd_characters_in_a_request_are_refused(app, as_alice, name, odd):
    assert as_alice.get(address(app, **{name: odd})).status_code == 400
    assert decide(as_alice, address(app, **{name: odd})).status_code == 400
    assert as_alice.post(address(app), {"decision": "allow", name: odd}).status_code == 400
    assert not AppRequest.objects.exists()


def test_a_parameter_of_an_exchange_stands_once_and_in_the_body(app, as_alice, client):
    code = code_for(app, as_alice)

    assert exchange(app, code, code_verifier=["w" * 43, "v" * 43]).json()["error"] == "invalid_request"
    sent = {"grant_type": "authorization_code", "code": code, "code_verifier": "v" * 43}
    sent |= {"redirect_uri": BACK}
    answer = client.post(f"/oauth/token/?client_id={app.client_id}", sent)
    assert answer.json()["error"] == "invalid_request"
    assert exchange(app, code).status_code == 200


@pytest.mark.parametrize(
    "host", ["[::1].evil.example", "[::1]evil.example", "[::1]@evil.example", "127.0.0.1.evil.example", "[::1]:x"]
)
def test_a_host_that_only_begins_like_the_device_itself_is_another(host):
    app = App(addresses="http://[::1]/back\nhttp://127.0.0.1/back")

    assert not registration.is_address(f"http://{host}/back")
    assert not registration.is_registered(app, f"http://{host}/back")


def test_a_flood_does_not_replace_an_app_that_a_member_has_just_allowed(app, as_alice, monkeypatch):
    monkeypatch.setattr(models, "MOST_UNUSED", 3)
    code = code_for(app, as_alice)
    for _ in range(5):
        register()

    assert App.objects.count() == 4
    assert exchange(app, code).status_code == 200
