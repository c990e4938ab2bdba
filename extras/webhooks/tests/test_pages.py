"""The pages on which members and administrators add webhooks and see what was delivered."""

import json
import re

import pytest

from accounts.models import User
from extras.webhooks import models
from extras.webhooks.models import MOST_WEBHOOKS, Delivery, Webhook
from tasks import OUT, work_off
from tests.factories import browser_of, member, post, vote

pytestmark = pytest.mark.django_db

ADDRESS = "https://push.example.org/hook"
TYPED = {"address": ADDRESS, "form": "standard", "events": ["article.posted", "comment.posted"], "points": "10"}


@pytest.fixture
def admin() -> User:
    made = member("root")
    made.is_staff = made.is_superuser = True
    made.save()
    return made


def page(login, path):
    answer = login.get(path)
    assert answer.status_code == 200, path
    return answer.content.decode()


@pytest.mark.parametrize("root", ["/settings/webhooks/", "/administration/webhooks/"])
def test_a_webhook_is_added_changed_tested_switched_and_removed(receiver, site_store, admin, root, python):
    login = browser_of(admin)
    shown = login.post(root, TYPED | {"groups": ["python"]}, follow=True)
    webhook = Webhook.objects.get()
    own = f"{root}{webhook.pk}/"

    assert shown.redirect_chain == [(own, 302)]
    assert (webhook.user is None) == root.startswith("/admin")
    found = (webhook.event_list, webhook.slugs, webhook.host)
    assert found == (["article.posted", "comment.posted"], ["python"], "push.example.org")
    assert ADDRESS not in webhook.secret
    fold = r'<details class="field fold"[^>]*(?<! open)>\s*<summary>[^<]*<span class="optional">([^<]*)'
    folds = re.findall(fold, page(login, own))
    assert folds == ["10", "Python"], "closed, they say what is chosen"
    key = webhook.read_secret().keys[0]
    assert (f"whsec_{key}" in page(login, own), ADDRESS in page(login, own)) == (True, True)
    login.post(own, {"events": ["article.points"], "points": "3"})
    webhook.refresh_from_db()
    assert (webhook.events, webhook.points, webhook.groups) == ("article.points", 3, "")
    login.post(f"{own}test/")
    work_off(OUT)
    assert json.loads(receiver.taken[0][2])["type"] == "test"
    assert "delivered" in page(login, own)
    login.post(f"{own}deliveries/{Delivery.objects.get().pk}/")
    work_off(OUT)
    assert len(receiver.taken) == 2
    login.post(f"{own}key/")
    webhook.refresh_from_db()
    assert key in webhook.read_secret().keys[1:]
    for on in ("0", "1"):
        login.post(f"{own}switch/", {"on": on})
        webhook.refresh_from_db()
        assert (webhook.off_since is None) == (on == "1")
    assert page(login, root).count(own) == 1
    login.post(f"{own}remove/")
    assert not Webhook.objects.exists()


@pytest.mark.parametrize(
    "wrong",
    [
        {"address": "http://push.example.org/hook"}, {"address": "https://127.0.0.1/hook"},
        {"address": "https://localhost/hook"}, {"address": "https://user:secret@push.example.org/"},
        {"address": "ftp://push.example.org/"}, {"address": "https://push.example.org:8080/"},
        {"address": "https://push.example.org/" + "x" * 1000},
        {"address": ""}, {"form": "teams"}, {"events": []}, {"events": ["everything"]},
        {"points": "0"}, {"groups": ["nothing"]},
    ],
)  # fmt: skip
def test_a_wrong_webhook_is_refused_and_what_was_typed_stays(receiver, site_store, bob, python, wrong):
    answer = browser_of(bob).post("/settings/webhooks/", TYPED | wrong)

    assert answer.status_code == 400
    assert not Webhook.objects.exists()
    html = answer.content.decode()
    assert 'class="errors"' in html
    assert (TYPED | wrong)["address"][:900] in html


def test_what_happens_before_housekeeping_looks_for_the_first_time_is_told(receiver, site_store, tell, bob, alice):
    browser_of(bob).post("/settings/webhooks/", TYPED)
    post(site_store, 1, poster=alice.pk)

    assert len(tell()) == 1


def test_what_happened_while_a_webhook_was_off_is_not_told(receiver, site_store, hook, tell, alice, bob):
    webhook = hook(bob)
    hook(alice, path="/other")
    webhook.switch(on=False)
    post(site_store, 1, poster=alice.pk)
    tell()
    webhook.switch(on=True)
    vote(site_store, 1)

    assert tell() == []


def test_a_host_that_the_operator_names_may_be_private_and_without_tls(receiver, site_store, bob, settings):
    settings.WEBHOOK_HOSTS = frozenset({"chat.internal"})

    browser_of(bob).post("/settings/webhooks/", TYPED | {"address": "http://chat.internal:8065/hooks/1"})

    assert Webhook.objects.get().host == "chat.internal"


def test_members_see_their_own_and_administrators_the_sites(receiver, site_store, hook, alice, bob, admin):
    own, of_site = hook(bob), hook()
    for login, root, number in (
        (browser_of(alice), "/settings/webhooks/", own.pk),
        (browser_of(bob), "/settings/webhooks/", of_site.pk),
        (browser_of(admin), "/administration/webhooks/", own.pk),
    ):
        assert login.get(f"{root}{number}/").status_code == 404
        for act in ("key", "test", "switch", "deliveries/1"):
            assert login.post(f"{root}{number}/{act}/").status_code == 404
        login.post(f"{root}{number}/remove/")
    assert browser_of(bob).get("/administration/webhooks/").status_code == 403
    assert Webhook.objects.count() == 2


def test_who_may_have_webhooks_is_the_operators_choice(receiver, site_store, bob, admin, settings):
    for choice, statuses in (("off", (404, 404)), ("site", (404, 200)), ("members", (200, 200))):
        settings.WEBHOOKS = choice
        places = ((bob, "/settings/webhooks/"), (admin, "/administration/webhooks/"))
        assert tuple(browser_of(who).get(path).status_code for who, path in places) == statuses
        assert ("/settings/webhooks/" in page(browser_of(bob), "/settings/programs/")) == (choice == "members")


def test_a_member_has_only_so_many(receiver, site_store, hook, bob):
    for _ in range(MOST_WEBHOOKS):
        hook(bob)

    answer = browser_of(bob).post("/settings/webhooks/", TYPED)

    assert (answer.status_code, Webhook.objects.count()) == (400, MOST_WEBHOOKS)


def test_all_members_together_have_only_so_many(receiver, site_store, hook, alice, bob, admin, monkeypatch):
    monkeypatch.setattr(models, "MOST_OF_MEMBERS", 1)
    hook(bob)

    assert browser_of(alice).post("/settings/webhooks/", TYPED).status_code == 400
    assert browser_of(admin).post("/administration/webhooks/", TYPED).status_code == 302


def test_pages_ask_for_a_fresh_proof(receiver, site_store, bob, monkeypatch):
    monkeypatch.setattr("accounts.web.form_pages.is_fresh", lambda _request: False)

    assert browser_of(bob).get("/settings/webhooks/").status_code == 302


def test_what_was_told_says_what_became_of_it(receiver, site_store, hook, tell, alice, bob):
    webhook = hook(bob)
    receiver.answers = [(500, {})]
    post(site_store, 1, poster=alice.pk)
    tell()

    html = page(browser_of(bob), f"/settings/webhooks/{webhook.pk}/")

    assert "waiting" in html
    assert "500" in html
    assert "Deliveries have failed since" in html
