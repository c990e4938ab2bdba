"""Titles and groups in any script, with long words and emoji: nothing overflows a phone, nothing is cut."""

import pytest
from playwright.sync_api import Browser

from tests.site_process import Site

pytestmark = pytest.mark.browser

TITLES = {
    "rtl": "مرحبا بالعالم: كيف تعمل Redis 🦀 (v7)",
    "long": "W" * 150 + " 超长单词与中文混排的标题，看看它在窄屏上如何换行而不会撑破页面布局",
    "mixed": "👩‍👩‍👧‍👦👍🏽🇨🇳 표제 タイトル ชื่อเรื่อง हिन्दी",
}
GROUPS = {
    "数据库与分布式系统研究群组": "数据库与分布式系统研究群组",
    "لغة-برمجة": "لغة برمجة",
    "donau": "Donau" * 8,
}

_FILL = f"""
from accounts.models import User
from articles.domain.moderation_log import Actor
from articles.web.wiring import repository
member = User.objects.create_user("writer", password="a long secret 5")
found = repository()
for slug, title in {GROUPS!r}.items():
    found.groups.create(slug, title)
for number, title in enumerate({list(TITLES.values())!r}):
    link = "https://example.org/" + "long" * 60 + str(number)
    posted = found.articles.post(member.pk, "writer", title, link, {list(GROUPS)!r})
    found.articles.edit(posted.id, Actor(member.pk, "writer"), title + "!", link, moderator=True, reason=title)
    print("id", posted.id)
"""


@pytest.fixture(scope="module")
def articles(site: Site) -> list[str]:
    """Return the numbers of the articles with those titles."""
    done = site.manage("shell", "-c", _FILL)
    assert done.returncode == 0, done.stderr
    return [line.split()[1] for line in done.stdout.splitlines() if line.startswith("id ")]


@pytest.mark.parametrize("language", ["en", "zh-CN"])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_screen_and_no_title_is_cut(
    site: Site, chromium: Browser, articles: list[str], width: int, language: str
) -> None:
    context = chromium.new_context(viewport={"width": width, "height": 800}, locale=language)
    page = context.new_page()
    for path in (
        "/newest/", "/groups/", "/users/writer/", "/moderation/",
        *(f"/articles/{id}/" for id in articles),
    ):  # fmt: skip
        page.goto(f"http://127.0.0.1:{site.port}{path}")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        # Groups and posters in a row may end in an ellipsis; those on the article page are complete.
        titles = "main [dir=auto]:not(.row .groups a, .row .poster)"
        cut = f"[...document.querySelectorAll('{titles}')].filter(e => e.scrollWidth > e.clientWidth + 1"
        assert page.evaluate(cut + " && getComputedStyle(e).display != 'inline').length") == 0, path
        directions = "[...document.querySelectorAll('main a[dir=auto]')].map(e => getComputedStyle(e).direction)"
        assert {"ltr", "rtl"} >= set(page.evaluate(directions))
    context.close()


def test_right_to_left_titles_run_from_right_to_left(site: Site, chromium: Browser, articles: list[str]) -> None:
    page = chromium.new_page()
    page.goto(f"http://127.0.0.1:{site.port}/articles/{articles[0]}/")

    assert page.evaluate("getComputedStyle(document.querySelector('h1 [dir=auto]')).direction") == "rtl"
    assert page.evaluate("document.dir || getComputedStyle(document.documentElement).direction") == "ltr"
    page.close()
