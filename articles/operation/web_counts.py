"""What the web server's workers have counted, added up over all of them, for the measurements."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from articles.domain.measurements import WebCounts
from articles.operation import metric_files, metrics


def read(folder: Path | None) -> WebCounts | None:
    """Return the sums over all workers; None without a folder, or if its web server has just ended."""
    if folder is None or (began := metric_files.began_at(folder)) is None:
        return None
    counts, within = Counter[str](), Counter[str]()
    try:
        for metric in metric_files.AllProcesses(folder).collect():
            for sample in metric.samples:
                if sample.name == f"{metrics.REQUEST_SECONDS_NAME}_bucket":
                    within[sample.labels["le"]] += int(sample.value)
                elif name := _counted(sample.name, sample.labels):
                    counts[name] += int(sample.value)
                    counts["errors"] += int(sample.value) if _is_error(name, sample.labels) else 0
    except FileNotFoundError:
        return None
    return WebCounts(began, counts["requests"], counts["errors"], counts["votes"], dict(within))


def _counted(sample: str, labels: Mapping[str, str]) -> str:
    if sample == metrics.REQUESTS_NAME:
        return "requests"
    return "votes" if sample == metrics.VOTES_NAME and labels["outcome"] == "ok" else ""


def _is_error(name: str, labels: Mapping[str, str]) -> bool:
    return name == "requests" and labels["status"].startswith("5")
