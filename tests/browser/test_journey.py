"""What members and moderators do, in a browser without JavaScript, on the site as it is started."""

import pytest

pytestmark = pytest.mark.browser


@pytest.fixture
def page(chromium, site):
    context = chromium.new_context(
        java_script_enabled=False, base_url=f"http://localhost:{site.port}", viewport={"width": 390, "height": 800}
    )
    problems = []
    page = context.new_page()
    page.on("console", lambda message: problems.append(message.text))
    page.on("request", lambda request: "localhost" in request.url or problems.append(request.url))
    yield page
    context.close()
    assert problems == []


def submit(page, **fields):
    for name, value in fields.items():
        page.fill(f"main [name={name}]", value)
    page.click("main form button[type=submit]")


def points(page, row):
    return int(page.inner_text(f"{row} .points").split()[0])


def test_a_click_before_signing_up_a_post_and_a_moderators_work(page, site):
    page.goto("/newest/")
    row = "#" + page.get_attribute("li.row >> nth=2", "id")
    before = points(page, row)
    page.click(f"{row} button.vote")
    page.click("main >> text=Sign up")
    submit(page, username="dora", password1="a long secret 71", password2="a long secret 71")
    assert page.url.endswith(f"/newest/{row}")
    assert points(page, row) == before + 1
    assert page.get_attribute(f"{row} button.vote", "aria-pressed") == "true"

    page.click(f"{row} button.oppose")
    assert points(page, row) == before - 1
    page.click(f"{row} button.oppose")
    assert points(page, row) == before

    page.click("header >> text=Post")
    submit(page, title="", link="https://example.org/journey")
    assert page.url.endswith("/post/")
    page.check("main >> text=Databases")
    submit(page, title="A journey", link="https://example.org/journey")
    assert page.inner_text("main h1") == "A journey"
    article = page.url
    page.click("header >> text=Log out")

    logins = (site.data_dir / "demo-logins.txt").read_text().split()
    page.goto("/login/")
    submit(page, username="demo-moderator", password=logins[logins.index("demo-moderator") + 1])
    page.goto(article)
    page.click(".tools >> text=Groups")
    submit(page, new_group="Journeys", reason="a group of its own")
    assert page.locator("main .groups a").all_inner_texts() == ["databases", "journeys"]
    page.click(".tools >> text=Remove")
    submit(page, reason="only a test")
    assert "removed by a moderator" in page.inner_text("main")
    page.click("footer >> text=Moderation log")
    assert "only a test" in page.inner_text("main")


def width_of(page):
    return max(page.locator("html").bounding_box()["width"], page.evaluate("document.body.scrollWidth"))


PAGES = ["/", "/hot/", "/hot/?range=24h", "/groups/", "/groups/redis/?order=hot", "/articles/1/", "/login/"]
PAGES += ["/signup/", "/moderation/", "/api/docs"]
OF_MODERATORS = ["/lab/", "/moderation/views/", "/articles/1/views/", "/articles/1/edit/", "/articles/1/groups/"]


def test_no_page_is_wider_than_a_phone(page):
    wide = []
    for path in PAGES:
        page.goto(path)
        wide += [path] if width_of(page) > 390 else []

    assert wide == []


def test_no_page_of_the_moderators_and_the_operator_is_wider_than_a_phone(page, site):
    make = "from accounts.models import User; User.objects.create_superuser('olga', password='a safe one')"
    site.manage("shell", "-c", make)
    page.goto("/login/")
    submit(page, username="olga", password="a safe one")
    wide = []
    for path in [*OF_MODERATORS, "/operation/"]:
        assert page.goto(path).status == 200
        page.locator("main details").evaluate_all("all => all.forEach(one => one.setAttribute('open', ''))")
        wide += [path] if width_of(page) > 390 else []

    assert wide == []
