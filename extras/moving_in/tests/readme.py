"""The commands that the README gives for a source."""

import re
import shlex
import subprocess
from pathlib import Path

_README = Path(__file__).parents[1] / "README.md"


def sources_of(title, folder, environment):
    """Run the commands of the part with this title; return the formats and sources that `import_site` is given."""
    part = _README.read_text("utf-8").partition(f"## {title}\n")[2].partition("\n## ")[0]
    found = []
    for line in "\n".join(re.findall(r"```sh\n(.*?)```", part, re.DOTALL)).splitlines():
        if "manage.py import_site " in line:
            name, source = shlex.split(line.partition(" import_site ")[2])[:2]
            found.append((name, source if "://" in source else str(folder / source)))
        else:
            subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=folder, env=environment, check=True)
    return found
