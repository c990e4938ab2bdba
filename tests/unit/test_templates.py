"""What templates say of each other."""

import pytest
from django.template import engines
from jinja2 import nodes

from tests.cases import for_each

pytestmark = pytest.mark.source

ENV = engines["jinja2"].env


def parsed(name: str) -> nodes.Template:
    return ENV.parse(ENV.loader.get_source(ENV, name)[0])


def base_of(template: nodes.Template) -> str | None:
    return next((extends.template.value for extends in template.find_all(nodes.Extends)), None)


def blocks_of(name: str | None) -> set[str]:
    """Return the blocks of a template and of those that it extends."""
    if name is None:
        return set()
    template = parsed(name)
    return {block.name for block in template.find_all(nodes.Block)} | blocks_of(base_of(template))


@for_each("name", [name for name in ENV.list_templates() if base_of(parsed(name))])
def test_a_template_fills_blocks_that_the_one_it_extends_has(name):
    template = parsed(name)

    own = {part.name for part in template.body if isinstance(part, nodes.Block)}

    assert own <= blocks_of(base_of(template)), "no page shows the others"
