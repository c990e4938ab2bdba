"""deploy/compose.yaml: what has to leave the site leaves it, from processes in the networks of the file."""

import json
import shutil
import subprocess
import sys
from functools import partial

import pytest

from tests.deploy.compose_file import COMPOSE, FOLDER, SERVICES
from tests.deploy.networks import OUTSIDE, networks_of, running
from tests.site_process import variables
from tests.waiting import until
from voting_site.embedded.binary import find_binary

PYTHON = [sys.executable, "manage.py"]

POST = f"""
import time
from extras.webhooks.models import Webhook, WebhookPosition
from articles.web.wiring import repository
facts = {{"since": repository().store.now() - 1, "form": "standard", "events": "article.posted"}}
Webhook.objects.add(None, "http://{OUTSIDE}/hook", "{OUTSIDE}", **facts)
while not WebhookPosition.objects.exists():
    time.sleep(0.2)
repository().groups.create("python", "Python")
repository().articles.post(1, "alice", "Hello outside", "https://example.org/a", ["python"])
"""

REACHES = "import socket, sys; socket.create_connection((sys.argv[1], 25), 3).close()"


@pytest.mark.site
def test_mail_and_webhooks_leave_and_the_store_reaches_nothing_outside(tmp_path, static_files):
    data, outside = tmp_path / "data", tmp_path / "outside"
    shutil.copytree(static_files, data / "static")
    with networks_of(COMPOSE) as networks:
        store = networks.addresses["store", "back"]
        own = {name: str(value) for name, value in SERVICES["tick"]["environment"].items()}
        own |= {"DATA_DIR": str(data), "BACKUP_DIR": "", "REDIS_URL": own["REDIS_URL"].replace("store", store)}
        own |= {"EMAIL_URL": f"smtp://{OUTSIDE}:25", "WEBHOOKS": "site", "WEBHOOK_HOSTS": OUTSIDE}
        del own["DATABASE_URL"]  # the file in DATA_DIR, which both have
        environment = variables(own)
        log = (tmp_path / "log").open("ab")
        told = partial((tmp_path / "log").read_text, "utf-8", "replace")
        start = partial(running, env=environment, stdout=log, stderr=log)

        def manage(service, *command):
            run = [*networks.enter(service), *PYTHON, *command]
            return subprocess.run(run, env=environment, capture_output=True, text=True, check=False)

        def received(kind):
            return [file.read_text() for file in (outside / kind).glob("*")]

        server = [str(find_binary()), str(FOLDER / "store.conf"), "--dir", str(tmp_path), "--protected-mode", "no"]
        world = [sys.executable, "-m", "tests.deploy.outside", OUTSIDE, str(outside)]
        with (
            log,
            start([*networks.enter("store"), *server], [*networks.enter("outside"), *world]),
            start([*networks.enter("web"), *PYTHON, *SERVICES["web"]["command"]]),
        ):
            until(lambda: (outside / "ready").exists() and "The site is at" in told(), told=told)
            for name, service in SERVICES.items():
                reach = [*networks.enter(name), sys.executable, "-c", REACHES, OUTSIDE]
                may_leave = {"front", "out"} & set(service["networks"])
                is_out = subprocess.run(reach, capture_output=True, check=False).returncode == 0
                assert is_out == bool(may_leave), name
            with start([*networks.enter("tick"), *PYTHON, *SERVICES["tick"]["command"]]):
                posted = manage("web", "shell", "--verbosity", "0", "-c", POST)
                assert posted.returncode == 0, posted.stderr
                tested = manage("web", "doctor", "--json", "--send-test", "olga@example.org")
                answers = [
                    one["detail"] for one in json.loads(tested.stdout)["findings"] if one["check"] == "test"
                ]
                assert answers == ["250 queued outside"], tested.stdout + told()
                until(lambda: received("requests"), told=told)

    assert any("To: olga@example.org" in mail for mail in received("mails"))
    assert any("Hello outside" in request for request in received("requests"))
