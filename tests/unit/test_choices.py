"""Where the product reads settings that the owner can change while the site runs."""

import ast

import pytest
from django.conf import settings

from articles.configuration.recent import Recent
from articles.views.owner.settings import LABELS
from tests.cases import for_each
from tests.source import modules, run_at_import, within

pytestmark = pytest.mark.source

READERS = [name for name in modules() if not within(name, "bench", "articles.configuration.choices")]


def attributes_of(tree, name):
    """Return the attributes of a name that a module reads."""
    reads = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return {node.attr for node in reads if isinstance(node.value, ast.Name) and node.value.id == name}


@for_each("module", READERS)
def test_a_setting_that_the_owner_can_change_is_read_when_it_is_needed(module):
    tree = ast.parse(modules()[module].read_text("utf-8"))
    at_import = [statement for statement in run_at_import(tree.body) if not isinstance(statement, ast.ClassDef)]

    assert not attributes_of(tree, "settings") & settings.BROWSER_SETTINGS.keys()
    assert not any(attributes_of(statement, "chosen") for statement in at_import if _is_plain(statement))


def _is_plain(statement):
    """Return whether all that a statement contains runs at import: no function is inside."""
    return not any(isinstance(node, ast.FunctionDef | ast.Lambda) for node in ast.walk(statement))


def test_each_setting_that_the_owner_can_change_is_in_a_form():
    of_own_pages = {"EMAIL_URL", "EMAIL_FROM", "BACKUP_DIR"}
    assert LABELS.keys() | of_own_pages == settings.BROWSER_SETTINGS.keys()


def test_a_load_that_began_earlier_does_not_replace_a_later_one():
    loads = []

    def load():
        loads.append(len(loads) + 1)
        number = loads[-1]
        if number == 1:
            recent.reload()  # another thread, before this load ends
        return number

    recent = Recent(load, 0)

    assert recent.get() == 2
    assert recent.get() == 2
    assert loads == [1, 2]
