"""Throw-away certificates."""

import shutil
import subprocess
from pathlib import Path

import pytest


def make_certificate(folder: Path, host: str) -> tuple[Path, Path]:
    """Make a certificate that signs itself; return its path and that of its key. Skip the test without openssl."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed")
    certificate, key = folder / "fullchain.pem", folder / "privkey.pem"
    command = [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-days", "2", "-subj", f"/CN={host}", "-addext", f"subjectAltName=DNS:{host}"]
    subprocess.run([*command, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    return certificate, key
