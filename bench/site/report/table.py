"""The figures as tables in Markdown."""

from collections.abc import Iterable, Mapping, Sequence

from bench.site.cases import OF_MEMBERS
from bench.site.figures import Figures
from bench.site.runs import Contender

SITE, HELLO = "site", "hello"

Results = Mapping[Contender, Figures]

_COLUMNS = (
    *("server", "page", "articles", "requests/s", "±", "× hello", "× hello, member", "p50, ms", "p99, ms"),
    *("web CPU, ms", "store CPU, ms", "commands", "round trips", "web, MB"),
)


def markdown(columns: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> str:
    """Return a table whose first `texts` columns hold texts, and the others numbers."""
    rules = ["---" if n < texts else "---:" for n in range(len(columns))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (columns, rules, *rows)) + "\n"


def all_figures(results: Results) -> str:
    member = next((of.share for contender, of in results.items() if contender.case.name == OF_MEMBERS), 0.0)
    return markdown(_COLUMNS, (_row(*result, member) for result in results.items()), texts=2)


def _row(contender: Contender, of: Figures, member: float) -> list[str]:
    has_store, name = of.commands > 0, contender.case.name
    is_of_members = member and (name == "vote" or name.endswith(", member"))
    return [
        contender.peer,
        contender.case.name + (f" ({of.failures} failures)" if of.failures else ""),
        f"{contender.articles:,}" if contender.articles else "–",
        f"{of.rate:,.0f}",
        f"{of.spread:.0%}",
        f"{of.share:.3f}",
        f"{of.share / member:.2f}" if is_of_members else "–",
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
