"""The alert rules and the dashboard of deploy/, against the site's metrics and, where there is one, Prometheus."""

import json
import re
import shutil
import subprocess
import urllib.parse
import urllib.request
from pathlib import Path

import pytest
import yaml
from django.test import Client

from articles.backup import making
from articles.operation import metrics
from tests.site_process import DEADLINE, Site, free_port
from tests.store_state import configured
from tests.waiting import until

pytestmark = pytest.mark.deep

ROOT = Path(__file__).parents[2]
PROMETHEUS, GRAFANA = ROOT / "deploy" / "prometheus", ROOT / "deploy" / "grafana"
TOKEN = "a token of some length"

needs_prometheus = pytest.mark.skipif(
    not (shutil.which("promtool") and shutil.which("prometheus")),
    reason="Prometheus is not installed: apt-get install prometheus",
)


def rules():
    (group,) = yaml.safe_load((PROMETHEUS / "alerts.yml").read_text("utf-8"))["groups"]
    return group["rules"]


def panels():
    return json.loads((GRAFANA / "dashboard.json").read_text("utf-8"))["panels"]


def expressions():
    """Return every expression of the rules and of the dashboard."""
    return [rule["expr"] for rule in rules()] + [
        target["expr"] for panel in panels() for target in panel["targets"]
    ]


def documented_metrics():
    """Return the metrics of docs/metrics.md, each with its labels."""
    page = (ROOT / "docs" / "metrics.md").read_text("utf-8")
    lines = re.findall(r"^\| `(site_\w+)` \| (\w+) \| (.*?)\|", page, re.MULTILINE)
    return {name: (kind, set(re.findall("`([a-z]+)`", labels))) for name, kind, labels in lines}


def series_of(metrics):
    """Return the names of all series of these metrics, each with its labels."""
    series = {}
    for name, (kind, labels) in metrics.items():
        for suffix in ("_bucket", "_sum", "_count") if kind == "histogram" else ("",):
            series[name + suffix] = labels | {"job"} | ({"le"} if suffix == "_bucket" else set())
    return series


def exposed_metrics(text):
    """Return the names of the metrics in an exposition, without those of a histogram's series."""
    return set(re.findall(r"^# TYPE (site_\w+) ", text, re.MULTILINE))


def test_the_documented_metrics_are_those_that_the_site_exposes(
    site_store, article, settings, tmp_path, monkeypatch
):
    monkeypatch.setattr(metrics, "web_memory", lambda: [1])
    settings.BACKUP_DIR = tmp_path
    making.make(site_store, tmp_path)
    site_store.hot.rescore()
    site_store.lease.record_step("hot", at=site_store.store.now(), seconds=0.1, result="", error="")
    with configured(site_store, "maxmemory", "1gb"):
        text = Client().get("/metrics").content.decode()

    assert exposed_metrics(text) == set(documented_metrics())


@pytest.mark.parametrize("expression", expressions())
def test_an_expression_uses_only_metrics_and_labels_that_exist(expression):
    series = series_of(documented_metrics())
    names = re.findall(r"\bsite_\w+", expression)

    assert names or expression.startswith("up")
    assert set(names) <= set(series)
    labels = set(re.findall(r"(\w+)\s*=~?\s*\"", expression))
    labels |= {label for by in re.findall(r"\bby \((.*?)\)", expression) for label in by.split(", ")}
    assert labels <= set().union({"job"}, *(series[name] for name in names))


def test_every_alert_is_tried():
    tried = yaml.safe_load((Path(__file__).parent / "alerts.test.yml").read_text("utf-8"))["tests"]
    cases = [(case["alertname"], bool(case["exp_alerts"])) for one in tried for case in one["alert_rule_test"]]

    assert set(cases) == {(rule["alert"], fires) for rule in rules() for fires in (True, False)}


