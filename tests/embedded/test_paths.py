import os
from pathlib import Path

import pytest

from voting_site.embedded import StoreDirectoryError, StorePaths

from .helpers import client, mode


@pytest.fixture
def far(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> StorePaths:
    """A data directory whose path is too long for a socket."""
    return StorePaths(tmp_path / ("far" * 40), socket_root=tmp_path_factory.mktemp("s"))


def test_the_socket_is_in_the_data_directory(paths: StorePaths):
    assert paths.socket == paths.data_dir / "store" / "store.sock"


def test_the_socket_moves_if_its_path_is_one_byte_too_long(tmp_path: Path):
    room = 107 - len(os.fsencode(tmp_path / "store" / "store.sock")) - 1

    fits, too_long = StorePaths(tmp_path / ("x" * room)), StorePaths(tmp_path / ("x" * (room + 1)))

    assert fits.socket.parent == fits.directory
    assert len(os.fsencode(fits.socket)) == 107
    assert too_long.socket.parent.parent == Path("/tmp")


def test_a_socket_directory_that_others_can_enter_is_refused(far: StorePaths, supervise):
    far.socket.parent.mkdir()
    far.socket.parent.chmod(0o750)

    with pytest.raises(StoreDirectoryError, match="other users can access it"):
        supervise(far)


def test_a_socket_directory_that_is_a_link_is_refused(far: StorePaths, supervise, tmp_path: Path):
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    far.socket.parent.symlink_to(tmp_path / "elsewhere")

    with pytest.raises(StoreDirectoryError, match="a link or a file"):
        supervise(far)


def test_a_directory_of_another_user_is_refused(paths: StorePaths, monkeypatch):
    paths.prepare()
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)

    with pytest.raises(StoreDirectoryError, match=f"belongs to user {other - 1}"):
        paths.prepare()


def test_an_open_store_directory_is_made_private(paths: StorePaths):
    paths.directory.mkdir(parents=True, mode=0o755)

    paths.prepare()

    assert mode(paths.directory) == 0o700


@pytest.mark.parametrize("name", ["with space", "100%25", "a#b?c=d&e;f", "quote'\"\\", "帖子", "--port 1"])
def test_any_path_works_as_a_url(tmp_path: Path, supervise, name: str):
    odd = StorePaths(tmp_path / name)

    supervise(odd)

    with client(odd) as connection:
        assert connection.ping()
        assert connection.config_get("dir")["dir"] == str(odd.directory)
