"""The catalogue of pages is complete: whoever adds an address adds its page, or says why there is none."""

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from tests.browser.pages import DOORS, NAMESPACES_WITHOUT_PAGES, PAGES, WITHOUT_PAGE, name_of


def names_of(resolver: URLResolver, namespace: str = "") -> set[str]:
    """Every address's name, with its namespace."""
    found = set()
    for entry in resolver.url_patterns:
        if isinstance(entry, URLResolver):
            found |= names_of(entry, entry.namespace or namespace)
        elif isinstance(entry, URLPattern) and entry.name:
            found.add(f"{namespace}:{entry.name}" if namespace else entry.name)
    return found


SHOWN = {name_of(page) for page in PAGES}
KNOWN = SHOWN | set(DOORS) | set(WITHOUT_PAGE)


def test_every_address_is_in_the_catalogue_or_has_no_page():
    names = names_of(get_resolver())
    forgotten = {name for name in names if name.partition(":")[0] not in NAMESPACES_WITHOUT_PAGES} - KNOWN

    assert forgotten == set()
    assert "api:docs" in SHOWN


def test_nothing_is_said_of_addresses_that_are_gone():
    assert (set(DOORS) | set(WITHOUT_PAGE)) - names_of(get_resolver()) == set()


def test_what_has_no_page_is_not_shown_as_one():
    assert SHOWN & set(WITHOUT_PAGE) == set()


@pytest.mark.parametrize(("name", "through"), DOORS.items())
def test_what_is_reached_through_another_page_names_one(name, through):
    assert through in {page.name for page in PAGES}


def test_every_page_has_a_name_of_its_own():
    assert len({page.name for page in PAGES}) == len(PAGES)
