import pytest

from accounts import member_ids
from accounts.models import User
from tests.cast import PASSWORD

pytestmark = pytest.mark.django_db


def test_every_imported_poster_gets_an_account_without_login(client):
    ids = User.objects.bulk_create_imported(["dave", "Erin"])

    dave, erin = (User.objects.get(pk=ids[name]) for name in ("dave", "Erin"))
    assert (dave.username, erin.username) == ("dave", "Erin")
    assert dave.imported
    assert not dave.has_usable_password()
    for password in ("", "!", dave.password, PASSWORD):
        assert not client.login(username="dave", password=password)


def test_importing_again_creates_no_second_account():
    first = User.objects.bulk_create_imported(["dave", "erin", "bad name!", "admin"])

    assert User.objects.bulk_create_imported(["bad name!", "erin", "admin", "dave"]) == first
    assert User.objects.count() == 4


def test_an_existing_member_of_that_name_is_reused_unchanged(alice):
    ids = User.objects.bulk_create_imported(["ALICE", "dave"])

    alice.refresh_from_db()
    assert ids["ALICE"] == alice.pk
    assert not alice.imported
    assert alice.check_password(PASSWORD)


def test_spellings_of_one_name_share_one_account():
    ids = User.objects.bulk_create_imported(["dave", "Dave", "ＤＡＶＥ"])

    assert len(ids) == 3
    assert len(set(ids.values())) == 1


def test_names_that_break_the_rules_get_separate_accounts():
    given = ["bob", "bob!", "", "名字", "x", "1st", "a" * 151, "al\nice"]

    ids = User.objects.bulk_create_imported(given)

    assert len(set(ids.values())) == len(given)


def test_articles_of_another_sites_admin_are_not_attributed_to_the_operator():
    operator = User.objects.create_superuser("admin")

    assert User.objects.bulk_create_imported(["admin"])["admin"] != operator.pk


def test_the_ids_of_all_new_accounts_are_reserved_at_once(monkeypatch):
    reserved, reserve = [], member_ids.reserve
    with monkeypatch.context() as counting:
        counting.setattr(member_ids, "reserve", lambda count=1: reserved.append(count) or reserve(count))
        User.objects.bulk_create_imported([f"poster{n}" for n in range(1100)])

    assert reserved == [1100]


@pytest.mark.deep
def test_reading_accounts_back_takes_queries_of_at_most_a_thousand_names(django_assert_num_queries):
    posters = [f"poster{n}" for n in range(2000)]
    User.objects.bulk_create_imported(posters)

    with django_assert_num_queries(4) as captured:
        User.objects.bulk_create_imported(posters)

    assert all(query["sql"].count("'poster") <= 1000 for query in captured.captured_queries)
