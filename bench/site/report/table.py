"""The figures as tables in Markdown."""

from collections.abc import Iterable, Mapping, Sequence

from bench.site.figures import Figures
from bench.site.runs import Contender

SITE, HELLO = "site", "hello"

Results = Mapping[Contender, Figures]

_COLUMNS = (
    *("server", "page", "articles", "requests/s", "±", "× hello", "p50, ms", "p99, ms"),
    *("web CPU, ms", "store CPU, ms", "commands", "round trips", "web, MB"),
)


def markdown(columns: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> str:
    """Return a table whose first `texts` columns hold texts, and the others numbers."""
    rules = ["---" if n < texts else "---:" for n in range(len(columns))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (columns, rules, *rows)) + "\n"


def all_figures(results: Results) -> str:
    return markdown(_COLUMNS, (_row(*result) for result in results.items()), texts=2)


def _row(contender: Contender, of: Figures) -> list[str]:
    has_store = of.commands > 0
    return [
        contender.peer,
        contender.case.name + (f" ({of.failures} failures)" if of.failures else ""),
        f"{contender.articles:,}" if contender.articles else "–",
        f"{of.rate:,.0f}",
        f"{of.spread:.0%}",
        f"{of.share:.3f}",
        f"{of.p50:.1f}",
        f"{of.p99:.1f}",
        f"{of.web_ms:.2f}",
        f"{of.store_ms:.2f}" if of.store_ms else "–",
        f"{of.commands:.1f}" if has_store else "–",
        f"{of.round_trips:.1f}" if has_store else "–",
        f"{of.web_memory / 1e6:.0f}",
    ]


def by_size(results: Results) -> str:
    """Return p50 of the site's pages by the number of articles, and the ratio of the largest to the smallest."""
    p50: dict[str, dict[int, float]] = {}
    for contender, of in results.items():
        if contender.peer == SITE:
            p50.setdefault(contender.case.name, {})[contender.articles] = of.p50
    sizes = sorted({size for values in p50.values() for size in values})
    rows = [
        [page, *(f"{values[size]:.1f}" for size in sizes), f"{values[sizes[-1]] / values[sizes[0]]:.2f}"]
        for page, values in p50.items()
        if values.keys() == set(sizes)
    ]
    return markdown(["p50, ms", *(f"{size:,} articles" for size in sizes), "largest ÷ smallest"], rows)
