"""What a measurement prints, and writes to bench/results/."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.site.content import Content
from bench.site.load import CONNECTIONS, has_wrk
from bench.site.report import charts, table
from bench.site.report.table import SITE, Results
from bench.site.servers import Server

FOLDER = Path(__file__).resolve().parents[2] / "results"


def conditions(results: Results, seconds: int, skipped: Sequence[str]) -> str:
    """Return a paragraph about the machine, the client, and what could not be measured."""
    client = "wrk" if has_wrk() else "a client in Python, which takes more of the machine than wrk"
    fewest = min(figures.runs for figures in results.values())
    lines = [
        f"{os.cpu_count()} cores; {client}, {CONNECTIONS} connections in all; "
        f"medians of {fewest} interleaved runs of {seconds} s each.",
        *(f"Not measured: {reason}." for reason in skipped),
    ]
    return "\n".join(lines) + "\n"


def sites(servers: Mapping[int, tuple[Server, Content]], results: Results) -> str:
    """Return a table of the sites: what they need for their articles, and how fast they start."""
    rows = []
    for articles, (server, content) in servers.items():
        own = [
            of for contender, of in results.items() if contender.peer == SITE and contender.articles == articles
        ]
        store = max((of.store_memory for of in own), default=0.0)
        web = max((of.web_memory for of in own), default=0.0)
        memory = (f"{size / 1e6:.0f}" for size in (store, web))
        rows.append(
            [f"{articles:,}", f"{content.memory_per_article:,.0f}", *memory, f"{server.start_seconds:.1f}"]
        )
    return table.markdown(["articles", "bytes for each", "store, MB", "web, MB", "start, s"], rows)


def publish(sections: Sequence[str], results: Results) -> None:
    """Print the sections, and write them and the charts."""
    text = "\n".join(sections)
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "tables.md").write_text(text, "utf-8")
    (FOLDER / "rates.svg").write_text(charts.rates(results), "utf-8")
    (FOLDER / "latencies.svg").write_text(charts.latencies(results), "utf-8")
    print(f"\n{text}\nWritten to {FOLDER}/.")
