from contextlib import closing

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from tests.internals import failing
from voting_site.serving import static_files
from voting_site.serving.requests import PublicFilesMiddleware
from voting_site.serving.web_server import CannotServe


@pytest.fixture
def root(tmp_path, settings):
    """The folder in which static files are gathered. A small folder is the only source, to keep the tests fast."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "site.css").write_text("a {}")
    settings.STATICFILES_DIRS = [source]
    settings.STATIC_ROOT = tmp_path / "data" / "static"
    return settings.STATIC_ROOT


def names(root):
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def test_static_files_are_gathered_once_and_again_after_a_change(root, settings):
    assert static_files.gather()
    assert not static_files.gather()
    before = names(root)
    assert "site.css" in before

    (root / "stale.css").write_text("")
    (settings.STATICFILES_DIRS[0] / "site.css").write_text("a { color: red }")

    assert static_files.gather()
    assert names(root) == before
    assert (root / "site.css").read_text() == "a { color: red }"


@pytest.mark.parametrize("strange", ["site.css", ".hidden", "folder/file"])
def test_files_that_the_site_did_not_create_are_kept(root, strange):
    path = root / strange
    path.parent.mkdir(parents=True)
    path.write_text("mine")

    with pytest.raises(CannotServe, match="has files that the site did not create"):
        static_files.gather()

    assert names(root) == {strange}


def test_an_interrupted_gathering_is_restarted(root):
    with failing(static_files, "call_command"), pytest.raises(KeyboardInterrupt):
        static_files.gather()
    (root / "half").write_text("")

    assert static_files.gather()
    assert "half" not in names(root)


def test_clearing_does_not_follow_symbolic_links(root, tmp_path):
    static_files.gather()
    other = tmp_path / "other"
    other.mkdir()
    (other / "file").write_text("mine")
    (root / "link").symlink_to(other)
    (root / ".source").write_text("outdated")

    assert static_files.gather()

    assert (other / "file").read_text() == "mine"
    assert not (root / "link").exists()


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.django_db  # closing a response closes connections to the database that earlier tests left
def test_only_files_that_pages_link_are_served(root, settings, debug):
    settings.DEBUG = debug
    static_files.gather()
    (root / "staticfiles.json").write_text("{}")
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("secret")
    middleware = PublicFilesMiddleware(lambda _request: HttpResponse(status=404))

    def status(path):
        with closing(middleware(RequestFactory().get(path))) as answer:
            return answer.status_code

    assert status("/static/site.css") == 200
    for hidden in (".source", ".git/config", "staticfiles.json", "../static/.source"):
        assert status(f"/static/{hidden}") == 404


@pytest.mark.django_db
def test_a_static_file_is_packed_only_as_the_client_accepts(root):
    static_files.gather()
    (root / "site.css.br").write_bytes(b"1")
    (root / "site.css.gz").write_bytes(b"12")
    middleware = PublicFilesMiddleware(lambda _request: HttpResponse(status=404))

    def encoding(header):
        with closing(middleware(RequestFactory().get("/static/site.css", HTTP_ACCEPT_ENCODING=header))) as answer:
            return answer.headers.get("Content-Encoding")

    for header, expected in {
        "gzip, br": "br",
        "gzip": "gzip",
        "X-Gzip": "gzip",
        "br;q=0, gzip": "gzip",
        "*;q=0, br": "br",
        "gzip;q=0": None,
        "gzip;q=0, br;q=0.0": None,
        "*;q=0": None,
        "gzip;q=x": None,
        "": None,
    }.items():
        assert encoding(header) == expected, header
