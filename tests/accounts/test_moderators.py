import pytest
from django.apps import apps
from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command

from accounts.moderators import GROUP, PERMISSIONS, make_moderators_group

CODENAMES = [name.removeprefix("articles.") for name in PERMISSIONS]

pytestmark = pytest.mark.django_db


@pytest.fixture
def permissions() -> list[Permission]:
    """All permissions of the group, before the group exists."""
    Group.objects.all().delete()
    Permission.objects.filter(content_type__app_label="articles").delete()
    kind, _ = ContentType.objects.get_or_create(app_label="articles", model="articlepermissions")
    return [Permission.objects.create(content_type=kind, codename=name, name=name) for name in CODENAMES]


def _held(group: Group) -> set[str]:
    return set(group.permissions.values_list("codename", flat=True))


def test_a_new_site_has_moderators_with_their_permissions(bob):
    bob.groups.add(Group.objects.get(name=GROUP))

    assert bob.has_perms(PERMISSIONS)
    assert not bob.is_staff


def test_the_group_gets_all_its_permissions(permissions):
    make_moderators_group(using="default", apps=apps)

    assert _held(Group.objects.get(name=GROUP)) == set(CODENAMES)


def test_the_group_is_not_created_before_all_its_permissions_exist(permissions):
    permissions[2].delete()

    make_moderators_group(using="default", apps=apps)

    assert not Group.objects.exists()


def test_changes_by_the_operator_to_the_group_are_kept(permissions):
    make_moderators_group(using="default", apps=apps)
    Group.objects.get().permissions.remove(permissions[0])

    call_command("migrate", verbosity=0)

    assert _held(Group.objects.get(name=GROUP)) == set(CODENAMES[1:])


@pytest.mark.django_db(transaction=True)
def test_emptying_the_database_recreates_the_group(permissions):
    call_command("flush", interactive=False, verbosity=0)

    assert Group.objects.filter(name=GROUP).exists()


def test_an_inactive_superuser_has_no_permission(admin_user):
    assert admin_user.has_perm("articles.see_views")

    admin_user.is_active = False
    assert not admin_user.has_perm("articles.see_views")
