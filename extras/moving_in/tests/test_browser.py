"""The pages of a static copy of the demo content, made by the README's command, as browsers show them."""

import shutil
import subprocess
import sys

import pytest
from django.conf import settings

from extras.moving_in.tests.copies import served, walked
from extras.moving_in.tests.readme import follow
from tests.browser import axe, html_checker
from tests.browser.conftest import chromium  # noqa: F401 - a fixture
from tests.browser.visits import PHONE, WIDE
from tests.site_process import variables

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

TITLE = "A copy that needs no server"
POLICY = "default-src 'none'; style-src 'self'; img-src 'self'"  # for the HTML checker, files have no origin


@pytest.fixture(scope="module", params=["en", "zh-hans"])
def copy(request, tmp_path_factory, static_files):
    """The language of a copy, and its folder."""
    data, folder = (tmp_path_factory.mktemp("copy") / name for name in ("data", "copy"))
    shutil.copytree(static_files.parent, data)
    environment = variables({"DATA_DIR": str(data), "SITE_URL": "https://copy.example"})

    def run(*words):
        command = [sys.executable, "manage.py", *words]
        done = subprocess.run(command, cwd=settings.BASE_DIR, env=environment, check=True, capture_output=True)
        return done.stdout.decode()

    run("migrate")
    run("demo")
    said = follow(TITLE, lambda *words: run(*words, "--language", request.param), **{"copy/": str(folder)})
    assert ["Written to" in one for one in said] == [True]
    return request.param, folder


def test_every_kind_of_page_is_sound_in_every_look(copy, chromium, tmp_path):  # noqa: F811
    language, folder = copy
    with served(folder) as site:
        pages, _clicks, faults = walked(site)
        assert faults == []
        talked = max((one for one in pages if one.startswith("/articles/")), key=lambda one: len(pages[one].ids))
        member = next(link for link in pages[talked].links if link.startswith("/users/"))
        month = next(one for one in pages if one.startswith("/archive/2"))
        kinds = (
            "/", "/newest/page/2/", "/hot/24h/", talked, member, f"{member}comments/", "/groups/", "/groups/web/",
            "/archive/", month, "/about/", "/rules/", "/404.html",
        )  # fmt: skip
        sources, found = {}, []
        for theme, size in (("light", WIDE), ("dark", PHONE)):
            view = {"width": size[0], "height": size[1]}
            context = chromium.new_context(
                base_url=site, color_scheme=theme, viewport=view, has_touch=size == PHONE
            )
            page = context.new_page()
            page.on("console", lambda told: found.append(told.text))
            page.on("request", lambda request: request.url.startswith(site) or found.append(request.url))
            for address in kinds:
                assert page.goto(address).status == 200
                sources[address] = page.content().replace(POLICY, "frame-src 'none'")
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), address
                axe.load(page)
                assert axe.violations(page) == [], address
            context.close()
    assert found == []
    assert f'lang="{ {"en": "en", "zh-hans": "zh-Hans"}[language] }"' in sources["/"]
    assert html_checker.problems(sources, tmp_path) == {address: [] for address in kinds}
