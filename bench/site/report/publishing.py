"""What a measurement prints, and writes to bench/results/: python -m bench.site.report.publishing

Puts the tables of bench/results/ where docs/performance.md, or an extra's README, has the marks of their files.
"""

import os
import re
from collections.abc import Mapping, Sequence
from datetime import date

from bench.site.content import Content
from bench.site.load import CONNECTIONS, has_wrk
from bench.site.processes import ROOT
from bench.site.report import table
from bench.site.report.table import SITE, Results
from bench.site.servers import Server
from voting_site import __version__

FOLDER = ROOT / "bench" / "results"
PAGES = (ROOT / "docs" / "performance.md", *(ROOT / "extras").glob("*/README.md"))


def machine(before: float, after: float) -> str:
    """Return a sentence about the version and the machine; seconds of 20 million additions in Python."""
    when = f"Version {__version__}, {date.today()}; {os.cpu_count()} cores"
    return f"{when}; 20 million additions in Python took {before:.2f} s before and {after:.2f} s after.\n"


def conditions(results: Results, seconds: int, skipped: Sequence[str]) -> str:
    """Return a paragraph about the client, and what could not be measured."""
    client = "wrk" if has_wrk() else "a client in Python, which takes more of the machine than wrk"
    fewest = min(figures.runs for figures in results.values())
    lines = [
        f"{client}, {CONNECTIONS} connections in all; medians of {fewest} interleaved runs of {seconds} s each.",
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


def publish(name: str, sections: Sequence[str]) -> None:
    """Print the sections, and write them to a file."""
    text = "\n".join(sections)
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{name}.md").write_text(text, "utf-8")
    print(f"\n{text}\nWritten to {FOLDER}/.")


def placed(page: str, texts: Mapping[str, str]) -> str:
    """Return a page with each text between the marks of its name; what has no text stays."""

    def text(match: re.Match[str]) -> str:
        new = texts.get(match["name"])
        return match[0] if new is None else f"{match['mark']}\n\n{new.strip()}\n\n<!-- end -->"

    marks = r"(?P<mark><!-- bench/results/(?P<name>\w+)\.md -->)\n.*?<!-- end -->"
    return re.sub(marks, text, page, flags=re.DOTALL)


def main() -> None:
    texts = {path.stem: path.read_text("utf-8") for path in FOLDER.glob("*.md")}
    for page in PAGES:
        page.write_text(placed(page.read_text("utf-8"), texts), "utf-8")
        print(f"{page} written.")


if __name__ == "__main__":
    main()
