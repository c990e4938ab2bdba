"""Headers of every response, cookies and redirects of a site with HTTPS."""

import http.client
import os
import re
import subprocess
import sys

import pytest
from django.conf import settings

PUBLIC = "https://news.example.org"
OVER_TLS = {"Host": "news.example.org", "X-Forwarded-Proto": "https"}
PLAINLY = {"Host": "news.example.org", "X-Forwarded-Proto": "http"}


def fetch(site, path, headers, method="GET", body=None):
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=60)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode(errors="replace")
    finally:
        connection.close()


@pytest.fixture(scope="module")
def https_site(module_start):
    proxy = {"BEHIND_PROXY": "1", "TRUSTED_PROXIES": "127.0.0.1", "WEB_WORKERS": "1"}
    site = module_start(SITE_URL=PUBLIC, HSTS_SUBDOMAINS="1", **proxy)
    site.wait_until_up()
    return site


def test_every_response_has_the_headers(https_site):
    _status, _headers, front = fetch(https_site, "/", OVER_TLS)
    style = re.search(r'href="(/static/css/site[^"]*)"', front)[1]
    requests = {
        "page": ("/", {}, 200),
        "not modified": ("/", {"If-None-Match": "*"}, 304),
        "style sheet": (style, {}, 200),
        "style sheet, not modified": (style, {"If-None-Match": "*"}, (200, 304)),
        "missing": ("/missing/", {}, 404),
        "API": ("/api/articles?limit=1", {}, (200, 400)),
        "feed": ("/feeds/newest.atom", {}, 200),
        "redirect": ("/newest", {}, 301),
        "wrong host": ("/", {"Host": "evil.example"}, 400),
        "not UTF-8": ("/?q=%ff", {}, 400),
    }

    for name, (path, headers, expected) in requests.items():
        status, answer, _body = fetch(https_site, path, OVER_TLS | headers)
        assert (name, status in (expected if isinstance(expected, tuple) else (expected,))) == (name, True)
        is_static = path.startswith("/static/")
        assert "default-src" in answer["Content-Security-Policy"], name
        assert answer["X-Content-Type-Options"] == "nosniff", name
        assert answer["X-Frame-Options"] == "DENY", name
        assert answer["Referrer-Policy"] == "same-origin", name
        assert "camera=()" in answer["Permissions-Policy"], name
        assert answer["Cross-Origin-Opener-Policy"] == "same-origin", name
        assert answer["Cross-Origin-Resource-Policy"] == ("cross-origin" if is_static else "same-origin"), name
        if name != "wrong host":
            assert answer["Strict-Transport-Security"] == "max-age=31536000; includeSubDomains", name


def test_plain_http_through_the_proxy_leads_to_https_once(https_site):
    for method, body in (("GET", None), ("HEAD", None), ("POST", "choice=vote")):
        status, headers, _page = fetch(https_site, "/newest/?page=2", PLAINLY, method, body)
        assert (status, headers["Location"]) == (308, f"{PUBLIC}/newest/?page=2")
    assert fetch(https_site, "//evil.example/", PLAINLY)[1]["Location"].startswith(f"{PUBLIC}/")
    for path in ("/healthz", "/readyz"):
        assert fetch(https_site, path, PLAINLY)[0] == 200
    assert fetch(https_site, "/newest/", OVER_TLS)[0] == 200
    assert fetch(https_site, "/newest/", {"X-Forwarded-Proto": "https, http", "Host": "localhost"})[0] == 200
    assert fetch(https_site, "/newest/", {"Host": "localhost"})[0] == 200, "no proxy said how the reader came"


def test_cookies_are_bound_to_the_host(https_site):
    _status, headers, _page = fetch(https_site, "/signup/", OVER_TLS)
    _status, changed, _page = fetch(
        https_site,
        "/preferences/",
        OVER_TLS | {"Content-Type": "application/x-www-form-urlencoded", "Origin": PUBLIC},
        "POST",
        "language=en&next=/",
    )
    agent = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"}
    first = re.search(r'id="article-(\d+)"', fetch(https_site, "/", OVER_TLS)[2])[1]
    _status, viewed, _page = fetch(https_site, f"/articles/{first}/", OVER_TLS | agent)

    for answer, name in ((headers, "csrftoken"), (changed, "language"), (viewed, "visitor")):
        (cookie,) = [line for line in answer.get_all("Set-Cookie") if name in line.partition("=")[0]]
        assert cookie.startswith(f"__Host-{name}=")
        assert "; Secure" in cookie
        assert "; Path=/;" in f"{cookie};"
        assert "Domain" not in cookie


@pytest.mark.parametrize("behind_proxy", ["0", "1"])
@pytest.mark.site
def test_the_deployment_check_is_clean(tmp_path, behind_proxy):
    own = {"DATA_DIR": str(tmp_path / "data"), "SITE_URL": PUBLIC, "BEHIND_PROXY": behind_proxy}
    done = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=settings.BASE_DIR,
        env=dict(os.environ) | own | {"DJANGO_SETTINGS_MODULE": "voting_site.settings", "SECRET_KEY": ""},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, "no issues" in done.stdout) == (0, True), done.stdout + done.stderr


def test_a_site_without_https_redirects_no_one_and_keeps_its_cookies(start):
    site = start(WEB_WORKERS="1", BEHIND_PROXY="1")
    site.wait_until_up()

    status, headers, _page = fetch(site, "/signup/", {"Host": "localhost", "X-Forwarded-Proto": "http"})

    assert status == 200
    assert headers["Set-Cookie"].startswith("csrftoken=")
    assert headers["Strict-Transport-Security"] is None
