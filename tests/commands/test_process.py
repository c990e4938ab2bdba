"""The commands as the operator runs them while the site is stopped, so that they start the store."""

import pytest

from articles.management.sentences import NO_TABLES
from tests.commands.conftest import ended
from voting_site import __version__


@pytest.mark.site
def test_without_accounts_tables_a_command_names_the_command_to_run(manage):
    assert ended(manage("tick")) == (1, "", f"CommandError: {NO_TABLES}\n")


@pytest.mark.site
def test_the_version_is_the_site_s_own_and_nothing_is_created(manage, tmp_path):
    status, out, err = ended(manage("version"))

    assert (status, err) == (0, "")
    assert [line.split()[:2] for line in out.splitlines()][:1] == [["site", __version__]]
    assert out.splitlines()[-1].split() == ["store", "does", "not", "answer"]
    assert not (tmp_path / "data").exists()
