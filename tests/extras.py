"""What the tests of extras have for the core's: `tests/doors.py` of an extra, each name of it if it needs it.

- `PAGES`: rows of `tests.browser.pages.Page`, as tuples; `WITHOUT_PAGE`: addresses without one, by what is there;
  `NAMESPACES_WITHOUT_PAGES`: what namespaces without any have.
- `READINGS`: addresses with a query, whose answers the same readers see with and without what is for members.
- `stage()`: fills the site of these pages. `fill(member)`: adds rows, of a member or not, that a backup has;
  `use(member)`: others.
- `EXPORTED`: names in a member's copy of their data. `SWITCHES`: settings that let all of it be seen.
- `STAY`: Latin words that Chinese pages show, too, such as names.
- `MAILS`: functions that mail a member, by the template of the mail. `OWN`: where members change what is theirs.
- `CALLS`: rows of `tests.api.test_generated_client.Call`. `STATUSES`: as `OTHERWISE` of `test_documentation`.
"""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import extras
from articles.configuration import choices


@cache
def doors() -> list[Any]:
    """Return the modules of the extras that are there."""
    found = [f"extras.{name}.tests.doors" for name in extras.names()]
    return [import_module(name) for name in found if find_spec(name)]


def all_of(name: str) -> list[Any]:
    """Return this attribute of each module that has it."""
    return [getattr(module, name) for module in doors() if hasattr(module, name)]


def switch_on() -> None:
    """Choose the settings of `SWITCHES`, as an administrator does in the browser."""
    for name, text in (pair for switches in all_of("SWITCHES") for pair in switches.items()):
        choices.save(name, text)
    choices.forget()
