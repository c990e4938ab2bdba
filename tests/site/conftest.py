"""The whole site as its operator starts it: processes, ports, signals."""

import shutil

import pytest

from tests.site_process import Site, stopped_site


@pytest.fixture(scope="session")
def filled_data(tmp_path_factory, static_files):
    """The data directory of a stopped site with content."""
    return stopped_site(tmp_path_factory, "filled", static_files)


@pytest.fixture(scope="session")
def empty_data(tmp_path_factory, static_files):
    """The same without content: most of the time of a first start is the migration of the accounts database."""
    return stopped_site(tmp_path_factory, "empty", static_files, is_empty=True)


@pytest.fixture(scope="module")
def module_start(request, tmp_path_factory):
    """A function that starts a site with content for all tests of a module."""
    yield from _starts(request, tmp_path_factory.mktemp("site"))


@pytest.fixture
def start(request, tmp_path):
    """A function that starts a site: with content, with `is_empty` without, with `first` for the first time."""
    yield from _starts(request, tmp_path)


def _starts(request, folder):
    sites = []

    def begin(name="data", *, first=False, is_empty=False, **environment):
        if not (folder / name).exists():
            if first:
                shutil.copytree(request.getfixturevalue("static_files"), folder / name / "static")
            else:
                prepared = "empty_data" if is_empty else "filled_data"
                shutil.copytree(request.getfixturevalue(prepared), folder / name)
        sites.append(Site(folder / name, **environment))
        return sites[-1]

    yield begin
    for site in sites:
        if site.process.poll() is None:
            site.process.kill()
            site.process.wait()
