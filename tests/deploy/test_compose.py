"""deploy/compose.yaml: it is valid, its files and settings exist, and its services fit together."""

import os
import re
import shutil
import subprocess
from ipaddress import ip_network

import pytest
import yaml

from tests.deploy.compose_file import COMPOSE, FOLDER, SERVICES
from tests.deploy.dockerfile import steps
from voting_site.configuration.variables import VARIABLES
from voting_site.embedded.server import _SETTINGS as EMBEDDED_STORE
from voting_site.serving.metrics_folder import SHARED_MEMORY

pytestmark = pytest.mark.deep

FROM_THE_SITE = ("web", "tick")
OVERLAYS = {
    name: yaml.safe_load((FOLDER / f"compose.{name}.yaml").read_text("utf-8")) for name in ("sentinel", "cluster")
}


@pytest.mark.parametrize("program", ["docker-compose", "docker compose"])
def test_compose_accepts_the_file(tmp_path, program):
    command = program.split()
    if (
        shutil.which(command[0]) is None
        or subprocess.run([*command, "version"], capture_output=True, check=False).returncode
    ):
        pytest.skip(f"{program} is not installed")
    for name in ("compose.yaml", "Caddyfile", "store.conf"):
        shutil.copy(FOLDER / name, tmp_path)
    sample = (FOLDER / ".env.sample").read_text("utf-8")
    (tmp_path / ".env").write_text(sample.replace("#POSTGRES_PASSWORD=", "POSTGRES_PASSWORD=secret"))

    own = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}  # variables go before the file
    checked = subprocess.run(
        [*command, "config"], cwd=tmp_path, env=own, capture_output=True, text=True, check=False
    )

    assert checked.returncode == 0, checked.stderr
    resolved = yaml.safe_load(checked.stdout)["services"]
    assert resolved["web"]["environment"]["SITE_URL"] == "https://news.example.org"
    assert resolved["web"]["environment"]["DATA_DIR"] == "/data"
    assert "postgres://voting_site:secret@accounts/" in resolved["tick"]["environment"]["DATABASE_URL"]


def test_the_settings_exist_and_are_valid():
    by_name = {variable.name: variable for variable in VARIABLES}

    for service in FROM_THE_SITE:
        for name, value in SERVICES[service]["environment"].items():
            assert by_name[name].parse(re.sub(r"\$\{[^}]*\}", "secret", value))


def test_the_image_is_built_once_and_run_as_web_server_and_housekeeping():
    assert {SERVICES[name]["image"] for name in FROM_THE_SITE} == {"voting-site"}
    assert [name for name, service in SERVICES.items() if "build" in service] == ["web"]
    assert (SERVICES["web"]["command"][0], SERVICES["tick"]["command"][0]) == ("run", "tick")
    kept = {place for step in steps() if step.name == "VOLUME" for place in step.words}
    for name in FROM_THE_SITE:
        settings_of_site = SERVICES[name]["environment"]
        mounted = {volume.partition(":")[2] for volume in SERVICES[name]["volumes"]}
        assert {settings_of_site["DATA_DIR"], settings_of_site["BACKUP_DIR"]} == kept
        assert kept | {str(SHARED_MEMORY)} == mounted, "both see the counts of the web server"


def test_only_the_proxy_is_reachable_from_outside():
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["proxy"]
    assert COMPOSE["networks"]["back"] == {"internal": True}
    assert [name for name, service in SERVICES.items() if "front" in service["networks"]] == ["proxy", "web"]


@pytest.mark.parametrize("name", ["", "sentinel", "cluster"])
def test_what_sends_can_leave_the_store_cannot_and_every_log_is_bounded(name):
    """With the services of the other files: those that they change keep their networks in compose.yaml."""
    services = SERVICES | (OVERLAYS[name]["services"] if name else {})
    for one, service in services.items():
        own = SERVICES.get(one, {}) | service
        assert own["logging"]["options"].keys() == {"max-size", "max-file"}, one
        networks = {*own["networks"], *SERVICES.get(one, {}).get("networks", ())}
        is_site = own["image"] == "voting-site"
        assert bool(networks & {"front", "out"}) == (is_site or one == "proxy"), one


def test_the_site_trusts_the_network_of_the_proxy_and_no_other():
    (subnet,) = COMPOSE["networks"]["front"]["ipam"]["config"]

    assert ip_network(SERVICES["web"]["environment"]["TRUSTED_PROXIES"]) == ip_network(subnet["subnet"])


def test_what_others_depend_on_reports_its_health():
    for service in SERVICES.values():
        for name, condition in service.get("depends_on", {}).items():
            assert condition == {"condition": "service_healthy"}
            assert "healthcheck" in SERVICES[name] or SERVICES[name]["image"] == "voting-site"


def test_a_store_of_its_own_keeps_data_as_the_embedded_store_does():
    lines = [line.partition(" ") for line in (FOLDER / "store.conf").read_text("utf-8").splitlines()]
    own = {name: value.strip('"') for name, _, value in lines if name and name != "#"}

    assert own
    assert own == {name: value for name, value in EMBEDDED_STORE.items() if name in own}
    assert {"appendfsync", "maxmemory-policy", "save"} <= own.keys()
