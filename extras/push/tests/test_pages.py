"""Members turn notifications on for a device, choose what is pushed, and remove devices: pages and programs."""

import json
from base64 import urlsafe_b64decode
from typing import get_args

import pytest

from accounts.forms import NOTICE_LABELS
from accounts.models import Token, User
from articles.backup import former
from articles.views.lists.member_export import lines
from extras.push.models import MOST_DEVICES, Choice, Device
from extras.push.pages import Kind
from extras.push.protocol import public_key
from tests.factories import browser_of, member
from tests.push_service import FakeBrowser

pytestmark = pytest.mark.django_db

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


@pytest.fixture(autouse=True)
def pushes(settings, site_store):
    settings.WEB_PUSH = True


def turn_on(login, name="firefox", **more):
    typed = {"subscription": json.dumps(FakeBrowser(name).subscription), **more}
    return login.post("/settings/push/device/", typed, follow=True)


def page(login, path="/settings/push/"):
    return login.get(path).content.decode()


def kinds_of(user):
    return Choice.objects.of(user).kind_list


def with_token(user, *scopes):
    _token, plain = Token.objects.issue(user, "phone", scopes=scopes or ("vote",))
    return {"HTTP_AUTHORIZATION": f"Bearer {plain}", "content_type": "application/json"}


def test_the_settings_and_the_inbox_have_a_hidden_button_with_the_sites_key(alice):
    for path in ("/settings/push/", "/inbox/"):
        html = page(browser_of(alice), path)
        assert f'data-push="{public_key()}"' in html
        assert "hidden>" in html
        assert "js/push.js" in html
    assert html.index("Nothing here yet") < html.index("data-push"), "not the first thing of an empty inbox"
    assert len(urlsafe_b64decode(public_key() + "=")) == 65


def test_where_nothing_is_pushed_there_is_no_section_and_no_address(alice, settings, client):
    settings.WEB_PUSH = False
    login = browser_of(alice)

    assert "data-push" not in page(login, "/inbox/")
    assert "settings-push" not in page(login, "/settings/")
    assert login.get("/settings/push/").status_code == 404
    assert turn_on(login).status_code == 404
    raw = json.dumps(FakeBrowser().subscription)
    assert client.put("/api/me/push/device", raw, **with_token(alice)).status_code == 404
    assert not Device.objects.exists()


def test_a_browser_is_added_shown_and_removed(alice):
    login = browser_of(alice)
    alice.sessions.update(browser=FIREFOX)

    answer = turn_on(login)

    assert "Notifications are on in this browser." in answer.content.decode()
    html = page(login)
    assert "Firefox · Linux" in html
    assert "This browser" in html
    assert f'data-push="{public_key()}" data-on' in html
    assert "data-on" not in page(browser_of(alice)), "another login"
    device = Device.objects.get()
    login.post(f"/settings/push/devices/{device.pk}/remove/", follow=True)
    assert not Device.objects.exists()


@pytest.mark.parametrize("sent", ["", "{}", "[]", "null", "x" * 50_000, "[" * 20_000])
def test_a_form_without_a_subscription_says_what_is_wrong(alice, sent):
    answer = browser_of(alice).post("/settings/push/device/", {"subscription": sent}, follow=True)

    assert "This is not a subscription of a push service with a public https address." in answer.content.decode()
    assert not Device.objects.exists()


def test_a_login_has_one_device_and_a_subscription_belongs_to_its_last_member(alice, bob):
    login = browser_of(alice)
    turn_on(login, "first")
    turn_on(login, "second")
    assert alice.devices.count() == 1

    turn_on(browser_of(bob), "second")

    assert not alice.devices.exists()
    assert bob.devices.count() == 1


def test_beyond_the_limit_the_oldest_device_makes_room(alice):
    for number in range(MOST_DEVICES + 1):
        turn_on(browser_of(alice), f"browser-{number}")

    endpoints = [one.subscription["endpoint"] for one in alice.devices.all()]
    assert len(endpoints) == MOST_DEVICES
    assert FakeBrowser("browser-0").endpoint not in endpoints


