"""Nothing that a client sends changes the site's addresses for other readers."""

import http.client
import re

import pytest

from voting_site.serving.requests import with_declared_proxies

PREFIX_HEADERS = (
    "SCRIPT_NAME", "Script-Name", "X-Script-Name", "SCRIPT_URL", "REDIRECT_URL", "X-Forwarded-Prefix",
)  # fmt: skip


def environ_after(environ, **options):
    """Return the environment that the application gets."""
    inner = []
    application = with_declared_proxies(lambda passed, _start: inner.append(dict(passed)) or [], **options)
    application(environ, lambda *_: None)
    return inner[0]


@pytest.mark.parametrize(
    ("proxies", "peer", "is_believed"),
    [
        ([], "192.0.2.1", True), (["10.0.0.0/8"], "10.1.2.3", True),
        (["10.0.0.0/8"], "::ffff:10.1.2.3", True), (["10.0.0.0/8"], "127.0.0.1", False),
        (["unix"], "", True), (["10.0.0.0/8"], "", False),
    ],
)  # fmt: skip
def test_only_a_declared_proxy_states_the_scheme(proxies, peer, is_believed):
    after = environ_after(
        {"REMOTE_ADDR": peer, "HTTP_X_FORWARDED_PROTO": "https"}, behind_proxy=True, proxies=proxies
    )

    assert ("HTTP_X_FORWARDED_PROTO" in after) == is_believed


def test_without_a_proxy_only_the_site_itself_states_the_scheme():
    after = environ_after({"HTTP_X_FORWARDED_PROTO": "https", "wsgi.url_scheme": "https"}, behind_proxy=False)

    assert after["HTTP_X_FORWARDED_PROTO"] == "https", "the metrics page recognises proxies by it"


def request(site, path, headers=()):
    """Send exactly these headers; return the status, the headers and the page."""
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=60)
    try:
        connection.putrequest("GET", path)
        for name, value in headers:
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()
    finally:
        connection.close()


def addresses(text):
    return set(re.findall(r'(?:href|action|src)="([^"]*)"|<loc>([^<]*)', text))


def test_no_header_changes_what_the_next_reader_gets(start):
    site = start(WEB_WORKERS="1")
    site.wait_until_up()

    for name in PREFIX_HEADERS:
        for path in ("/evil/", "/evil/newest/", "/evil/robots.txt", "/evil/api/docs", "/evil/sitemap.xml"):
            assert request(site, path, [(name, "/evil")])[0] in (400, 404)
    for name, value in (("X-Forwarded-Proto", "https"), ("X-Forwarded-Ssl", "on"), ("X-Forwarded-Host", "evil")):
        for path in ("/feeds/newest.atom", "/robots.txt", "/", "/login/"):
            _status, headers, page = request(site, path, [(name, value)])
            assert "https://localhost" not in page
            assert f"https://127.0.0.1:{site.port}" not in page
            assert "evil" not in page
            assert "Strict-Transport-Security" not in headers

    for path in ("/", "/newest/", "/robots.txt", "/api/docs", "/sitemap.xml", "/feeds/newest.atom", "/login/"):
        status, _headers, page = request(site, path)
        assert status == 200
        assert "/evil" not in page
        assert "https://127.0.0.1" not in page
