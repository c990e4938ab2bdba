"""Commands of the site."""

import os
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command

from articles.repository import Repository
from articles.web import wiring

Run = Callable[..., str]


@pytest.fixture
def site_store(site_store: Repository) -> Repository:
    """The repository that commands use, with long timeouts for batches, on an empty store."""
    return wiring.patient_repository()


@pytest.fixture
def run(site_store) -> Run:
    """A function that runs a command and returns its output."""

    def run(*command: Any, **options: Any) -> str:
        out = StringIO()
        call_command(*map(str, command), stdout=out, **options)
        return out.getvalue()

    return run


@pytest.fixture
def manage(tmp_path):
    """A function that starts `manage.py` with its own data directory, in its own process group."""
    environment = {k: v for k, v in os.environ.items() if k not in ("REDIS_URL", "DJANGO_SETTINGS_MODULE")}
    environment |= {"DATA_DIR": str(tmp_path / "data"), "LOG_LEVEL": "WARNING"}

    def manage(*command):
        return subprocess.Popen(
            [sys.executable, "manage.py", *map(str, command)],
            cwd=settings.BASE_DIR,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    return manage


def ended(process):
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err
