"""The commands that the README gives, as they stand there."""

import re
import shlex
import subprocess
from pathlib import Path

_README = (Path(__file__).parents[1] / "README.md").read_text("utf-8")


def part(title):
    return _README.partition(f"## {title}\n")[2].partition("\n## ")[0]


def block(title, language):
    return "\n".join(re.findall(rf"```{language}\n(.*?)```", part(title), re.DOTALL))


def follow(title, run, environment=None, **instead):
    """Run the commands of a part in this folder, one after another; yield what each of `manage.py` says.

    `instead`: texts that take the place of those of the README, such as an address, by their first letters.
    """
    for line in block(title, "sh").splitlines():
        shell, _python, command = line.partition(".venv/bin/python manage.py ")
        if not command:
            subprocess.run(["bash", "-o", "pipefail", "-c", shell], env=environment, check=True)
            continue
        words = shlex.split(command)
        yield run(*(next((new for old, new in instead.items() if word.startswith(old)), word) for word in words))
