"""The catalogue of pages is complete: each new address needs a page, or a reason for having none."""

from tests.browser.pages import DOORS, NAMESPACES_WITHOUT_PAGES, PAGES, WITHOUT_PAGE, name_of
from tests.routes import routes

SHOWN = {name_of(page) for page in PAGES}
KNOWN = SHOWN | set(DOORS) | set(" ".join(WITHOUT_PAGE.values()).split())


def test_every_address_is_in_the_catalogue_or_has_no_page():
    names = {route.name for route in routes() if route.name}
    forgotten = {name for name in names if name.partition(":")[0] not in NAMESPACES_WITHOUT_PAGES} - KNOWN

    assert forgotten == set()
    assert "api:docs" in SHOWN
