"""Sessions last while the member keeps visiting, and are rarely written."""

import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
import time_machine
from django.contrib.auth import get_user
from django.contrib.sessions.backends.cached_db import SessionStore
from django.contrib.sessions.models import Session
from django.db import OperationalError
from django.test import Client

from accounts import account_deletion, sessions
from accounts.models import MemberSession
from articles import housekeeping
from tests.cast import PASSWORD
from tests.internals import failing, meanwhile

LOGIN = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def logged_in(alice) -> Client:
    client = Client()
    with time_machine.travel(LOGIN, tick=False):
        client.post("/login/", {"username": "alice", "password": PASSWORD})
    return client


def _visit(client, days, path="/settings/"):
    with time_machine.travel(LOGIN + timedelta(days=days), tick=False):
        return client.get(path)


@pytest.mark.deep
def test_a_member_who_visits_daily_stays_logged_in(logged_in, alice):
    cookies = []
    for day in range(1, 51):
        response = _visit(logged_in, day)
        assert response.status_code == 200, day
        cookies += [day] if "sessionid" in response.cookies else []

    assert cookies == [15, 30, 45]
    assert Session.objects.get().expire_date == LOGIN + timedelta(days=45 + 30)


@pytest.mark.deep
def test_a_session_ends_a_year_after_its_login_however_often_the_member_visits(logged_in):
    visits = [_visit(logged_in, day).status_code for day in range(1, 400, 10)]

    assert visits == [200] * 39 + [302]


def test_the_renewed_cookie_is_like_the_first_one(logged_in, settings):
    settings.SESSION_COOKIE_SECURE = True
    key = logged_in.cookies["sessionid"].value

    cookie = _visit(logged_in, 20).cookies["sessionid"]

    kept = (cookie.value, cookie["max-age"], cookie["samesite"], cookie["secure"], cookie["httponly"])
    assert kept == (key, 30 * 86400, "Lax", True, True)


def test_a_member_who_stays_away_is_logged_out_after_thirty_days(logged_in):
    assert _visit(logged_in, 31).status_code == 302


def test_a_session_of_an_older_version_is_renewed_once(logged_in):
    with time_machine.travel(LOGIN, tick=False):
        session = SessionStore(logged_in.cookies["sessionid"].value)
        del session["renewed"]
        session.save()

    assert ["sessionid" in _visit(logged_in, day).cookies for day in (1, 2)] == [True, False]


def test_a_reader_without_an_account_gets_no_session(client, db):
    assert "sessionid" not in client.get("/login/").cookies
    assert not Session.objects.exists()


def test_a_page_that_does_not_read_the_session_does_not_renew_it(logged_in):
    assert "sessionid" not in _visit(logged_in, 20, "/healthz").cookies


def test_a_concurrent_renewal_does_not_undo_a_logout(logged_in):
    log_out = SessionStore(logged_in.cookies["sessionid"].value).delete
    with meanwhile(SessionStore, "save", log_out):
        assert _visit(logged_in, 20).status_code == 200
    assert not get_user(logged_in).is_authenticated


def test_a_busy_database_does_not_fail_the_page(logged_in):
    with failing(SessionStore, "save", OperationalError("database is locked")):
        response = _visit(logged_in, 20)

    assert response.status_code == 200
    assert "sessionid" not in response.cookies


def _log_in_at(minute: int, name: str = "alice") -> Client:
    browser = Client()
    with time_machine.travel(LOGIN + timedelta(minutes=minute), tick=False):
        assert browser.post("/login/", {"username": name, "password": PASSWORD}).status_code == 302
    return browser


def _is_logged_in(browser: Client) -> bool:
    with time_machine.travel(LOGIN + timedelta(days=1), tick=False):
        return browser.get("/settings/").status_code == 200


@pytest.fixture
def few(monkeypatch) -> int:
    """Sessions that a member may have in these tests."""
    monkeypatch.setattr(sessions, "MOST_SESSIONS", 3)
    return 3


def test_a_member_keeps_the_sessions_of_the_newest_logins(alice, bob, few):
    other = _log_in_at(0, "bob")
    browsers = [_log_in_at(minute) for minute in range(few + 2)]

    assert [_is_logged_in(browser) for browser in browsers] == [False, False, True, True, True]
    assert _is_logged_in(other)
    assert Session.objects.count() == few + 1 == MemberSession.objects.count()


