"""The catalogue of pages is complete: each new address needs a page, or a reason for having none."""

from django.urls import URLPattern, URLResolver, get_resolver

from tests.browser.pages import DOORS, NAMESPACES_WITHOUT_PAGES, PAGES, WITHOUT_PAGE, name_of


def names_of(resolver: URLResolver, namespace: str = "") -> set[str]:
    """Yield the name of every address, with its namespace."""
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
