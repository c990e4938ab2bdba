"""Damage to files."""

from pathlib import Path

_COMMAND = b"\r\n*"  # in an append-only file, the end of one command and the beginning of the next


def damage(file: Path) -> None:
    """Overwrite 32 bytes near the middle; in an append-only file, the beginning of a command.

    Inside a value, zeros would be just another value, and the store would load them.
    """
    raw = file.read_bytes()
    middle = len(raw) // 2
    before = raw.rfind(_COMMAND, 0, middle)
    start = before + len("\r\n") if before >= 0 else middle
    with file.open("r+b") as opened:
        opened.seek(start)
        opened.write(b"\x00" * 32)