def test_a_site_keeps_fifty_sessions_of_a_member():
    assert sessions.MOST_SESSIONS == 50


def test_changes_of_the_password_are_no_way_around_the_number_of_sessions(alice, few):
    passwords = [PASSWORD, *(f"another passphrase {n}" for n in range(few + 2))]
    for minute, (old, new) in enumerate(pairwise(passwords)):
        browser = Client()
        with time_machine.travel(LOGIN + timedelta(minutes=minute), tick=False):
            browser.post("/login/", {"username": "alice", "password": old})
            fields = {"old_password": old, "new_password1": new, "new_password2": new}
            assert browser.post("/password/", fields).status_code == 302

    assert _is_logged_in(browser)
    assert Session.objects.count() == few


def test_housekeeping_forgets_expired_sessions(site_store, logged_in):
    with time_machine.travel(LOGIN + timedelta(days=31), tick=False):
        assert "1 session deleted" in housekeeping._expire(site_store)

    assert not MemberSession.objects.exists()


def test_a_deleted_account_has_no_sessions(logged_in, alice, bob):
    account_deletion.begin(alice.pk)

    assert not MemberSession.objects.exists()


FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 Version/19.0 Safari/604.1"
EDGE = "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0"


def _log_in(browser: str, address: str = "198.51.100.7") -> Client:
    client = Client(headers={"user-agent": browser}, REMOTE_ADDR=address)
    client.post("/login/", {"username": "alice", "password": PASSWORD})
    return client


def _rows(client: Client) -> list[list[str]]:
    (table,) = re.findall(r'<table class="tokens">.*?</table>', client.get("/settings/security/").text, re.DOTALL)
    rows = [re.findall(r"<td>(.*?)</td>", row, re.DOTALL) for row in table.split("</tr>")[1:-1]]
    return [[" ".join(re.sub(r"<.*?>", " ", cell).split()) for cell in row] for row in rows]


def test_a_member_sees_where_they_are_logged_in_but_no_address_and_no_key(alice):
    _log_in(EDGE, "2001:db8:1:2:3::4")
    _log_in("curl/8")
    here = _log_in(FIREFOX)

    page = here.get("/settings/security/").text

    assert [(row[0].partition(" Logged in on ")[0], row[1]) for row in _rows(here)] == [
        ("Firefox · Linux 198.51.100.0/24", "This browser"),
        ("Unknown browser 198.51.100.0/24", "Log out"),
        ("Edge · Windows 2001:db8:1::/48", "Log out"),
    ]
    assert not any(one.session_key in page for one in MemberSession.objects.all())


def test_logins_before_the_last_five_are_shown_on_demand(alice):
    browsers = [_log_in(FIREFOX) for _ in range(7)]

    page = browsers[-1].get("/settings/security/").text

    shown, folded = page.split("2 earlier logins</summary>")
    assert (shown.count("Logged in on"), folded.count("Logged in on")) == (5, 2)


def test_one_session_is_ended_and_the_others_stay(alice):
    phone, laptop, here = _log_in(IPHONE), _log_in(EDGE), _log_in(FIREFOX)
    page = here.get("/settings/security/").text
    (address,) = re.findall(r'action="(/settings/sessions/\w+/end/)">[^>]*>\s*<button[^>]*Safari · iPhone"', page)

    for _ in range(2):
        assert "That browser is logged out." in here.post(address, follow=True).text

    assert [get_user(one).is_authenticated for one in (phone, laptop, here)] == [False, True, True]
    assert [row[0].partition(" Logged in on ")[0] for row in _rows(here)] == [
        f"{one} 198.51.100.0/24" for one in ("Firefox · Linux", "Edge · Windows")
    ]


def test_a_session_of_another_member_and_the_one_in_use_stay(alice, bob):
    here, other = _log_in(FIREFOX), Client()
    other.force_login(bob)
    own = MemberSession.objects.get(user=alice)

    for browser in (here, other):
        browser.post(f"/settings/sessions/{own.reference}/end/")

    assert get_user(here).is_authenticated
