"""nginx with deploy/nginx/voting-site.conf before the site: what readers, members and attackers get."""

import re
import socket
import ssl

import pytest

from tests.cast import PASSWORD
from tests.deploy.nginx_server import nginx
from tests.deploy.visitor import HOST
from tests.site_process import free_port
from tests.waiting import until


@pytest.fixture(scope="module")
def proxy(tmp_path_factory, public_site):
    with nginx(tmp_path_factory.mktemp("proxy") / "nginx", public_site.port) as server:
        yield server


def member_of(proxy, name):
    visitor = proxy.visitor()
    answer = visitor.send("/signup/", username=name, password1=PASSWORD, password2=PASSWORD)
    assert answer.status == 302, answer.text
    return visitor


def test_plain_http_leads_to_https(proxy):
    answer = proxy.plain_visitor().get("/newest/?page=2")

    assert (answer.status, answer.headers["Location"]) == (301, f"https://{HOST}/newest/?page=2")


def test_certificates_are_renewed_over_plain_http(proxy):
    challenge = proxy.folder / "html" / ".well-known" / "acme-challenge" / "token"
    challenge.parent.mkdir(parents=True)
    challenge.write_text("answer")

    assert proxy.plain_visitor().get("/.well-known/acme-challenge/token").text == "answer"


def test_another_host_gets_no_certificate(proxy):
    context = ssl.create_default_context(cafile=str(proxy.certificate))
    with socket.create_connection(("127.0.0.1", proxy.https)) as plain, pytest.raises(ssl.SSLError):
        context.wrap_socket(plain, server_hostname="other.example.org")


def test_a_page_without_cookies_is_shared(proxy):
    until(lambda: proxy.visitor().get("/newest/").cached == "HIT")

    page = proxy.visitor().get("/newest/")
    assert page.text.count('id="article-') == 25
    assert page.headers["Strict-Transport-Security"]
    assert "s-maxage=10" in page.headers["Cache-Control"]


def test_what_a_member_sees_is_never_shared(proxy):
    alice = member_of(proxy, "alice-behind-nginx")
    assert {"__Host-sessionid", "__Host-csrftoken"} <= alice.cookies.keys()

    for path in ("/", "/newest/", "/hot/", "/settings/", "/missing/"):
        answers = [alice.get(path) for _ in range(2)] + [proxy.visitor().get(path)]
        assert [answer.cached for answer in answers[:2]] == ["BYPASS", "BYPASS"], path
        assert "alice-behind-nginx" not in answers[2].text, path

    assert "alice-behind-nginx" in alice.get("/").text
    shared = [path for path in (proxy.folder / "voting-site").rglob("*") if path.is_file()]
    assert shared
    assert not any(b"alice-behind-nginx" in path.read_bytes() for path in shared)
    assert not any(b"Set-Cookie" in path.read_bytes() for path in shared)


def test_other_origins_can_read_shared_answers_and_refusals_of_nginx(proxy, tmp_path):
    until(lambda: proxy.visitor().get("/feeds/newest.atom").cached == "HIT")

    def allowed(answer):
        return answer.status, answer.headers.get_all("Access-Control-Allow-Origin")

    large = proxy.visitor().ask("POST", "/api/articles", b"x" * 1_500_000)
    preflight = {"Origin": "https://a.example", "Access-Control-Request-Method": "POST"}
    assert allowed(proxy.visitor().get("/feeds/newest.atom")) == (200, ["*"])
    assert allowed(proxy.visitor().get("/api/articles")) == (200, ["*"])
    assert allowed(proxy.visitor().get("/api/me")) == (401, ["*"])
    assert allowed(proxy.visitor().ask("OPTIONS", "/api/articles", headers=preflight)) == (204, ["*"])
    assert allowed(large) == (413, ["*"])
    assert allowed(proxy.visitor().get("/newest/")) == (200, None)
    with nginx(tmp_path / "nginx", free_port()) as alone:
        assert allowed(alone.visitor().get("/api/articles")) == (502, ["*"])
        assert allowed(alone.visitor().get("/newest/")) == (502, None)


def test_a_personal_token_of_the_api_gets_nothing_shared(proxy):
    until(lambda: proxy.visitor().get("/api/articles").cached in ("HIT", "MISS"))

    assert proxy.visitor().get("/api/articles", Authorization="Bearer wrong").status == 401


def test_a_cookie_of_the_reader_bypasses_the_cache(proxy):
    reader = proxy.visitor()
    reader.cookies["theme"] = "dark"

    answer = reader.get("/newest/")

    assert answer.cached == "BYPASS"
    assert 'data-theme="dark"' in answer.text


def test_static_files_are_shared_compressed_and_kept_for_a_year(proxy):
    address = re.search(r'href="(/static/css/site[^"]*)"', proxy.visitor().get("/").text)[1]

    until(lambda: proxy.visitor().get(address, Accept_Encoding="gzip").cached == "HIT")
    packed = proxy.visitor().get(address, Accept_Encoding="gzip")

    assert packed.headers["Content-Encoding"] == "gzip"
    assert "max-age=315360000" in packed.headers["Cache-Control"] or "immutable" in packed.headers["Cache-Control"]
    assert "Content-Encoding" not in proxy.visitor().get(address).headers


def test_the_site_sees_the_readers_address_and_no_forged_one(proxy, public_site):
    mallory = proxy.visitor("127.0.0.2")
    page = mallory.get("/login/").text
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]*)"', page)[1]

    mallory.ask(
        "POST",
        "/login/",
        f"username=alice&password=wrong&csrfmiddlewaretoken={token}".encode(),
        {
            "Content-Type": "application/x-www-form-urlencoded",
            "Referer": f"https://{HOST}/login/",
            "X-Forwarded-For": "203.0.113.9",
        },
    )

    until(lambda: "failed login" in public_site.told(), told=public_site.told)
    assert "failed login: client=127.0.0.2 " in public_site.told()
    assert "203.0.113.9" not in public_site.told()


def test_a_large_body_is_refused(proxy):
    visitor = proxy.visitor()
    answer = visitor.ask("POST", "/api/articles", b"x" * 1_500_000, {"Content-Type": "application/json"})

    assert answer.status == 413


def test_a_flood_is_refused_before_the_site(proxy):
    mallory = proxy.visitor("127.0.0.3")

    assert any(mallory.get("/healthz").status == 429 for _ in range(2000))
    assert proxy.visitor().get("/healthz").status == 200, "others are served"


def test_no_readers_address_is_stored(proxy):
    proxy.visitor("127.0.0.4").get("/newest/")

    assert (proxy.folder / "access.log").read_text() == ""
    assert "127.0.0.4" not in (proxy.folder / "error.log").read_text()
