"""The files for a store on several servers: compose accepts them, and servers start with them."""

import os
import re
import shutil
import subprocess
from contextlib import ExitStack, contextmanager
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest
import redis
import yaml
from django.conf import settings

from tests.topologies.ports import Port
from tests.waiting import until
from voting_site.configuration.variables import VARIABLES
from voting_site.embedded.binary import find_binary

pytestmark = pytest.mark.deep

FOLDER = Path(settings.BASE_DIR, "deploy")
BASE = yaml.safe_load((FOLDER / "compose.yaml").read_text("utf-8"))
OVERLAYS = ("sentinel", "cluster")
FILES = {name: yaml.safe_load((FOLDER / f"compose.{name}.yaml").read_text("utf-8")) for name in OVERLAYS}
CONFS = {name: (FOLDER / f"{name}.conf").read_text("utf-8") for name in ("sentinel", "replication", "cluster")}
SERVER = shutil.which("redis-server") or find_binary()

each_overlay = pytest.mark.parametrize("name", OVERLAYS)


# compose


@each_overlay
def test_compose_accepts_the_file_beside_the_first_one(tmp_path, name):
    if shutil.which("docker-compose") is None:
        pytest.skip("docker-compose is not installed")
    for file in [*FOLDER.glob("compose*.yaml"), *FOLDER.glob("*.conf"), FOLDER / "Caddyfile"]:
        shutil.copy(file, tmp_path)
    sample = (FOLDER / ".env.sample").read_text("utf-8")
    sample = re.sub("^#(POSTGRES_PASSWORD|SECRET_KEY)=", r"\1=secret", sample, flags=re.MULTILINE)
    (tmp_path / ".env").write_text(sample)
    command = ["docker-compose", "-f", "compose.yaml", "-f", f"compose.{name}.yaml", "config"]

    own = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    checked = subprocess.run(command, cwd=tmp_path, env=own, capture_output=True, text=True, check=False)

    assert checked.returncode == 0, checked.stderr
    services = yaml.safe_load(checked.stdout)["services"]
    urls = {services[service]["environment"]["REDIS_URL"] for service in ("web", "web-2")}
    assert len(urls) == 1
    assert urls.pop().startswith(f"{name}://")
    keys = {services[service]["environment"]["SECRET_KEY"] for service in ("web", "web-2", "tick")}
    assert keys == {"secret"}
    networks = [network for service in services.values() for network in service["networks"]]
    assert set(networks) == {"front", "out", "back"}


@each_overlay
def test_the_settings_exist_and_the_servers_that_they_name_do(name):
    by_name = {variable.name: variable for variable in VARIABLES}
    services = BASE["services"] | FILES[name]["services"]

    for variable, value in services["web-2"]["environment"].items():
        by_name[variable].parse(re.sub(r"\$\{[^}]*\}", "a secret that is random enough for the site", value))
    for url in ("REDIS_URL", "CACHE_URL"):
        hosts = re.findall(r"([\w-]+):\d+", FILES[name]["services"]["web"]["environment"].get(url, ""))
        assert set(hosts) <= services.keys()
    assert FILES[name]["services"]["proxy"]["environment"]["SITE_UPSTREAM"].split() == ["web:8000", "web-2:8000"]


@each_overlay
def test_both_web_nodes_run_with_the_same_settings_and_volumes_of_their_own(name):
    first = BASE["services"]["web"] | FILES[name]["services"]["web"]
    second = FILES[name]["services"]["web-2"]
    assert first["environment"].items() <= second["environment"].items()
    for option in ("image", "command", "cap_drop", "security_opt", "read_only", "networks"):
        assert second[option] == first[option], option
    assert not set(second["volumes"]) & set(BASE["services"]["web"]["volumes"])


@each_overlay
def test_addresses_are_unique_in_the_network_and_named_where_servers_look_for_each_other(name):
    file = FILES[name]
    fixed = [
        service["networks"]["back"]["ipv4_address"]
        for service in file["services"].values()
        if isinstance(service.get("networks"), dict)
    ]
    (subnet,) = file["networks"]["back"]["ipam"]["config"]
    text = (FOLDER / f"compose.{name}.yaml").read_text("utf-8") + CONFS[name]
    named = set(re.findall(r"(172\.31\.65\.\d+)(?::6379| 6379)", text))

    assert len(fixed) == len(set(fixed)) == 6
    assert all(ip_address(address) in ip_network(subnet["subnet"]) for address in fixed)
    assert named <= set(fixed)
    assert named


# Servers


@contextmanager
def server(folder: Path, *arguments: str):
    """Start a server in deploy/ as compose does; yield its client."""
    folder.mkdir()
    held, bus = Port(), Port()
    port = held.number
    place = ["--dir", str(folder), "--port", str(port), "--bind", "127.0.0.1"]
    if "cluster.conf" in arguments:  # otherwise 10,000 above the other port, which may be more than 65,535
        place += ["--cluster-port", str(bus.number)]
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen([SERVER, *arguments, *place], cwd=FOLDER, stdout=log, stderr=log)
    client = redis.Redis(port=port, decode_responses=True)
    try:
        until(lambda: is_up(process, client, folder / "log"), told=(folder / "log").read_text)
        yield client, port
    finally:
        client.close()
        process.kill()  # a replica that is writing its first file would not end otherwise
        process.wait(60)
        held.close()
        bus.close()


def is_up(process, client, log: Path) -> bool:
    assert process.poll() is None, f"the server ended:\n{log.read_text()}"
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False


@pytest.mark.nodes
def test_a_primary_takes_changes_while_a_replica_follows(tmp_path):
    with ExitStack() as stack:
        primary, port = stack.enter_context(server(tmp_path / "primary", "replication.conf"))
        with pytest.raises(redis.ResponseError, match="NOREPLICAS"):
            primary.set("key", "before")
        follow = ("--replicaof", "127.0.0.1", str(port))
        replica, _ = stack.enter_context(server(tmp_path / "replica", "replication.conf", *follow))

        until(lambda: primary.info("replication").get("min_slaves_good_slaves") == 1)
        primary.set("key", "value")

        assert primary.wait(1, 60_000) == 1
        assert replica.get("key") == "value"
        assert primary.config_get("append*")["appendfsync"] == "always"
