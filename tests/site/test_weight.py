"""The size of the site's styles and scripts as served."""

import re

import pytest
from django.conf import settings

KB = 1024
CSS = settings.BASE_DIR / "static" / "css"
IMPORTS = {path.name: re.findall(r'@import "(.+?)";', path.read_text()) for path in CSS.glob("*.css")}
IMPORTED = [name for names in IMPORTS.values() for name in names]


def templates():
    places = ("templates/**/*.html", "extras/*/jinja2/**/*.html", "extras/*/forms.py")
    return [path for place in places for path in settings.BASE_DIR.glob(place)]


def linked():
    """Return the names of the style sheets that templates link to."""
    texts = (path.read_text() for path in templates())
    return {name for text in texts for name in re.findall(r"static\(['\"]css/([\w.]+)['\"]\)", text)}


def served(static_files, name):
    (found,) = (static_files / "css").glob(f"{name.removesuffix('.css')}.????????????.css")
    return found


def weight(path):
    return path.with_name(f"{path.name}.br").stat().st_size


def test_every_style_sheet_is_imported_or_linked_exactly_once():
    assert len(IMPORTED) == len(set(IMPORTED))
    assert set(IMPORTED) & linked() == set()
    own = {path.name for path in settings.BASE_DIR.glob("extras/*/static/css/*.css")}
    assert {str(path.relative_to(CSS)) for path in CSS.rglob("*.css")} | own == {*IMPORTED, *linked()}


def words(text):
    """Return a style sheet without comments and spaces."""
    return re.sub(r"/\*.*?\*/|\s", "", text, flags=re.DOTALL)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("sheet", [name for name, imported in IMPORTS.items() if imported])
def test_a_joined_style_sheet_contains_its_components(static_files, sheet):
    text = served(static_files, sheet).read_text()

    assert "/*" not in text
    assert words(text) == words("".join((CSS / name).read_text() for name in IMPORTS[sheet]))


def test_no_string_of_a_style_sheet_has_what_is_removed_when_it_is_served():
    strings = [one for path in CSS.rglob("*.css") for one in re.findall(r'"[^"\n]*"', words(path.read_text()))]
    assert strings
    assert not [one for one in strings if re.search(r"[{};]|/\*", one)]


@pytest.mark.timeout(120)
def test_all_style_sheets_total_at_most_14_kilobytes(static_files):
    weights = {name: weight(served(static_files, name)) for name in linked()}

    assert sum(weights.values()) <= 14 * KB, weights


def scripts_by_template():
    """Return the names of the scripts that each template loads, with those of every page."""
    texts = {f"{path.parent.name}/{path.name}": path.read_text() for path in templates()}
    loaded = {name: set(re.findall(r"static\(['\"]js/(\w+)\.js['\"]\)", text)) for name, text in texts.items()}
    common = loaded["templates/base.html"] | loaded["templates/scripts.html"]
    return {name: common | own for name, own in loaded.items()}


@pytest.mark.timeout(120)
def test_the_scripts_of_a_page_total_at_most_10_kilobytes_compressed_separately(static_files):
    places = ("static", "extras/*/static")
    sources = {path.stem for place in places for path in settings.BASE_DIR.glob(f"{place}/js/*.js")}
    weights = {path.name.split(".")[0]: weight(path) for path in (static_files / "js").glob("*.js")}
    pages = scripts_by_template()

    assert weights.keys() == sources == {"worker"}.union(*pages.values())  # which browsers fetch beside the pages
    for page, scripts in pages.items():
        assert sum(weights[name] for name in scripts) <= 10 * KB, (page, weights)
