"""The site's metrics as Prometheus reads them."""

from prometheus_client.parser import text_string_to_metric_families

from articles.operation import metrics


def samples_of(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Return every sample by its name and labels."""
    families = text_string_to_metric_families(text)
    return {(s.name, tuple(sorted(s.labels.items()))): s.value for family in families for s in family.samples}


def value_in(text: str, name: str, **labels: str) -> float:
    """Return one sample, or 0 if it is absent."""
    lines = "\n".join(line for line in text.splitlines() if line.startswith(name))
    return samples_of(f"{lines}\n").get((name, tuple(sorted(labels.items()))), 0.0)


def value(name: str, **labels: str) -> float:
    """Return one sample of this process."""
    return value_in(metrics.exposition(None).decode(), name, **labels)