def test_a_copy_of_the_database_does_not_tell_where_a_device_is(alice):
    turn_on(browser_of(alice))

    row = Device.objects.values().get()

    assert "push.example.org" not in str(row)


def test_no_member_removes_the_device_of_another(alice, bob):
    turn_on(browser_of(alice))
    device = Device.objects.get()

    browser_of(bob).post(f"/settings/push/devices/{device.pk}/remove/")

    assert Device.objects.filter(pk=device.pk).exists()


def test_a_choice_is_saved_and_only_moderators_are_asked_about_what_waits(alice):
    login, moderator = browser_of(alice), browser_of(member("dora", moderator=True))
    assert "what waits for a moderator" not in page(login)
    assert "what waits for a moderator" in page(moderator)

    login.post("/settings/push/", {"kinds": ["flag", "mention", "odd"]})
    assert kinds_of(alice) == ["reply", "mention", "waiting"], "an unknown kind changes nothing"
    login.post("/settings/push/", {"kinds": ["flag", "mention"]})
    moderator.post("/settings/push/", {})

    assert kinds_of(alice) == ["mention", "flag", "waiting"], "a later moderator gets what waits"
    assert kinds_of(User.objects.get(username="dora")) == []


def test_programs_read_choose_add_and_remove(alice, client):
    bearer = with_token(alice)
    subscription = json.dumps(FakeBrowser("phone").subscription)

    added = client.put("/api/me/push/device", subscription, **bearer).json()
    chosen = client.put("/api/me/push", json.dumps({"kinds": ["suggestion"]}), **bearer).json()

    (device,) = added["devices"]
    found = (device["label"], added["key"], added["kinds"])
    assert found == ("phone", public_key(), ["reply", "mention", "waiting"])
    assert chosen["kinds"] == ["suggestion"]
    assert client.get("/api/me/push", **bearer).json() == chosen
    left = client.delete(f"/api/me/push/devices/{device['id']}", **bearer).json()
    assert left["devices"] == []
    assert client.delete(f"/api/me/push/devices/{device['id']}", **bearer).status_code == 200


def test_a_program_is_told_what_is_wrong(alice, client):
    raw = FakeBrowser().subscription | {"endpoint": "https://192.168.1.1/push"}

    answer = client.put("/api/me/push/device", json.dumps(raw), **with_token(alice))

    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "push-subscription"


def test_a_copy_of_the_data_has_devices_and_kinds_but_no_addresses(alice, site_store):
    turn_on(browser_of(alice))

    text = "".join(lines(alice, site_store))

    data = json.loads(text)
    assert data["pushed_about"] == [{"kinds": ["reply", "mention", "waiting"]}]
    assert [sorted(one) for one in data["devices"]] == [["device", "since"]]
    assert "push.example.org" not in text


def test_the_worker_has_what_shows_notifications(client):
    assert "notificationclick" in client.get("/worker.js").content.decode()


def test_every_kind_of_notice_can_be_pushed():
    assert tuple(NOTICE_LABELS) == get_args(Kind)[:-1]


def test_a_choice_in_a_backup_from_before_1_0_0_becomes_a_row_of_its_own():
    members = [
        {"id": 1},
        {"id": 2, "left_at": None, "push_kinds": "reply,mention,waiting", "pushed_until": 5.0},
        {"id": 3, "left_at": None, "push_kinds": ""},
        {"id": 4, "left_at": "2026-01-01", "push_kinds": ""},
    ]

    *loaded, choice = former.renamed(["accounts.User", values] for values in members)

    assert [sorted(values) for _label, values in loaded] == [["id"], *[["id", "left_at"]] * 3]
    assert choice == ["push.Choice", {"member": 3, "kinds": ""}]
    assert Choice(member_id=3, kinds="").kind_list == []
