import pytest
from django.contrib.auth.models import Group, Permission
from django.test import Client

from accounts import names
from accounts.models import AccountDeletion, User
from tests.cast import PASSWORD

ADD = "/admin/accounts/user/add/"


@pytest.fixture
def as_carol(carol) -> Client:
    client = Client()
    client.force_login(carol)
    return client


def _change(member) -> str:
    return f"/admin/accounts/user/{member.pk}/change/"


def _add(client, username):
    fields = {"username": username, "usable_password": "true", "password1": PASSWORD, "password2": PASSWORD}
    return client.post(ADD, fields)


@pytest.mark.deep
def test_the_operator_can_add_a_member_with_any_valid_name(as_carol):
    assert _add(as_carol, "Support").status_code == 302
    assert User.objects.get_by_natural_key("support").username == "Support"


@pytest.mark.parametrize("spelling", ["alice", "ALICE", "ａｌｉｃｅ"])
@pytest.mark.parametrize("is_tidied_up", [False, True])
def test_the_operator_cannot_reuse_the_name_of_a_deleted_member(as_carol, alice, spelling, is_tidied_up):
    _delete_alone(as_carol, alice)
    if is_tidied_up:
        row = User.objects.get(pk=alice.pk)
        row.username, row.canonical_name = names.deleted_username(row.pk), names.former_name_digest("alice")
        row.save()

    response = _add(as_carol, spelling)

    assert response.status_code == 200
    assert response.text.count("This name is taken.") == 1
    assert User.objects.count() == 2


ODD = ["\x00", "9" * 40, "-1", "abc", "[", "x" * 3000]
PLACES_OF_GROUPS = ("/", "/add/", "/{}/change/", "/{}/delete/")

LOOKUPS = [
    "q", "o", "p", "all", "e", "id", "id__in", "username__regex", "is_active__exact",
    "groups__id__exact", "_to_field",
]  # fmt: skip


@pytest.mark.deep
@pytest.mark.parametrize("model", ["accounts/user", "accounts/permissiongroup"])
@pytest.mark.parametrize("name", LOOKUPS)
def test_odd_values_in_the_address_of_a_list_cause_no_server_error(as_carol, model, name):
    assert {as_carol.get(f"/admin/{model}/", {name: value}).status_code for value in ODD} <= {200, 302, 400}


def test_the_name_of_an_account_cannot_be_changed(as_carol, alice):
    page = as_carol.get(_change(alice)).text

    assert 'name="username"' not in page
    assert "canonical" not in page.lower()
    as_carol.post(_change(alice), {"username": "bob", "canonical_name": "bob", "email": "", "is_active": "on"})
    alice.refresh_from_db()
    assert (alice.username, alice.canonical_name, alice.email) == ("alice", "alice", "")


def test_a_member_can_be_made_inactive(as_carol, alice):
    as_carol.post(_change(alice), {"email": "alice@example.org"})

    alice.refresh_from_db()
    assert not alice.is_active


def test_members_can_be_searched_and_filtered(as_carol, alice, bob):
    User.objects.bulk_create_imported(["dave"])

    found = as_carol.get("/admin/accounts/user/", {"q": "ali"}).text
    imported = as_carol.get("/admin/accounts/user/", {"imported__exact": "1"}).text

    assert ">alice<" in found
    assert ">bob<" not in found
    assert ">dave<" in imported
    assert ">alice<" not in imported
    assert 'href="?imported__exact=0"' in imported


def test_the_operator_sets_a_password(as_carol, alice):
    new = "staple battery horse correct"
    fields = {"usable_password": "true", "password1": new, "password2": new, "set-password": ""}

    as_carol.post(f"/admin/accounts/user/{alice.pk}/password/", fields)

    alice.refresh_from_db()
    assert alice.check_password(new)


@pytest.mark.parametrize(
    ("permission", "permitted"),
    [
        (None, []), ("view_group", ["/"]), ("add_group", ["/add/"]),
        ("change_group", ["/", "/{}/change/"]), ("delete_group", ["/{}/delete/"]),
    ],
)  # fmt: skip
def test_permission_groups_use_the_permissions_of_django_groups(client, alice, permission, permitted):
    group = Group.objects.get_or_create(name="Moderators")[0]
    User.objects.filter(pk=alice.pk).update(is_staff=True)
    if permission:
        alice.user_permissions.add(Permission.objects.get(codename=permission, content_type__app_label="auth"))
    client.force_login(User.objects.get(pk=alice.pk))

    places = {place: f"/admin/accounts/permissiongroup{place.format(group.pk)}" for place in PLACES_OF_GROUPS}
    statuses = {place: client.get(address).status_code for place, address in places.items()}

    assert {place for place, status in statuses.items() if status == 200} >= set(permitted)
    assert {place for place, status in statuses.items() if status == 403} >= set(PLACES_OF_GROUPS) - {
        *permitted,
        *(["/{}/change/"] if permission == "view_group" else []),
    }


@pytest.mark.parametrize("target", [ADD, "/admin/accounts/user/", "/admin/accounts/permissiongroup/"])
def test_members_cannot_open_the_admin_site(as_alice, client, target):
    for browser in (as_alice, client):
        assert browser.get(target)["Location"].startswith("/admin/login/")


def _delete_alone(browser, member):
    return browser.post(f"/admin/accounts/user/{member.pk}/delete/", {"post": "yes"}, follow=True)


def _delete_marked(browser, member):
    marked = {"action": "delete_selected", "_selected_action": [member.pk], "post": "yes"}
    return browser.post("/admin/accounts/user/", marked, follow=True)


def _is_taken(name):
    fields = {"username": name, "password1": PASSWORD, "password2": PASSWORD}
    return "This name is taken." in Client().post("/signup/", fields).text


@pytest.mark.parametrize("delete", [_delete_alone, _delete_marked])
def test_an_account_deleted_by_the_operator_goes_through_account_deletion(as_carol, alice, delete):
    delete(as_carol, alice)

    row = User.objects.get(pk=alice.pk)
    assert (row.is_active, row.email, row.left_at is None) == (False, "", False)
    assert AccountDeletion.objects.filter(pk=alice.pk).exists()
    assert _is_taken("ALICE")


@pytest.mark.parametrize("delete", [_delete_alone, _delete_marked])
def test_the_only_administrator_cannot_be_deleted(as_carol, carol, delete):
    assert "Make another member an administrator first." in delete(as_carol, carol).text

    carol.refresh_from_db()
    assert (carol.left_at, carol.is_superuser) == (None, True)


@pytest.mark.parametrize(
    "delete", [lambda user: user.delete(), lambda _: User.objects.filter(username="alice").delete()]
)
def test_the_id_and_name_of_a_row_deleted_by_hand_stay_taken(alice, delete):
    number = alice.pk
    delete(alice)

    row = User.objects.get(pk=number)
    assert (row.is_active, row.email, row.has_usable_password()) == (False, "", False)
    assert AccountDeletion.objects.get().pk == number
    assert _is_taken("alice")
    row.username, row.canonical_name = names.deleted_username(number), names.former_name_digest("alice")
    row.save()
    row.delete()
    assert _is_taken("alice")
    assert AccountDeletion.objects.get().pk == number
