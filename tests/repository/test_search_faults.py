"""The search index on disks that are full, read-only or damaged: searches go on, and the index mends itself."""

import json
import logging
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from articles.repository import Repository
from articles.repository.finding import Finder, IndexFolder, follower
from articles.text.searching import read_query
from tests.cast import ALICE, MODERATOR
from tests.searches import Search
from tests.small_disk import fill, mounted
from tests.waiting import until

pytestmark = pytest.mark.deep

NUMBERS = count(1)
LOGGER = "articles.repository.finding.follower"


@pytest.fixture
def disk(tmp_path) -> Iterator[Path]:
    with mounted(tmp_path / "disk", 8) as folder:
        yield folder


@pytest.fixture
def followed(repository, caplog, monkeypatch) -> Iterator[Callable[[Path], Search]]:
    """A function that lets a thread follow the store with the index in a folder, and returns a search of it."""
    monkeypatch.setattr(follower, "EVERY", 0.01)
    monkeypatch.setattr(follower, "_AFTER_FAILURE", 0.01)
    caplog.set_level(logging.INFO)
    stopping, threads = threading.Event(), []

    def follow(folder: Path) -> Search:
        search = Search(repository, IndexFolder(folder))
        threads.append(threading.Thread(target=search.follower.keep, args=(stopping,)))
        threads[-1].start()
        return search

    yield follow
    stopping.set()
    for thread in threads:
        thread.join()


def post(repository: Repository) -> int:
    return repository.articles.post(ALICE, "alice", "redis", f"https://site.example/{next(NUMBERS)}", ()).id


def found(search: Search, finder: Finder | None = None) -> set[int]:
    page = (finder or search.finder).get_page(search.repository, read_query("redis"))
    return {article.id for article in page.articles}


