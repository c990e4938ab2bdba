"""What templates say of each other."""

import pytest
from django.template import engines
from jinja2 import nodes

from tests.cases import for_each

pytestmark = pytest.mark.source

ENV = engines["jinja2"].env


def parsed(name: str) -> nodes.Template:
    return ENV.parse(ENV.loader.get_source(ENV, name)[0])


def bases_of(template: nodes.Template) -> set[str]:
    """Return what the template extends; several if it depends on the page."""
    return {one.value for extends in template.find_all(nodes.Extends) for one in extends.find_all(nodes.Const)}


def blocks_of(names: set[str]) -> set[str]:
    """Return the blocks of templates and of those that they extend."""
    found = [parsed(name) for name in names]
    return {
        name
        for template in found
        for name in {block.name for block in template.find_all(nodes.Block)} | blocks_of(bases_of(template))
    }


@for_each("name", [name for name in ENV.list_templates() if bases_of(parsed(name))])
def test_a_template_fills_blocks_that_the_one_it_extends_has(name):
    template = parsed(name)

    own = {part.name for part in template.body if isinstance(part, nodes.Block)}

    assert own <= blocks_of(bases_of(template)), "no page shows the others"
