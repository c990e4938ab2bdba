"""/api/me, and the articles a member posted."""

from django.contrib.auth.models import Permission

from tests.caller import error_of


def test_a_member_gets_their_name_and_lists(as_alice, article):
    me = as_alice.get("me").json()

    assert (me["name"], me["moderator"], me["permissions"]) == ("alice", False, [])
    assert {
        name: as_alice.client.get(path, headers=as_alice.headers).status_code for name, path in me["lists"].items()
    } == dict.fromkeys(("voted", "opposed", "saved", "following", "posted"), 200)


def test_a_moderator_gets_their_permissions(as_carol, as_bob, bob):
    me = as_carol.get("me").json()

    assert me["moderator"]
    assert me["permissions"] == [
        *("assign_groups", "ban_members", "edit_any_article", "redact", "remove_articles"),
        *("see_views", "tune_ranking"),
    ]

    bob.user_permissions.add(Permission.objects.get(codename="see_operation"))
    me = as_bob.get("me").json()
    assert (me["moderator"], me["permissions"]) == (False, ["see_operation"])


def test_the_articles_a_member_posted_are_public(anyone, as_bob, site_store, bob, article, removed):
    site_store.members.save(bob.pk, article, wanted=True)

    for caller, saved in ((anyone, False), (as_bob, True)):
        page = caller.get("users/Alice/articles").json()
        assert [(one["id"], one["saved"]) for one in page["articles"]] == [(article, saved)]
        assert (page["page"], page["has_next"]) == (1, False)
    assert error_of(anyone.get("users/nobody/articles")) == (404, "not-found")
    assert error_of(anyone.get("users/alice/articles?page=2")) == (404, "page-not-found")
