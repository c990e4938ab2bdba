"""Ask pip-audit about the locked packages, and say what was not checked.

pip-audit calls packages that its service does not know "skipped", and then reports that no vulnerability is known.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

LOCKS = ("requirements.txt", "requirements-dev.txt")

_LONGEST_SECONDS = 300


def main() -> int:
    """Print the result for every lock file; return the exit code, 1 if a vulnerability is known."""
    return max([_audit(lock) for lock in LOCKS])


def _audit(lock: str) -> int:
    command = [sys.executable, "-m", "pip_audit", "--requirement", lock, "--require-hashes", "--disable-pip"]
    options = ["--format", "json", "--progress-spinner", "off"]
    try:
        done = subprocess.run(
            [*command, *options], capture_output=True, text=True, check=False, timeout=_LONGEST_SECONDS
        )
        packages = json.loads(done.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, ValueError, LookupError):
        packages = []
    code, sentences = verdict(lock, packages)
    print(*sentences, sep="\n")
    return code


def verdict(lock: str, packages: Sequence[Mapping[str, Any]]) -> tuple[int, list[str]]:
    """Return the exit code and the sentences for what pip-audit reported about a lock file's packages."""
    checked = [package for package in packages if "vulns" in package]
    if not checked:
        return 0, [f"{lock}: NOTHING WAS CHECKED. The vulnerability service did not answer, or knows no package."]
    known = [
        f"{lock}: {package['name']} {package['version']}: {fault['id']}, fixed in {_versions(fault)}"
        for package in checked
        for fault in package["vulns"]
    ]
    total = (
        f"{lock}: {len(checked)} of {len(packages)} packages were checked, {len(known)} vulnerabilities are known."
    )
    return int(bool(known)), [*known, total]


def _versions(fault: Mapping[str, Any]) -> str:
    return ", ".join(fault.get("fix_versions", ())) or "no version"


if __name__ == "__main__":
    sys.exit(main())
