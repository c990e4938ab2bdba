"""No reader, member or moderator is shown a link or a button whose act is refused for a reason known before."""

from collections import Counter, deque
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import resolve

from accounts.models import BanScope, GroupModerator, User
from accounts.moderators import PERMISSIONS
from articles.configuration import choices
from articles.domain.comments import root_of
from articles.domain.flags import FlagReason
from moderation import bans
from tests import extras
from tests.factories import actor, browser_of, comment_on, member, post_as
from tests.html import tree_of
from tests.store_state import let_close

pytestmark = pytest.mark.deep

BANS = {"banned from posting": "posting", "banned from voting": "voting", "banned from a group": "group"}
OTHERS = (*BANS, "newcomer", "moderator of a group", *PERMISSIONS[:3], "on a site for members")
ROLES = ("reader", "member", "poster", "moderator", "administrator", *OTHERS)
OFTEN = 6  # addresses of one view that are opened
NO_PAGES = ("/static/", "/admin/", "/api/", "/data/", "/logout/", "/login/", "/signup/")


class Press(NamedTuple):
    """A button, with what its form sends."""

    page: str
    address: str
    fields: tuple[tuple[str, str], ...]


@pytest.fixture
def people(site_store, article, alice, bob, carol, mallory) -> dict[str, User | None]:
    """One of each role, on a site with articles in every state; each member posted and commented."""
    choices.save("LEGAL_NOTICES", "1")
    choices.forget()
    store, by_carol = site_store, actor(carol)
    others = {role: member(f"one-{ROLES.index(role)}") for role in OTHERS}
    found = {"reader": None, "member": bob, "poster": alice, "moderator": carol, **others}
    found["administrator"] = User.objects.create_superuser("root")
    GroupModerator.objects.set(others["moderator of a group"], "python", by=None, is_current=True)
    for name in PERMISSIONS[:3]:
        others[name].user_permissions.add(Permission.objects.get(codename=name.partition(".")[2]))
    for one in (alice, bob, mallory):
        one.trust()
    store.groups.create("empty", "Empty", by_carol)
    for name, one in found.items():
        if one:
            own = post_as(store, one, f"By a {name}", f"https://example.org/{one.pk}", ["python"]).id
            comment_on(store, own, "A comment", mallory.pk)
            store.comments.post(article, one.pk, one.username, f"I am a {name}")
            store.members.save(one.pk, own, wanted=True)
    User.objects.filter(pk__in=[one.pk for one in found.values() if one]).update(
        about="About me", feed_key="a key"
    )
    locked, removed, closed, merged, withdrawn = (
        post_as(store, mallory, f"Another {n}", f"https://example.org/other/{n}", ["python"]).id for n in range(5)
    )
    gone = comment_on(store, article, "Buy pills", mallory.pk)
    comment_on(store, article, "A reply", bob.pk, parent=gone)
    comment_on(store, locked, "Still here", bob.pk)
    store.comments.remove(gone, by_carol, "An advert")
    store.comments.lock(locked, by_carol, "In circles")
    store.articles.remove(removed, by_carol, "Spam")
    store.articles.withdraw(withdrawn, actor(mallory))
    store.merges.merge(merged, article, by_carol, "The same")
    let_close(store, closed)
    for mark in extras.all_of("mark"):
        mark(store, article, (bob, mallory))
    store.flags.set(root_of(article), mallory.pk, FlagReason.SPAM)
    for role, scope in BANS.items():
        group = {"group": "python"} if scope == "group" else {}
        for one in (others[role], mallory):
            bans.ban(one, BanScope(scope), "Spam", days=1, moderator=by_carol, **group)
    return {role: one and User.objects.get(pk=one.pk) for role, one in found.items()}


def links_in(tree, page: str) -> Iterator[str]:
    """Yield the addresses of pages of this site to which a page leads, without fragments."""
    for link in tree.query("a[href], link[rel=alternate]"):
        parts = urlsplit(urljoin(page, link.attrs["href"]))
        if parts.scheme in ("", "http") and not parts.netloc and not parts.path.startswith(NO_PAGES):
            yield parts._replace(fragment="").geturl()


def presses_in(tree, page: str) -> Iterator[Press]:
    """Yield the buttons whose form asks for nothing, or for a reason alone."""
    for form in tree.query("form"):
        hidden = form.query("input[type=hidden], [name=reason]")
        asks = len(form.query("input, textarea, select")) > len(hidden)
        buttons = [*form.query("button"), *tree.query(f"button[form={form.attrs.get('id', '-')}]")]
        for button in buttons if form.attrs.get("method") == "post" and not asks else ():
            address = button.attrs.get("formaction") or form.attrs.get("action") or page
            named = [
                (one.attrs["name"], one.attrs.get("value") or ("Spam" if one.attrs["name"] == "reason" else ""))
                for one in (*hidden, button)
                if one.attrs.get("name")
            ]
            yield Press(page, address, tuple(one for one in named if one[0] != "csrfmiddlewaretoken"))


def walk(browser: Client) -> tuple[dict[str, int], list[Press]]:
    """Open the site's pages as a reader finds them; return those that refuse, and the buttons."""
    waiting, known, often = deque(["/"]), {"/"}, Counter[str]()
    refused, presses = dict[str, int](), dict[object, Press]()
    while waiting:
        page = waiting.popleft()
        answer = browser.get(page, follow=True)
        if answer.status_code != 200:
            refused[page] = answer.status_code
        elif answer.headers["Content-Type"].startswith("text/html"):
            tree = tree_of(answer.content)
            for one in presses_in(tree, page):
                presses.setdefault((one.address, one.fields[-1:]), one)
            for link in links_in(tree, page):
                view = resolve(urlsplit(link).path).view_name
                if link not in known and often[view] < OFTEN:
                    known.add(link)
                    often[view] += 1
                    waiting.append(link)
    assert len(known) > 60
    return refused, [*presses.values()]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("role", ROLES)
def test_every_link_and_every_button_leads_on(people, settings, role):
    settings.READING = "members" if role == "on a site for members" else "everyone"
    browser = browser_of(people[role])
    refused, presses = walk(browser)

    assert refused == {}
    for press in presses:
        if press.address.startswith(NO_PAGES):
            continue
        offered = presses_in(tree_of(browser.get(press.page, follow=True).content), press.page)
        if press not in offered:  # an earlier one changed the page
            continue
        answer = browser.post(press.address, dict(press.fields), follow=True)
        assert answer.status_code == 200, (role, press)
        told = [one.to_text() for one in tree_of(answer.content).query(".message.error")]
        assert not told, (role, press, told)
