"""The steps of deploy/Dockerfile."""

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

ROOT = Path(settings.BASE_DIR)
PATH = ROOT / "deploy" / "Dockerfile"


@dataclass(frozen=True)
class Step:
    """One instruction, such as RUN, and what follows it. `stage`: the number of its FROM, from 0."""

    stage: int
    name: str
    text: str

    @property
    def words(self) -> list[str]:
        """The arguments, from the JSON form or the plain one."""
        return list(json.loads(self.text)) if self.text.startswith("[") else shlex.split(self.text)


def steps() -> list[Step]:
    """Return all instructions in order."""
    text = re.sub(r"\\\n\s*", "", PATH.read_text("utf-8"))
    found: list[Step] = []
    stage = -1
    for line in text.splitlines():
        name, _, rest = line.partition(" ")
        if not line or line.startswith("#"):
            continue
        stage += name == "FROM"
        found.append(Step(stage, name, rest))
    return found


def copied() -> list[str]:
    """Return what the image gets from the checkout."""
    sources = [step.words[:-1] for step in steps() if step.name == "COPY" and not step.text.startswith("--from")]
    return sorted({name for names in sources for name in names})
