"""`manage.py import_articles`: sources of rows, and the progress shown to the operator."""

import io
import os
import sys

import pytest
from django.core.management.base import CommandError

from extras.transfer.files import open_articles
from extras.transfer.tests.rows import row

ROWS = [row(n) for n in range(3)]


class Pipe(io.RawIOBase):
    """A stream of bytes that can be read only once."""

    def __init__(self, content):
        self._content = io.BytesIO(content)

    def readable(self):
        return True

    def readinto(self, into):
        return self._content.readinto(into)


def titles(repository):
    return [article.title for article in repository.imports.iterate()]


def test_compression_is_detected_by_content_rather_than_name(run, site_store, write):
    write(ROWS, "articles.jsonl.gz").rename(path := write([], "packed.jsonl"))
    run("import_articles", path)
    write([*ROWS, row(3)], "plain.jsonl").rename(path := write([], "plain.jsonl.gz"))
    run("import_articles", path)
    assert site_store.imports.count() == 4


@pytest.mark.parametrize("name", ["articles.jsonl", "articles.jsonl.gz"])
@pytest.mark.parametrize("shift_to_now", [False, True])
@pytest.mark.parametrize("is_pipe", [True, False])
def test_rows_are_read_from_a_pipe_or_stdin_file(run, site_store, write, monkeypatch, name, shift_to_now, is_pipe):
    path = write(ROWS, name)
    with io.TextIOWrapper(io.BufferedReader(Pipe(path.read_bytes()))) if is_pipe else path.open() as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        run("import_articles", "-", shift_to_now=shift_to_now)
    assert titles(site_store) == ["Article 0", "Article 1", "Article 2"]


def test_a_byte_order_mark_and_other_line_endings_are_accepted(run, site_store, tmp_path):
    path = tmp_path / "windows.jsonl"
    text = '{"title": "Redis 数据库", "link": "https://example.org/", "time": 1600000000, "votes": 1}'
    path.write_bytes(b"\xef\xbb\xbf" + text.encode() + b"\r\n\r\n")
    run("import_articles", path)
    assert titles(site_store) == ["Redis 数据库"]


def test_an_endless_line_is_not_read_into_memory(run, site_store, write):
    endless = b'{"title": "' + b"a" * 3_500_000
    out = run("import_articles", write([row(1), endless, row(2)]))
    assert "1  The line is too long. (row-long: line 2)" in out
    assert titles(site_store) == ["Article 1", "Article 2"]


def test_a_missing_file_is_named(run, tmp_path):
    with pytest.raises(CommandError, match=r"none\.jsonl: No such file or directory") as caught:
        run("import_articles", tmp_path / "none.jsonl")
    assert caught.value.returncode == 1


@pytest.fixture
def half_a_file(write):
    noise = os.urandom(20_000).hex()
    path = write([*(row(n) for n in range(1500)), row(1500, extra=noise)], "articles.jsonl.gz")
    content = path.read_bytes()
    path.write_bytes(content[: len(content) - 8_000])
    return path


def test_the_rows_before_the_damage_in_a_file_are_imported(run, site_store, half_a_file, capsys):
    with pytest.raises(CommandError, match=r"The file cannot be read beyond line \d+"):
        run("import_articles", half_a_file)
    assert site_store.imports.count() == 1500
    assert list(site_store.audit.run()) == []


def test_lines_can_be_read_twice_and_report_their_progress(write):
    with open_articles(str(write(ROWS, "articles.jsonl.gz"))) as source:
        assert len(list(source.lines())) == 3
        assert source.position == source.size
        assert [number for number, _ in source.lines()] == [1, 2, 3]


@pytest.mark.parametrize("options", [{}, {"progress": True}])
def test_without_a_terminal_a_progress_bar_is_shown_on_request_only(run, write, capfd, options):
    run("import_articles", write(ROWS), **options)
    assert ("B/s" in capfd.readouterr().err) is bool(options)
