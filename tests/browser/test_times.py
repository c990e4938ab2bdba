"""Times are in the reader's time zone, and name it; without scripts they are in the site's, and name that."""

from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone, translation

from articles.formatting.values import full_date, iso_date
from tests.browser.windows import window

pytestmark = pytest.mark.browser

LATE = 1_798_761_599.0  # 31 Dec 2026, 23:59:59 UTC
MOMENTS = [LATE + month * 30.4 * 86_400 + month * 7_411 for month in range(13)]

SHOW = """async moments => {
    const made = moments.map(at => Object.assign(document.createElement("time"), {dateTime: at}));
    document.querySelector("main").append(...made);
    await new Promise(requestAnimationFrame);
    return made.map(one => one.textContent);
}"""


@pytest.mark.parametrize("language", ["en", "zh-Hans", "zh-Hant"])
@pytest.mark.parametrize("zone", ["America/St_Johns", "Europe/London", "Asia/Kathmandu", "Pacific/Kiritimati"])
def test_a_script_shows_times_in_the_readers_zone_as_the_server_would(chromium, site, zone, language):
    with window(chromium, site, timezone_id=zone, locale=language) as page:
        page.goto("/about/")

        shown = page.evaluate(SHOW, [iso_date(at) for at in MOMENTS])

    with timezone.override(ZoneInfo(zone)), translation.override(language):
        assert shown == [full_date(at) for at in MOMENTS]


@pytest.mark.parametrize(("has_scripts", "zone"), [(True, "UTC−5"), (False, "UTC")], ids=["script", "no script"])
def test_every_time_of_a_page_names_its_zone(chromium, site, has_scripts, zone):
    options = {"timezone_id": "America/Bogota", "java_script_enabled": has_scripts}
    with window(chromium, site, "demo-moderator", **options) as page:
        for path in ("/", "/articles/130/", "/articles/130/why/", "/users/demo/", "/moderation/", "/settings/"):
            page.goto(path)
            dated = page.locator("time").evaluate_all("all => all.map(one => one.title || one.textContent)")
            assert dated or path == "/settings/", path
            assert {one.rpartition(" ")[2] for one in dated} <= {zone}, path
            bare = page.inner_text("main")
            assert "UTC" not in bare or zone in bare