def mount(*options: str) -> None:
    if subprocess.run(["mount", *options], capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed here")


@contextmanager
def full(folder: Path) -> Iterator[None]:
    hog = fill(folder.parent)
    yield
    hog.unlink()


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    mount("--bind", str(folder), str(folder))
    mount("-o", "remount,bind,ro", str(folder))
    yield
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.parametrize("fault", [full, read_only])
def test_an_unwritable_index_finds_what_it_had_and_heals(repository, disk, followed, caplog, monkeypatch, fault):
    search, first = followed(disk / "search"), post(repository)
    until(lambda: found(search) == {first})
    attempts = count()
    catch_up = search.follower.catch_up
    monkeypatch.setattr(search.follower, "catch_up", lambda *stop: (next(attempts), catch_up(*stop)))

    with fault(disk / "search"):
        second, before = post(repository), next(attempts)
        until(lambda: next(attempts) > before + 20)
        of_a_new_process = Finder(IndexFolder(disk / "search"))
        assert found(search) == {first}
        assert found(search, of_a_new_process) in ({first}, set())
        warnings = [one for one in caplog.records if one.levelno >= logging.WARNING]

    until(lambda: found(search) == found(search, of_a_new_process) == {first, second})
    assert [one.getMessage().partition("again: ")[2] for one in warnings] == [
        {full: "No space left on device", read_only: "Read-only file system"}[fault]
    ]
    until(lambda: "the search index is written again" in caplog.messages)


def room_of(folder: Path) -> int:
    return shutil.disk_usage(folder).free


def leave(room: int, disk: Path) -> Path:
    """Fill the disk but for so many bytes; return the file that takes the rest."""
    hog = fill(disk)
    os.truncate(hog, hog.stat().st_size - room)
    return hog


@pytest.mark.parametrize("room", [0, 30_000, 60_000, 100_000, 150_000])
@pytest.mark.hostile
def test_where_the_disk_is_full_everything_is_found_once_there_is_room(repository, disk, followed, caplog, room):
    """In a commit or in a merge: eight small commits are merged."""
    search, posted = followed(disk / "search"), {post(repository)}
    until(lambda: found(search) == posted)

    hog = leave(room, disk)
    while "No space left on device" not in caplog.text and len(posted) < 25:
        posted.add(post(repository))
        until(lambda: found(search) == posted or "No space left on device" in caplog.text)
    hog.unlink()

    until(lambda: found(search) == posted)
    assert caplog.text.count("again: No space left on device") == 1


def test_a_build_that_fills_the_disk_gives_space_back_and_the_former_index_is_used(repository, disk, monkeypatch):
    search, posted = Search(repository, IndexFolder(disk / "search")), {post(repository) for _ in range(20)}
    search("redis")
    hog = leave(12_000, disk)
    free = room_of(disk)

    monkeypatch.setattr(follower, "_OLDEST", -1.0)
    with pytest.raises((OSError, ValueError)):
        search.follower.catch_up()
    search.follower.close()

    assert room_of(disk) >= free
    assert found(search) == posted
    hog.unlink()
    search("redis")
    search.follower.close()
    assert found(search, Finder(IndexFolder(disk / "search"))) == posted


def test_what_a_killed_build_left_takes_no_space_from_the_next_one(repository, disk):
    search, article = Search(repository, IndexFolder(disk / "search")), post(repository)
    left = disk / "search" / "0123456789abcdef"
    left.mkdir(parents=True)
    fill(left)

    search("redis")
    search.follower.close()

    assert found(search) == {article}


def test_files_that_a_failed_commit_left_are_not_in_the_way_of_the_next_one(repository, tmp_path):
    search, article = Search(repository, IndexFolder(tmp_path)), post(repository)
    search("redis")
    search.follower.close()
    (meta,) = tmp_path.glob("*/meta.json")
    segments = [one["segment_id"].replace("-", "") for one in json.loads(meta.read_bytes())["segments"]]
    left = [meta.with_name(f"{segment}.{number}.del") for segment in segments for number in range(100)]
    for path in left:
        path.touch(exist_ok=False)
    managed = meta.with_name(".managed.json")
    names = [*json.loads(managed.read_bytes()), *(path.name for path in left)]
    managed.write_text(json.dumps(names))

    repository.articles.edit(article, MODERATOR, "valkey", "https://a.example/", moderator=True)
    search("valkey")
    search.follower.close()

    page = Finder(IndexFolder(tmp_path)).get_page(repository, read_query("valkey"))
    assert [one.id for one in page.articles] == [article]


def lose_all(folder: Path) -> None:
    """Lose a folder in one step: the site may delete files in it meanwhile."""
    lost = folder.with_name("lost")
    folder.rename(lost)
    shutil.rmtree(lost, ignore_errors=True)


def lose_the_index(folder: Path) -> None:
    lose_all(folder / (folder / "current").read_text())


def name_nothing(folder: Path) -> None:
    (folder / "current").write_text("")


def name_garbage(folder: Path) -> None:
    (folder / "current").write_bytes(b"\xff\x00/..\n" * 500)


@pytest.mark.parametrize("damage", [lose_all, lose_the_index, name_nothing, name_garbage])
def test_an_index_lost_under_a_running_site_is_built_again_unchanged(repository, tmp_path, followed, damage):
    folder = tmp_path / "search"
    search, article = followed(folder), post(repository)
    until(lambda: found(search) == {article})

    damage(folder)

    until(lambda: found(search, Finder(IndexFolder(folder))) == {article})
    until(lambda: found(search) == {article})


def rot(path: Path) -> None:
    """Overwrite the first eighth of a file in place: Tantivy opens it all the same."""
    with path.open("r+b") as file:
        file.write(b"\xff" * (path.stat().st_size // 8))


def shorten(path: Path) -> None:
    os.truncate(path, 5)


@pytest.mark.parametrize("damage", [rot, shorten])
@pytest.mark.parametrize("ending", ["term", "idx", "fast", "store"])
def test_damage_is_noticed_by_searches_or_at_a_start(repository, tmp_path, followed, caplog, damage, ending):
    folder, posted = tmp_path / "search", {post(repository) for _ in range(20)}
    before = Search(repository, IndexFolder(folder))
    before("redis")
    before.follower.close()
    for path in folder.glob(f"*/*.{ending}"):
        damage(path)
    damaged = (folder / "current").read_text()

    page = Finder(IndexFolder(folder)).get_page(repository, read_query("redis"))
    assert not page.complete or {article.id for article in page.articles} <= posted
    search = followed(folder)

    until(lambda: (folder / "current").read_text() != damaged and found(search) == posted)


def test_an_index_that_a_search_cannot_read_is_checked_and_built_again(repository, tmp_path, followed, caplog):
    folder, article = tmp_path / "search", post(repository)
    search = followed(folder)
    until(lambda: found(search) == {article})
    for path in folder.glob("*/*.term"):
        rot(path)

    page = Finder(IndexFolder(folder)).get_page(repository, read_query("redis"))

    assert (page.articles, page.complete) == ((), False)
    assert caplog.text.count("the search index cannot be read") == 1
    until(lambda: found(search, Finder(IndexFolder(folder))) == {article})
