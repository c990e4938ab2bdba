"""A program in a page of another origin, in a real browser: what it reads and does, and what it cannot read."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.cast import PASSWORD

pytestmark = pytest.mark.browser

FETCH = """async ([address, options]) => {
  try {
    const answer = await fetch(address, options);
    return {status: answer.status, text: await answer.text(), allow: answer.headers.get("Allow")};
  } catch (error) {
    return {status: 0, text: "", allow: null};
  }
}"""


class Page(BaseHTTPRequestHandler):
    """An empty page."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>Elsewhere</title>")

    def log_message(self, *_):
        """Print nothing."""


@pytest.fixture
def elsewhere():
    """The port of a server of another origin."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


@pytest.fixture
def context(chromium, site):
    found = chromium.new_context(base_url=f"http://localhost:{site.port}")
    yield found
    found.close()


def sign_up(page, name):
    """Create an account, and return a token of it."""
    page.goto("/signup/")
    page.fill("[name=username]", name)
    page.fill("[name=password1]", PASSWORD)
    page.fill("[name=password2]", PASSWORD)
    page.click("main [type=submit]")
    page.goto("/settings/programs/")
    page.fill("[name=name]", "A page elsewhere")
    page.locator("form", has=page.locator("[name=name]")).locator("[type=submit]").click()
    return page.locator("#token").input_value()


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"], ids=["another port", "another site"])
def test_another_origin_reads_and_posts_by_token_but_reads_nothing_of_a_session(context, site, elsewhere, host):
    page = context.new_page()
    name = f"elsewhere{host.count('.')}"
    token = sign_up(page, name)
    page.goto(f"http://{host}:{elsewhere}/")

    def fetch(path, **options):
        return page.evaluate(FETCH, [f"http://localhost:{site.port}{path}", options])

    own = {"Authorization": f"Bearer {token}"}
    json = own | {"Content-Type": "application/json"}
    article = f'{{"title": "From {host}", "text": "Some words."}}'

    assert '"articles":[' in fetch("/api/articles")["text"]
    assert "<feed" in fetch("/feeds/newest.atom")["text"]
    assert '"title":"From ' in fetch("/api/articles", method="POST", headers=json, body=article)["text"]
    assert f'"name":"{name}"' in fetch("/api/me", headers=own)["text"]
    assert fetch("/api/articles/1/vote", method="PUT", headers=json, body='{"choice": "vote"}')["status"] == 200
    assert '"code": "not-found"' in fetch("/api/nothing", headers=own)["text"]
    assert fetch("/api/articles", method="DELETE", headers=own)["allow"] == "GET, HEAD, POST"
    for path in ("/api/me", "/api/articles", "/settings/", "/settings/data/"):
        assert fetch(path, credentials="include")["status"] == 0, "a browser shows no answer to cookies"
    assert '"code": "login-required"' in fetch("/api/me")["text"], "and sends none otherwise"
    assert fetch("/")["status"] == 0, "pages are not open"
    page.goto("/")
    assert page.evaluate(FETCH, ["/api/me", {}])["status"] == 200, "the site's own pages have their session"
