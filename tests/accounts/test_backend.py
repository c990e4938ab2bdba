"""The member of a session, as one plain query reads it."""

import pytest
from django.contrib.auth.models import Group, Permission
from django.utils import timezone

from accounts.models import User
from accounts.web.backend import MemberBackend

pytestmark = pytest.mark.django_db


def read(user):
    return MemberBackend().get_user(user.pk)


def test_a_member_is_read_as_by_the_orm(alice):
    alice.is_staff, alice.theme, alice.hidden_groups, alice.keyboard = True, "dark", "python,redis", False
    alice.email, alice.last_login = "alice@example.org", timezone.now()
    alice.save()
    expected = User.objects.get(pk=alice.pk)

    member = read(alice)

    for field in User._meta.concrete_fields:
        value = getattr(member, field.attname)
        assert (type(value), value) == (type(getattr(expected, field.attname)), getattr(expected, field.attname))
    member.theme = ""
    member.save()
    assert User.objects.get(pk=alice.pk).theme == ""


def test_inactive_and_unknown_members_are_not_read(alice):
    User.objects.filter(pk=alice.pk).update(is_active=False)

    assert read(alice) is None
    assert MemberBackend().get_user(alice.pk + 1) is None


@pytest.mark.parametrize("given", ["none", "own", "group"])
def test_permissions_are_looked_up_for_those_who_may_have_some(alice, django_assert_num_queries, given):
    permission = Permission.objects.get(codename="assign_groups")
    if given == "own":
        alice.user_permissions.add(permission)
    elif given == "group":
        group = Group.objects.create(name="helpers")
        group.permissions.add(permission)
        alice.groups.add(group)

    with django_assert_num_queries(1 if given == "none" else 3):
        assert read(alice).has_perm("articles.assign_groups") is (given != "none")
