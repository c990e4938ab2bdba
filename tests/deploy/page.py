"""The commands of docs/deploying.md, with what the page says about running them.

A comment before a block is for the program that follows the page: `<!-- not run: why -->`; `<!-- yours -->` at
values that the operator chooses; `<!-- answers: a | b -->` at what is typed; `<!-- new site -->` where no data may
exist yet.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

PATH = Path(settings.BASE_DIR, "docs", "deploying.md")
MARKS = ("not run", "yours", "answers", "new site")

_BLOCK = re.compile(r"(?:<!-- ([\w ]+?)(?:: (.*?))? -->\n)?```console\n(.*?)\n```", re.DOTALL)


@dataclass(frozen=True)
class Block:
    """Commands. `mark`: one of MARKS or "", and `note` what follows it; `heading`: the part of the page."""

    heading: str
    mark: str
    note: str
    commands: str

    @property
    def answers(self) -> list[str]:
        """What to type when the commands ask."""
        return self.note.split(" | ") if self.mark == "answers" else []

    @property
    def names(self) -> list[str]:
        """The names of the values that the operator chooses."""
        return re.findall(r"^([A-Z]+)=", self.commands, re.MULTILINE) if self.mark == "yours" else []


def blocks() -> list[Block]:
    """Return the page's blocks in order."""
    text = PATH.read_text("utf-8")
    found = []
    for match in _BLOCK.finditer(text):
        headings = re.findall(r"^#+ (.*)$", text[: match.start()], re.MULTILINE)
        found.append(Block(headings[-1], match[1] or "", match[2] or "", match[3]))
    return found
