"""The page of the invitation tree."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Invitation, User
from tests.factories import browser_of
from tests.pages.invited import grow, text_of

TREE = "/invitations/"


@pytest.mark.parametrize(
    ("readers", "statuses"), [("public", (200, 200, 200)), ("moderators", (302, 403, 200)), ("off", (404,) * 3)]
)
def test_the_setting_decides_who_sees_the_tree(site_store, settings, alice, bob, carol, readers, statuses):
    settings.INVITATION_TREE = readers
    grow(("alice", "bob"))

    for address in (TREE, f"{TREE}alice/"):
        found = [browser.get(address).status_code for browser in (Client(), browser_of(bob), browser_of(carol))]
        assert tuple(found) == statuses


def test_a_branch_has_a_page_even_below_a_deleted_account(site_store, settings, alice, bob, mallory):
    settings.INVITATION_TREE = "public"
    grow(("alice", "bob"), ("bob", "mallory"))
    User.objects.get(username="bob").delete()
    number = Invitation.objects.get(invited=mallory).inviter_id

    page = Client().get(f"{TREE}~{number}/")

    assert "Invited by [deleted]" in text_of(page)
    assert 'href="/invitations/alice/"' in page.text
    assert "mallory" in page.text
    for missing in ("nobody", "~1", f"~{alice.pk}", f"~{mallory.pk}", "bob"):
        assert Client().get(f"{TREE}{missing}/").status_code == 404, missing
    assert Client().get(f"{TREE}?page=2").status_code == 404


def test_each_row_leads_moderators_to_their_page_about_the_member(site_store, settings, alice, bob, carol):
    settings.INVITATION_TREE = "public"
    grow(("alice", "bob"), ("bob", "dave"), ("dave", "erin"))
    User.objects.get(username="dave").delete()

    for browser, names in ((browser_of(carol), ["alice", "bob", "erin"]), (browser_of(bob), [])):
        page = browser.get(TREE).text
        assert re.findall(r'href="/users/([^/"]+)/moderation/"', page) == names


def test_every_member_of_a_deep_and_wide_tree_is_reached_by_links_in_a_few_queries(site_store, settings, alice):
    settings.INVITATION_TREE = "public"
    chain = [("alice", "deep0"), *((f"deep{n}", f"deep{n + 1}") for n in range(30))]
    wide = [("deep3", f"wide{n:03}") for n in range(400)] + [("alice", f"near{n:02}") for n in range(60)]
    grow(*chain, *wide)

    waiting, opened, seen = [TREE], set(), set()
    while waiting:
        address = waiting.pop()
        opened.add(address)
        with CaptureQueriesContext(connection) as queries:
            page = Client().get(address).text
        assert len(queries) <= 8
        assert page.count("<ul") == page.count("</ul>")
        assert len(re.findall(r"<li\b", page)) == page.count("</li>")
        seen |= set(re.findall(r'href="/users/([^/"]+)/"', page))
        links = re.findall(r'class="more" href="([^"]+)"', page)
        links += [address.partition("?")[0] + query for query in re.findall(r'href="(\?page=\d+)"', page)]
        waiting += [link for link in links if link not in opened]

    assert seen >= {name for edge in chain + wide for name in edge}
    assert len(opened) < 40
