"""The rules of the site's user of a server: deploy/store.acl suffices, and contains no more than is used."""

import re
from pathlib import Path

import pytest
from django.conf import settings

from articles.domain.errors import StoreUnfit
from articles.repository.store import permissions, scripts
from articles.repository.store.permissions import as_acl
from tests.every_server import servers_of
from tests.repository.everything import use_all
from tests.rules import connect, default_rules
from tests.store_state import client_of, problems, with_login

RULES = as_acl().splitlines()[-1].split()[4:]
COMMANDS = {rule[1:].upper() for rule in RULES if rule.startswith("+")}

OF_THE_CLIENT = {"MULTI", "EXEC", "DISCARD", "SELECT", "ASKING", "READONLY", "CLUSTER|SLOTS"}
"""Commands that redis-py sends by itself."""


@pytest.fixture
def limited(server_url):
    """A function that gives a user of the test's servers these rules; returns the store's URL with that user."""
    servers = servers_of(client_of(server_url))

    def limit(*rules: str) -> str:
        for server in servers:
            server.execute_command("ACL", "SETUSER", "limited", "reset", "on", ">secret", *rules)
            server.acl_log_reset()
        return with_login(server_url, "limited", "secret")

    yield limit
    for server in servers:
        server.execute_command("ACL", "DELUSER", "limited")


@pytest.mark.deep
def test_everything_works_with_the_rules_of_the_file_and_nothing_is_denied(server_url, limited, clock):
    repository = connect(limited(*RULES), shards=2, rules=default_rules(), clock=clock)

    repository.prepare()
    use_all(repository, clock)
    problems(repository)
    assert repository.inspection.list_denied() == []

    for server in servers_of(client_of(server_url)):
        assert [(entry["reason"], entry["object"]) for entry in server.acl_log()] == []


def test_the_file_of_rules_is_the_one_that_the_site_tries():
    written, tried = Path(settings.BASE_DIR, "deploy", "store.acl").read_text("utf-8").split(), as_acl().split()

    assert [word for word in written if word in tried] == tried, "run `make docs`"
    assert {word[0] for word in {*written} - {*tried}} <= {"~"}, "keys of extras that were deleted"


def test_the_rules_permit_what_scripts_and_modules_use_and_nothing_else():
    calls = [
        call for name in scripts.names() for call in re.findall(r"redis\.p?call\(([^,)]*)", scripts.source(name))
    ]
    of_scripts = {command for call in calls for command in re.findall(r"'([A-Z]+)'", call)}
    modules = "".join(path.read_text("utf-8") for path in Path(permissions.__file__).parents[1].rglob("*.py"))

    def is_used(command: str) -> bool:
        method = {"DEL": "delete"}.get(command, command.lower().replace("|", "_").removesuffix("_encoding"))
        spelled = command.replace("|", '(?: |", ")')
        return bool(re.search(rf"\.{method}(?:_get)?\(|\"{spelled}\"|_scanned\(store, \"{method}\"", modules))

    assert of_scripts <= COMMANDS
    unused = {command for command in COMMANDS - of_scripts if not is_used(command)}
    assert unused <= OF_THE_CLIENT


def test_the_rules_permit_every_command_that_a_module_sends(server_url):
    modules = "".join(path.read_text("utf-8") for path in Path(permissions.__file__).parents[1].rglob("*.py"))
    sent = {name.upper() for name in re.findall(r"\b(?:client|pipe)\.([a-z]+)\(", modules)}
    known = {str(name).upper() for name in client_of(server_url).command()}

    assert sent & known <= {command.partition("|")[0] for command in COMMANDS}


@pytest.mark.needs("one server")
def test_a_user_who_may_run_nothing_is_told_of_every_command_and_key(limited):
    with pytest.raises(StoreUnfit, match="no transactions"):
        permissions.check(connect(limited("~*", "+select")).store)

    store = connect(limited("~*", "+select", "+multi", "+discard")).store
    helpful = permissions.list_denied(store)
    assert helpful == ["BGREWRITEAOF", "CONFIG GET", "SLOWLOG GET"]
    untried = {*OF_THE_CLIENT, "CLUSTER|NODES", "FLUSHDB", "WAIT", *(name.replace(" ", "|") for name in helpful)}
    assert set(permissions.list_missing(store)) == COMMANDS - untried

    with pytest.raises(StoreUnfit, match=r"does not permit accounts:\*, active:\*, .* and \d+ more to the"):
        permissions.check(connect(limited("+@all", "~article:*")).store)


@pytest.mark.needs("one server")
def test_trying_the_commands_changes_nothing(server_url, limited):
    permissions.check(connect(limited("+@all", "~*")).store)

    assert client_of(server_url).dbsize() == 0
