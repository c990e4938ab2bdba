"""A site that answers Lemmy's API, in this process or in one of its own."""

import pytest

from articles.domain.articles import ArticleId, ImportedArticle
from extras.lemmy.site import forget_counts
from tests.site.conftest import empty_data, module_start  # noqa: F401 - fixtures


@pytest.fixture
def lemmy(settings) -> None:
    """Let the site answer Lemmy's API, as if its processes had just started."""
    settings.LEMMY_API = True
    forget_counts()


@pytest.fixture
def closed(site_store) -> ArticleId:
    """An article whose voting window has ended."""
    old = ImportedArticle("Old", "https://example.org/old", 0, "", site_store.store.now() - 8 * 86400, 30, 2)
    (found,) = site_store.imports.add([old])
    return found
