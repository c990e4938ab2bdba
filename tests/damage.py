"""Damage to files."""

from pathlib import Path


def damage(file: Path) -> None:
    """Overwrite 32 bytes in the middle."""
    with file.open("r+b") as opened:
        opened.seek(file.stat().st_size // 2)
        opened.write(b"\x00" * 32)
