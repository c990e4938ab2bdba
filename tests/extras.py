"""What the tests of extras have for the core's: `tests/doors.py` of an extra, each name of it if it needs it.

- `PAGES`: rows of `tests.browser.pages.Page`, as tuples; `WITHOUT_PAGE`: addresses without one, by what is there.
- `stage()`: fills the site of these pages. `fill(member)`: adds rows, of a member or not, that a backup has;
  `use(member)`: others.
- `EXPORTED`: names in a member's copy of their data. `SWITCHES`: settings that let all of it be seen.
- `MAILS`: functions that mail a member, by the template of the mail. `OWN`: where members change what is theirs.
- `CALLS`: rows of `tests.api.test_generated_client.Call`. `STATUSES`: as `OTHERWISE` of `test_documentation`.
"""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import extras


@cache
def doors() -> list[Any]:
    """Return the modules of the extras that are there."""
    found = [f"extras.{name}.tests.doors" for name in extras.names()]
    return [import_module(name) for name in found if find_spec(name)]


def all_of(name: str) -> list[Any]:
    """Return this attribute of each module that has it."""
    return [getattr(module, name) for module in doors() if hasattr(module, name)]
