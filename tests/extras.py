"""What the tests of extras have for the core's: `tests/doors.py` of an extra, each name of it if it needs it.

- `PAGES`: rows of `tests.browser.pages.Page`, as tuples; `WITHOUT_PAGE`: addresses without one, by what is there;
  `NAMESPACES_WITHOUT_PAGES`: what namespaces without any have.
- `READINGS`: addresses with a query, whose answers the same readers see with and without what is for members.
- `stage(told, repository)`: fills the site of these pages; `told` has ids by name.
- `fill(member)`: adds rows, of a member or not, that a backup has; `use(member)`: others.
- `NEW_MODELS`: labels of models with rows in backups that 0.5.0 did not have.
- `QUIET`: settings that keep what extras add away from the empty sites of the core's tests.
- `EXPORTED`: names in a member's copy of their data. `SWITCHES`: settings that let all of it be seen.
- `FOR_PROGRAMS`: addresses to which programs post without a session; `READ_BY_PROGRAMS`: others for them, which
  pages of other origins can read as well.
- `CHANGES`: functions that change how a member signs in, by what the mail says.
- `STAY`: Latin words that Chinese pages show, too, such as names.
- `CRAWLED`: names of addresses that crawlers may read. `FEEDS`: addresses of feeds, without their endings.
- `CHECK`: a command that finds nothing wrong with a site that is whole; `find_wrong(repository)` is it in tests.
- `REMADE`: names of models of which a restore of version 0.5.0 changes rows.
- `MAILS`: functions that mail a member, by the template of the mail. `OWN`: where members change what is theirs.
- `mark(repository, article, members)`: lets two members do something about an article.
- `use_store(repository, article, slugs, more)`: runs all scripts, with groups to put the article into.
- `OF_MODERATORS`: addresses for those of the site, with what a form takes, or None for a page. `TABS`: of
  `tests.browser.test_tabs`. `PICTURES`: addresses by name, for the docs.
- `CALLS`: rows of `tests.api.test_generated_client.Call`. `STATUSES`: as `OTHERWISE` of `test_documentation`.
- `API_PRIVATE`, `API_WHOLE_LISTS`, `API_FACTS`, `API_PARAMETERS`, `API_CHANGES` and `ARTICLE_FORMS`: rows of other
  tables in `tests/api/`.
"""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from articles.configuration import choices
from articles.domain import extras


@cache
def doors() -> list[Any]:
    """Return the modules of the extras that are there."""
    found = [f"extras.{name}.tests.doors" for name in extras.names()]
    return [import_module(name) for name in found if find_spec(name)]


def joined(name: str) -> dict[str, Any]:
    """Return the mapping of this name of all of them."""
    return {key: value for mapping in all_of(name) for key, value in mapping.items()}


def all_of(name: str) -> list[Any]:
    """Return this attribute of each module that has it."""
    return [getattr(module, name) for module in doors() if hasattr(module, name)]


def switch_on() -> None:
    """Choose the settings of `SWITCHES`, as an administrator does in the browser."""
    for name, text in (pair for switches in all_of("SWITCHES") for pair in switches.items()):
        choices.save(name, text)
    choices.forget()
