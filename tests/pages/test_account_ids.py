"""Every way to an account takes its id from the store."""

from io import StringIO

import pytest
from django.core.management import call_command

from accounts import member_ids
from accounts.models import User
from articles.backup import accounts
from articles.web.wiring import patient_repository
from tests.cast import PASSWORD
from tests.factories import browser_of, member
from tests.store_state import lost_connection

KNOWN = 5000


@pytest.fixture(autouse=True)
def _the_store_knows_more_accounts(site_store):
    site_store.account_ids.note(KNOWN)


def sign_up(name="newcomer"):
    return browser_of().post("/signup/", {"username": name, "password1": PASSWORD, "password2": PASSWORD})


def test_a_sign_up_gets_an_id_that_the_store_has_not_seen(db):
    assert sign_up().status_code == 302
    assert sign_up("second").status_code == 302

    assert [User.objects.get(username=name).pk for name in ("newcomer", "second")] == [KNOWN + 1, KNOWN + 2]


def test_so_do_imported_posters_and_accounts_by_the_operator(db, monkeypatch):
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", PASSWORD)
    ids = User.objects.bulk_create_imported(["ann", "ben"])
    with_command = {"username": "root2", "email": "", "interactive": False, "stdout": StringIO()}
    call_command("createsuperuser", **with_command)
    administrator = User.objects.get(username="root2")
    fields = {"username": "added", "usable_password": "true", "password1": PASSWORD, "password2": PASSWORD}
    browser_of(administrator).post("/admin/accounts/user/add/", fields)

    assert sorted(ids.values()) == [KNOWN + 1, KNOWN + 2]
    assert administrator.pk == KNOWN + 3
    assert User.objects.get(username="added").pk == KNOWN + 4


def test_an_id_is_never_inserted_over_an_account(db, monkeypatch):
    taken = member("taken")
    monkeypatch.setattr(member_ids, "reserve", lambda _count=1: taken.pk)

    with pytest.raises(Exception, match=r"(?i)unique"):
        User.objects.create_user("another")
    assert User.objects.get(pk=taken.pk).username == "taken"


def test_without_the_store_nobody_signs_up_and_the_page_says_so(db, site_store):
    with lost_connection(site_store):
        answer = sign_up()

    assert answer.status_code == 503
    assert answer["Retry-After"]
    assert not User.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_new_account_is_recorded_after_its_commit(site_store):
    newcomer = member("newcomer")

    assert site_store.account_ids.note(0) == newcomer.pk == KNOWN + 1


def test_the_audit_counts_members_without_an_account(db, site_store, article, alice):
    site_store.members.save(77, article, wanted=True)
    out = StringIO()

    with pytest.raises(SystemExit):
        call_command("audit", stdout=out)

    assert "accounts: members of the store without an account: 1 (77)" in out.getvalue()
    assert list(accounts.missing(patient_repository()))
