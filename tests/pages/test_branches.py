"""Acts on a branch of the invitation tree."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts import account_deletion
from accounts.models import Ban, BanScope, BranchAct, Invitation, Sweep, User
from articles.domain.errors import StoreUnavailable
from moderation import branches
from tests.factories import browser_of, comment_on
from tests.internals import failing
from tests.pages.invited import grow, text_of

PAGE = "/users/alice/moderation/branch/"
FIELDS = {"ban": "both", "ban_days": "7", "sweep_days": "7", "leaves_out": "on", "reason": "A voting ring"}


def version_on(page):
    return re.search(r'name="version" value="(\w+)"', page.text)[1]


def act(browser, page=PAGE, **fields):
    """Send the form of the page as it is now."""
    return browser.post(page, FIELDS | {"version": version_on(browser.get(page))} | fields, follow=True)


def banned():
    return sorted(Ban.objects.current().values_list("member__username", flat=True))


def actions_of(site_store):
    return sorted(entry.action.value for entry in site_store.moderation_log.get_page().entries)


@pytest.fixture
def branch(site_store, alice, bob, mallory):
    """Alice invited Bob, who invited Mallory."""
    grow(("alice", "bob"), ("bob", "mallory"))


def test_one_step_acts_on_everyone_below(site_store, branch, article, alice, bob, carol, mallory):
    comment_on(site_store, article, "Buy", mallory.pk)
    browser = browser_of(carol)
    page = browser.get(PAGE)
    assert "3 accounts. alice bob mallory" in text_of(page)
    fields = FIELDS | {"version": version_on(page)}

    for _ in range(2):  # pressed twice
        assert "3 of 3 accounts are done." in browser.post(PAGE, fields, follow=True).text

    assert banned() == ["alice", "bob", "mallory"]
    assert all(site_store.left_out.get_state(one.pk).is_left_out for one in (alice, bob, mallory))
    assert site_store.articles.get(article).removed == "A voting ring"
    assert sorted(Sweep.objects.values_list("member__username", "removed")) == [
        ("alice", 1), ("bob", 0), ("mallory", 1)
    ]  # fmt: skip
    singly = ["ban"] * 3 + ["leave-out-votes"] * 3 + ["remove", "remove-comment"]
    assert actions_of(site_store) == sorted(["act-on-branch", *singly])
    log = text_of(browser.get("/moderation/"))
    assert "carol moderated the branch of the invitation tree below alice" in log
    assert "3 accounts Reason: A voting ring" in log


def test_moderators_the_acting_one_and_members_banned_as_much_are_left_alone(
    site_store, alice, bob, carol, mallory, settings
):
    grow(("alice", "bob"), ("bob", "carol"), ("carol", "mallory"), ("alice", "boss"), ("mallory", "tuner"))
    User.objects.filter(username="boss").update(is_superuser=True)
    tuner = User.objects.get(username="tuner")
    tuner.user_permissions.add(Permission.objects.get(codename="tune_ranking"))
    Ban.objects.begin(bob, BanScope.BOTH, "Before", ends_at=None, moderator_id=carol.pk)
    tomorrow = timezone.now() + timedelta(days=1)
    Ban.objects.begin(mallory, BanScope.BOTH, "Short", ends_at=tomorrow, moderator_id=carol.pk)

    page = text_of(browser_of(carol).get(PAGE))
    assert "3 accounts. 3 moderators are exempt." in page
    assert "bob (banned already)" in page
    assert "carol (exempt)" in page
    act(browser_of(carol))

    reasons = Ban.objects.current().values_list("member__username", "reason")
    assert sorted(reasons) == [("alice", "A voting ring"), ("bob", "Before"), ("mallory", "A voting ring")]
    assert Sweep.objects.count() == 3


def test_a_branch_that_has_changed_is_shown_again_and_left_alone(site_store, branch, alice, bob, carol):
    browser = browser_of(carol)
    version = version_on(browser.get(PAGE))
    bob.groups.set(carol.groups.all())

    page = browser.post(PAGE, FIELDS | {"version": version})

    assert page.status_code == 400
    assert "This branch has changed since you opened it." in page.text
    assert 'value="A voting ring"' in page.text
    assert banned() == []
    fields = FIELDS | {"version": version_on(page)}
    grow(("alice", "newcomer"))
    assert browser.post(PAGE, fields).status_code == 400
    assert browser.post(PAGE, FIELDS | {"version": ""}).status_code == 400
    assert not BranchAct.objects.exists()


def test_a_long_act_goes_on_after_an_interruption_and_by_housekeeping(
    site_store, branch, article, alice, carol, mallory, hurry
):
    with failing(type(site_store.articles), "remove", StoreUnavailable):
        assert act(browser_of(carol)).status_code == 503
    assert (BranchAct.objects.get().done, banned()) == (0, ["alice"])
    BranchAct.objects.update(begun_at=timezone.now() - timedelta(hours=1))
    Ban.objects.update(begins_at=timezone.now() - timedelta(minutes=30))
    hurry(True)
    address = re.search(rf'action="({PAGE}\d+/)"', browser_of(carol).get(PAGE).text)[1]
    page = browser_of(carol).post(address, follow=True)
    hurry(False)
    assert "continue below" in page.text
    grow(("mallory", "latecomer"))

    for _ in range(2):
        branches.continue_all(60)

    assert BranchAct.objects.get().finished_at is not None
    assert Ban.objects.count() == 3, "no member is banned twice"
    assert banned() == ["alice", "bob", "mallory"], "who came later was not shown"
    assert Sweep.objects.count() == 3
    assert site_store.articles.get(article).removed == "A voting ring"
    assert actions_of(site_store).count("act-on-branch") == 1
    BranchAct.objects.update(finished_at=timezone.now() - timedelta(days=2))
    branches.continue_all(60)
    assert not BranchAct.objects.exists()


def test_a_ban_that_is_lifted_meanwhile_stays_lifted(site_store, branch, carol):
    act(browser_of(carol))
    Ban.objects.lift(Ban.objects.get(member__username="bob"))
    BranchAct.objects.update(done=0, finished_at=None)

    branches.continue_all(60)

    assert banned() == ["alice", "mallory"]


def test_acts_end_with_the_moderators_permission(site_store, branch, carol, hurry):
    hurry(True)
    act(browser_of(carol), sweep_days="0", leaves_out="")
    assert banned() == ["alice"]
    carol.groups.clear()

    branches.continue_all(60)

    assert banned() == ["alice"]
    assert BranchAct.objects.get().finished_at is not None


def test_a_deleted_account_is_swept_while_it_is_known_and_its_branch_is_acted_on(
    site_store, branch, article, alice, carol
):
    account_deletion.begin(alice.pk)
    page = f"/users/~{alice.pk}/moderation/branch/"

    told = text_of(browser_of(carol).get(page))
    assert "2 accounts. 1 account is deleted" in told
    assert "[deleted] bob mallory" in told
    act(browser_of(carol), page)

    assert banned() == ["bob", "mallory"]
    assert site_store.articles.get(article).removed == "A voting ring"
    assert "below [deleted]" in text_of(browser_of(carol).get("/moderation/"))


def test_each_act_takes_its_permission_and_the_tree_has_to_be_shown(
    site_store, settings, branch, alice, bob, carol
):
    remover = User.objects.create_user("remover")
    remover.user_permissions.add(Permission.objects.get(codename="remove_articles"))

    page = browser_of(remover).get(PAGE)
    assert 'name="ban"' not in page.text
    assert (
        browser_of(remover).post(PAGE, FIELDS | {"version": version_on(page), "sweep_days": "0"}).status_code
        == 400
    )
    act(browser_of(remover))
    assert (banned(), Sweep.objects.count()) == ([], 3)
    assert browser_of(bob).get(PAGE).status_code == 403
    assert browser_of(carol).post(PAGE, FIELDS | {"reason": ""}).status_code == 400
    settings.INVITATION_TREE = "off"
    assert browser_of(carol).get(PAGE).status_code == 404


def test_a_large_branch_is_read_in_a_few_queries_and_a_larger_one_refused(site_store, carol, alice, monkeypatch):
    grow(("alice", "deep0"), *((f"deep{n}", f"deep{n + 1}") for n in range(300)))

    with CaptureQueriesContext(connection) as queries:
        assert len(branches.read(alice, carol.pk).concerned) == 302
    assert len(queries) == 3
    monkeypatch.setattr(branches, "MOST_ACCOUNTS", 300)
    assert "This branch is too large for one act." in browser_of(carol).get(PAGE).text
    assert browser_of(carol).post(PAGE, FIELDS | {"version": "x"}).status_code == 400
    assert not BranchAct.objects.exists()
    assert Invitation.objects.count() == 301
