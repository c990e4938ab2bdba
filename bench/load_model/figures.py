"""The figures of a measurement as a file: measured.json has those that docs/scaling.md is computed from."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.load_model.memory import Extra
from bench.load_model.model import Cost, Sample

MEASURED = Path(__file__).with_name("measured.json")


@dataclass(frozen=True, slots=True)
class Check:
    """What a replayed day used in total, predicted by the model and measured. Times in seconds."""

    articles: int
    shards: int
    predicted: Cost
    measured: Cost
    p50: float
    p99: float
    failures: int


@dataclass(frozen=True, slots=True)
class Figures:
    """All that was measured."""

    samples: Sequence[Sample]
    extra: Extra
    checks: Sequence[Check] = ()


def save(figures: Figures, file: Path) -> None:
    rounded = json.loads(json.dumps(asdict(figures)), parse_float=lambda text: float(f"{float(text):.4g}"))
    file.write_text(json.dumps(rounded, indent=1) + "\n", "utf-8")


def load(file: Path = MEASURED) -> Figures:
    read = json.loads(file.read_text("utf-8"))
    samples = [Sample(**row | {name: _costs(row[name]) for name in ("fresh", "kept")}) for row in read["samples"]]
    checks = [
        Check(**row | {name: Cost(**row[name]) for name in ("predicted", "measured")}) for row in read["checks"]
    ]
    return Figures(samples, Extra(**read["extra"]), checks)


def _costs(rows: dict[str, Any]) -> dict[str, Cost]:
    return {kind: Cost(**row) for kind, row in rows.items()}
