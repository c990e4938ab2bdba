"""Benchmarks start: they are run seldom, and each would fail unnoticed."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("bench", "bench/site", "bench/site/peers")
MODULES = sorted(
    f"{folder.replace('/', '.')}.{path.stem}"
    for folder in FOLDERS
    for path in (ROOT / folder).glob("*.py")
    if path.stem != "__init__"
)


def test_every_benchmark_can_be_imported_without_settings():
    script = "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module(name)"
    command = [sys.executable, "-c", script, *MODULES]
    environ = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}

    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=120, check=False)

    assert {"bench.feeds", "bench.site.table", "bench.site.peers.hello"} <= set(MODULES)
    assert done.returncode == 0, done.stderr


def test_the_peer_with_the_orm_can_be_imported_with_its_settings(tmp_path):
    script = "import django; django.setup(); import bench.orm_peer.fill, bench.orm_peer.urls"
    own = {"DATA_DIR": str(tmp_path), "ORM_PEER_SOCKETS": str(tmp_path)}
    environ = os.environ | own | {"DJANGO_SETTINGS_MODULE": "bench.orm_peer.settings"}

    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stderr
