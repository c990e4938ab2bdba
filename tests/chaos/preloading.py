"""Libraries that are loaded into a site's processes before the C library."""

import shutil
import subprocess
from pathlib import Path

import pytest


def compile_library(source: str, path: Path) -> Path:
    """Compile C to a library; return its path. Skip the test if there is no compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    compiling = [compiler, "-shared", "-fPIC", "-O1", "-x", "c", "-", "-o", str(path), "-ldl"]
    subprocess.run(compiling, input=source, text=True, check=True)
    return path
