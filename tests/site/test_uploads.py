"""No request leaves a file behind, and none that is too large is parsed."""

import http.client
import os
import socket
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from django.conf import settings

from accounts.web.sent_forms import MOST_CHARACTERS

FORMS = (
    "/preferences/", "/login/", "/signup/", "/password/reset/", "/articles/1/vote/",
    "/post/", "/login/second/",
)  # fmt: skip
BOUNDARY = "limit"


@pytest.fixture(scope="module")
def temporary(tmp_path_factory):
    return tmp_path_factory.mktemp("temporary")


@pytest.fixture(scope="module")
def site(module_start, temporary):
    site = module_start(TMPDIR=str(temporary), WEB_WORKERS="1")
    site.wait_until_up()
    return site


def multipart(size):
    """Return a form with a file of this many bytes."""
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="next"; filename="a.bin"\r\n\r\n'
    return head.encode() + b"x" * size + f"\r\n--{BOUNDARY}--\r\n".encode()


def send(site, path, body, content_type, **options):
    """Send a form; return the status, the content type and the page, also if the server stopped reading early."""
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=60)
    try:
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.request("POST", path, body, {"Content-Type": content_type}, **options)
        answer = connection.getresponse()
        return answer.status, answer.headers["Content-Type"], answer.read().decode()
    finally:
        connection.close()


class Watch:
    """Records each name that appears in a folder, and every deleted file that a process keeps open."""

    def __init__(self, folder: Path, processes: set[int]) -> None:
        self.seen: set[str] = set()
        self._folder, self._processes, self._stopping = folder, processes, threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stopping.set()
        self._thread.join()

    def _run(self):
        while not self._stopping.is_set():
            self.seen |= self.files()

    def files(self):
        opened = {name for process in self._processes for name in self._open_files(process)}
        return set(os.listdir(self._folder)) | {name for name in opened if name.startswith(str(self._folder))}

    @staticmethod
    def _open_files(process):
        for link in Path(f"/proc/{process}/fd").glob("*"):
            try:
                yield os.readlink(link)
            except OSError:
                continue


def children(site):
    """Return the site's processes, workers included."""
    return {
        int(status.parent.name)
        for status in Path("/proc").glob("[0-9]*/environ")
        if _names(status, str(site.data_dir).encode())
    }


def _names(path, text):
    try:
        return text in path.read_bytes()
    except OSError:
        return False


def test_forms_with_files_write_nothing_and_are_refused_in_words(site, temporary):
    kind = f"multipart/form-data; boundary={BOUNDARY}"

    watch = Watch(temporary, children(site))
    before = watch.files()  # the web server's own
    with watch:
        for path in FORMS:
            status, media_type, _page = send(site, path, multipart(8_000_000), kind)
            assert (path, status, media_type) == (path, 413, "text/html; charset=utf-8")
            assert send(site, path, multipart(100_000), kind)[0] in (400, 403)  # 403 without a token, unread
        in_chunks = iter([multipart(5_000_000)[n : n + 65536] for n in range(0, 5_000_000, 65536)])
        status, _type, page = send(site, "/preferences/", in_chunks, kind, encode_chunked=True)
        assert status == 413
        assert "You sent more than the site accepts" in page
    assert watch.seen <= before
    assert site.get("/healthz")[0] == 200


def test_an_endless_body_is_cut(site):
    with socket.create_connection(("127.0.0.1", site.port), timeout=60) as connection:
        connection.sendall(
            b"POST /preferences/ HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
            b"Content-Type: application/x-www-form-urlencoded\r\n\r\n"
        )
        chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
        sent, answer = 0, b""
        connection.settimeout(0.2)
        while sent < 64_000_000 and not answer:
            try:
                connection.sendall(chunk)
                sent += len(chunk)
                answer = _received(connection)
            except (BrokenPipeError, ConnectionResetError):
                break
        assert answer.startswith(b"HTTP/1.1 413") or sent < 64_000_000


def _received(connection):
    connection.setblocking(False)
    try:
        return connection.recv(65536)
    except BlockingIOError:
        return b""
    finally:
        connection.settimeout(10)


def test_a_form_of_a_megabyte_is_refused_by_its_length(site):
    body = b"next=" + b"%41" * 330_000

    status, media_type, _page = send(site, "/login/", body, "application/x-www-form-urlencoded")

    assert (status, media_type) == (413, "text/html; charset=utf-8")


def test_the_longest_form_of_the_site_fits():
    sealed = 12 * MOST_CHARACTERS  # each character four bytes of UTF-8, percent-encoded
    assert sealed < settings.FORM_MAX_BYTES < settings.DATA_UPLOAD_MAX_MEMORY_SIZE


def test_a_file_in_a_small_form_is_refused_without_a_file(client, db, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    body = multipart(10)

    answer = client.generic("POST", "/login/", body, f"multipart/form-data; boundary={BOUNDARY}")

    assert answer.status_code == 400
    assert not list(tmp_path.iterdir())
