"""What the site's style and scripts weigh, as they are served."""

import gzip
import re

import pytest
from django.conf import settings

KB = 1024
CSS = settings.BASE_DIR / "static" / "css"
IMPORTED = re.findall(r'@import "(.+?)";', (CSS / "site.css").read_text())


def linked():
    """Names of the sheets that templates ask for."""
    texts = (path.read_text() for path in (settings.BASE_DIR / "templates").rglob("*.html"))
    return {name for text in texts for name in re.findall(r"static\('css/([\w.]+)'\)", text)}


def served(static_files, name):
    (found,) = (static_files / "css").glob(f"{name.removesuffix('.css')}.????????????.css")
    return found


def weight(path):
    return len(gzip.compress(path.read_bytes(), 9, mtime=0))


def test_every_sheet_is_imported_or_linked_and_none_twice():
    assert len(IMPORTED) == len(set(IMPORTED))
    assert set(IMPORTED) & linked() == set()
    assert {str(path.relative_to(CSS)) for path in CSS.rglob("*.css")} == {*IMPORTED, *linked()}


@pytest.mark.timeout(120)
def test_the_sheet_of_every_page_holds_its_components(static_files):
    text = served(static_files, "site.css").read_text()

    assert "@import" not in text
    for name in IMPORTED:
        assert (CSS / name).read_text() in text


@pytest.mark.timeout(120)
def test_all_style_together_weighs_at_most_12_kilobytes(static_files):
    weights = {name: weight(served(static_files, name)) for name in linked()}

    assert sum(weights.values()) <= 12 * KB, weights


@pytest.mark.timeout(120)
def test_all_scripts_weigh_at_most_8_kilobytes_each_packed_by_itself(static_files):
    sources = {path.stem for path in (settings.BASE_DIR / "static" / "js").glob("*.js")}
    weights = {path.name.split(".")[0]: weight(path) for path in (static_files / "js").glob("*.js")}

    assert weights.keys() == sources
    assert sum(weights.values()) <= 8 * KB, weights
