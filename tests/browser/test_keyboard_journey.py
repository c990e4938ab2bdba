"""Signing up, posting, voting, opposing, withdrawing a vote and assigning a group, by keyboard alone."""

import pytest
from playwright.sync_api import expect

from tests.browser.windows import tab_to, wait_for, window

pytestmark = pytest.mark.browser


@pytest.fixture
def page(chromium, site):
    with window(chromium, site) as found:
        yield found


def follow(page, target):
    tab_to(page, target)
    page.keyboard.press("Enter")


def write(page, label, text):
    tab_to(page, page.locator("main").get_by_label(label, exact=False).first)
    page.keyboard.type(text)


def test_a_member_does_everything_without_a_mouse(page, site):
    page.goto("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    follow(page, page.get_by_role("banner").get_by_role("link", name="Sign up"))
    page.wait_for_url("**/signup/**")
    write(page, "Username", "keyboarder")
    tab_to(page, page.locator("[name=password1]"))
    page.keyboard.type("a long secret 71")
    tab_to(page, page.locator("[name=password2]"))
    page.keyboard.type("a long secret 71")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda address: "/signup/" not in address)

    follow(page, page.get_by_role("banner").get_by_role("link", name="Post", exact=True))
    page.wait_for_url("**/post/")
    write(page, "Title", "Without a mouse")
    tab_to(page, page.locator("main [name=link]"))
    page.keyboard.type("https://example.org/without-a-mouse")
    tab_to(page, page.locator("main .fold:has(.group-choice) summary"))
    page.keyboard.press("Enter")
    tab_to(page, page.locator("main").get_by_label("Databases"))
    page.keyboard.press("Space")
    follow(page, page.locator("main .actions button:not([hidden])"))
    page.wait_for_url("**/articles/*/")
    article = page.url
    said, vote, oppose = (
        page.locator("#live"),
        page.locator("main button.vote"),
        page.locator("main button.oppose"),
    )

    tab_to(page, oppose)
    page.keyboard.press("Space")
    expect(said).to_have_text("Your vote against it was counted: −1 point now.")
    expect(oppose).to_be_focused()
    page.keyboard.press("Enter")
    expect(said).to_have_text("Your vote was taken back: 0 points now.")
    page.keyboard.press("a")
    expect(said).to_have_text("Your vote was counted: 1 point now.")
    page.keyboard.press("z")
    expect(oppose).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("z")
    expect(said).to_have_text("Your vote was taken back: 0 points now.")
    page.keyboard.press("a")
    expect(said).to_have_text("Your vote was counted: 1 point now.")

    make = "from accounts.models import User; from django.contrib.auth.models import Group;"
    make += "User.objects.get(username='keyboarder').groups.add(Group.objects.get(name='Moderators'))"
    assert site.manage("shell", "-c", make).returncode == 0
    page.keyboard.press("g")
    page.keyboard.press("n")
    page.wait_for_url("**/newest/")
    page.keyboard.press("j")
    page.keyboard.press("c")
    page.wait_for_url(article)
    follow(page, page.locator(".article .foot summary"))
    follow(page, page.locator(".article .foot").get_by_role("link", name="Groups"))
    page.wait_for_url("**/groups/")
    write(page, "Find a group", "secur")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Security")).to_be_checked()
    follow(page, page.locator("main .actions button:not([hidden])"))
    page.wait_for_url(article)
    assert page.locator("main .groups a").all_inner_texts() == ["Databases", "Security"]
    expect(vote).to_have_attribute("aria-pressed", "true")


_WAITING = """
import time
from accounts.models import Ban, BanScope, User, WaitingAccount
from articles.domain.comments import root_of
from articles.domain.flags import FlagReason
from articles.web.wiring import repository
from django.utils import timezone
flags = repository().flags
for entry in flags.get_page().entries:
    flags.keep(entry.subject, time.time())
WaitingAccount.objects.all().delete()
number = {number}
open_ones = [one for one in repository().articles.get_many(range(1, 60)) if one.removed is None and one.poster > 0]
for n, article in enumerate(open_ones[:3]):
    for member in range(3 - n):
        flags.set(root_of(article.id), 900_000 + 10 * number + member, FlagReason.SPAM)
newcomer = User.objects.create_user(f"newcomer-{number}", is_active=False)
WaitingAccount.objects.create(user=newcomer)
banned = User.objects.create_user(f"banned-{number}")
other = User.objects.exclude(username="demo-moderator").first()
Ban.objects.begin(banned, BanScope.POSTING, "Spam", ends_at=None, moderator_id=other.pk)
Ban.objects.filter(member=banned).update(appeal="It was not me", appealed_at=timezone.now())
"""


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_the_moderators_morning_is_done_by_keyboard_on_a_phone(chromium, site, scripts):
    made = site.manage("shell", "-c", _WAITING.format(number=int(scripts)))
    assert made.returncode == 0, made.stderr
    phone = {"viewport": {"width": 390, "height": 844}, "java_script_enabled": scripts, "has_touch": True}
    with window(chromium, site, "demo-moderator", **phone) as page:
        # What waits is counted at most once in ten seconds.
        wait_for(page, lambda: page.goto("/") and page.locator(".account .badge").count())
        menu = page.get_by_role("banner").locator(".account")
        follow(page, menu.locator("summary"))
        follow(page, menu.get_by_role("link", name="Moderation"))
        page.wait_for_url("**/moderation/queue/")

        entry = page.locator("[id^=flagged-]").first
        keep, remove = entry.locator("[value=keep]").bounding_box(), entry.locator("[value=remove]").bounding_box()
        heading = page.get_by_role("heading", name="Flagged", exact=True).bounding_box()
        assert keep["y"] + keep["height"] - heading["y"] <= 500, "with what is above on the first screen"
        assert keep["height"] >= 44 <= remove["height"]
        assert keep["x"] + keep["width"] + 24 <= remove["x"]
        assert entry.locator("[value=ban]").is_hidden()

        follow(page, entry.locator("form summary"))
        tab_to(page, entry.locator("[name=reason]"))
        page.keyboard.type("It is fine")
        page.keyboard.press("Enter")  # which decides nothing
        expect(entry.locator("[name=reason]")).to_have_value("It is fine")
        follow(page, entry.locator("[value=keep]"))
        expect(page.locator("[id^=flagged-]")).to_have_count(2)
        follow(page, entry.locator("[value=remove]"))
        expect(page.locator("[id^=flagged-]")).to_have_count(1)
        follow(page, entry.locator("form summary"))
        follow(page, entry.locator("[value=ban]"))
        expect(page.locator("[id^=flagged-]")).to_have_count(0)

        appeal = page.locator("[id^=appeal-]")
        tab_to(page, appeal.locator("[name=answer]"))
        page.keyboard.type("We believe you")
        follow(page, appeal.locator("[value=lift]"))
        expect(appeal).to_have_count(0)
        follow(page, page.locator("main nav, nav").get_by_role("link", name="Sign-ups").first)
        page.wait_for_url("**/moderation/members/")
        follow(page, page.get_by_role("button", name=f"Approve newcomer-{int(scripts)}"))
        expect(page.locator("main")).to_contain_text("The account has been approved.")
        follow(page, page.locator("main nav, nav").get_by_role("link", name="Queue").first)
        expect(page.locator("main")).to_contain_text("Nothing is waiting for a decision.")
