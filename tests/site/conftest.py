"""The whole site as its operator starts it: processes, ports, signals."""

import shutil

import pytest

from tests.site_process import Site


@pytest.fixture
def start(tmp_path, static_files):
    sites = []

    def begin(name="data", **environment):
        if not (tmp_path / name).exists():
            shutil.copytree(static_files, tmp_path / name / "static")
        sites.append(Site(tmp_path / name, **environment))
        return sites[-1]

    yield begin
    for site in sites:
        if site.process.poll() is None:
            site.process.kill()
            site.process.wait()