def test_the_dashboard_can_be_imported_anywhere():
    sources = {json.dumps(target["datasource"]) for panel in panels() for target in panel["targets"]}

    assert sources == {'{"type": "prometheus", "uid": "${datasource}"}'}
    assert len({panel["id"] for panel in panels()}) == len(panels())
    assert all(panel["title"] and panel["description"] for panel in panels())
    taken = [(x, y) for panel in panels() for x, y in cells(panel["gridPos"])]
    assert len(taken) == len(set(taken)), "panels overlap"


def cells(place):
    return [(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])]


# With Prometheus


def promtool(*command, **options):
    done = subprocess.run(["promtool", *map(str, command)], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_prometheus
def test_the_rules_are_valid():
    promtool("check", "rules", PROMETHEUS / "alerts.yml")


@needs_prometheus
def test_each_alert_fires_at_its_fault_and_at_no_other_time():
    promtool("test", "rules", Path(__file__).parent / "alerts.test.yml")


@needs_prometheus
def test_the_expressions_of_the_dashboard_are_valid(tmp_path):
    def filled(expression):
        return expression.replace("$__rate_interval", "5m").replace("$job", "articles")

    recorded = [
        {"record": f"panel:{panel['id']}:{target['refId']}", "expr": filled(target["expr"])}
        for panel in panels()
        for target in panel["targets"]
    ]
    (tmp_path / "panels.yml").write_text(json.dumps({"groups": [{"name": "panels", "rules": recorded}]}))

    promtool("check", "rules", tmp_path / "panels.yml")


def configuration(folder, target):
    """Copy the configuration of deploy/ for a site on this machine, and return its path."""
    text = (PROMETHEUS / "prometheus.yml").read_text("utf-8")
    text = text.replace("news.example.org:443", target).replace("https", "http").replace("30s", "1s")
    shutil.copy(PROMETHEUS / "alerts.yml", folder)
    (folder / "metrics_token").write_text(TOKEN)
    (folder / "prometheus.yml").write_text(text)
    return folder / "prometheus.yml"


@needs_prometheus
def test_the_configuration_is_valid(tmp_path):
    promtool("check", "config", configuration(tmp_path, "news.example.org:443"))


def query(port, expression):
    """Return the results of a query, each with its labels."""
    address = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
    try:
        with urllib.request.urlopen(address, timeout=10) as answer:
            return json.load(answer)["data"]["result"]
    except OSError:
        return []


@needs_prometheus
@pytest.mark.site
def test_prometheus_scrapes_a_site_with_the_token(static_files, tmp_path):
    shutil.copytree(static_files, tmp_path / "data" / "static")
    backups = str(tmp_path / "backups")
    site, port = Site(tmp_path / "data", METRICS_TOKEN=TOKEN, BACKUP_DIR=backups), free_port()
    folder = tmp_path / "prometheus"
    folder.mkdir()
    command = [
        "prometheus",
        f"--config.file={configuration(folder, f'127.0.0.1:{site.port}')}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
    ]
    with (folder / "log").open("wb") as log:
        prometheus = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
        try:
            site.wait_until_up()
            assert site.get("/about/")[0] == 200
            until(lambda: query(port, 'up{job="articles"} == 1'), DEADLINE, (folder / "log").read_text)
            until(lambda: query(port, "site_housekeeping_age_seconds"), DEADLINE)
            until(lambda: query(port, "site_backup_age_seconds"), DEADLINE)
            names = {one["metric"]["__name__"] for one in query(port, '{job="articles", __name__=~"site_.*"}')}
            firing = {one["metric"]["alertname"] for one in query(port, 'ALERTS{alertstate="firing"}')}
        finally:
            prometheus.terminate()
            prometheus.wait(30)
            status = site.stop()
    assert status == 0
    gauges = {name for name, (kind, _labels) in documented_metrics().items() if kind == "gauge"}
    assert gauges - {"site_store_memory_limit_bytes", "site_hot_list_age_seconds"} <= names
    assert {"site_requests_total", "site_request_seconds_bucket", "site_store_seconds_bucket"} <= names
    assert firing == set()
