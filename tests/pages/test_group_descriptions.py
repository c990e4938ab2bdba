"""Descriptions of groups, which moderators write."""

from django.test import Client

from tests.factories import browser_of

PAGE = "/moderation/groups/python/"


def describe(user, text, **fields):
    fields = {"description": text} | fields
    return browser_of(user).post(PAGE, fields, follow=True)


def test_a_moderator_describes_a_group_above_its_list(site_store, article, carol):
    response = describe(carol, "All about *Python*.", reason="newcomers asked")

    assert "The group has been saved." in response.text
    page = Client().get("/groups/python/").text
    assert '<div class="description text" dir="auto"><p>All about <em>Python</em>.</p>' in page
    assert "All about" not in Client().get("/").text
    assert "All about *Python*." in browser_of(carol).get(PAGE).text
    log = Client().get("/moderation/").text
    assert "changed the description of the group" in log
    assert "newcomers asked" in log


def test_a_long_description_is_folded_and_a_longer_one_refused(site_store, article, carol):
    describe(carol, "x" * 301)
    assert '<details class="description">' in Client().get("/groups/python/").text

    refused = describe(carol, "x" * 2001)

    assert refused.status_code == 400
    assert "The description has 2,001 characters. The limit is 2,000." in refused.text
    assert site_store.groups.get_descriptions(["python"])["python"] == "x" * 301


def test_a_new_description_retracts_copies_of_pages(site_store, article, carol, kept):
    describe(carol, "Former words.")
    Client().get("/groups/python/")
    before = {path.name for path in kept.glob("page-*")}
    assert before

    describe(carol, "")

    assert not before & {path.name for path in kept.glob("page-*")}
    assert "Former words." not in Client().get("/groups/python/").text
