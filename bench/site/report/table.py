"""The figures as tables in Markdown."""

from collections.abc import Iterable, Mapping, Sequence

from bench.site.cases import OF_MEMBERS
from bench.site.figures import Figures
from bench.site.runs import Contender

SITE, HELLO = "site", "hello"

Results = Mapping[Contender, Figures]

_COLUMNS = (
    "server", "page", "articles", "× hello", "× hello, member", "±", "requests/s", "p50, ms", "p99, ms",
    "web CPU, ms", "store CPU, ms", "commands", "round trips", "web, MB",
)  # fmt: skip


def markdown(columns: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> str:
    """Return a table whose first `texts` columns hold texts, and the others numbers."""
    rules = ["---" if n < texts else "---:" for n in range(len(columns))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (columns, rules, *rows)) + "\n"


def all_figures(results: Results) -> str:
    member = next((of.share for contender, of in results.items() if contender.case.name == OF_MEMBERS), 0.0)
    return markdown(_COLUMNS, (_row(*result, member) for result in results.items()), texts=2)


def _row(contender: Contender, of: Figures, member: float) -> list[str]:
    has_store, name = of.commands > 0, contender.case.name
    is_of_members = member and (name == "vote" or ", member" in name)
    return [
        contender.peer,
        contender.case.name + (f" ({of.failures:,} of {of.requests:,} failed)" if of.failures else ""),
        f"{contender.articles:,}" if contender.articles else "–",
        f"{of.share:#.3g}",
        f"{of.share / member:#.3g}" if is_of_members else "–",
        f"{of.spread:.0%}",
        f"{of.rate:,.0f}",
        f"{of.p50:.1f}",
        f"{of.p99:.1f}",
        f"{of.web_ms:.2f}",
        f"{of.store_ms:.2f}" if of.store_ms else "–",
        f"{of.commands:.1f}" if has_store else "–",
        f"{of.round_trips:.1f}" if has_store else "–",
        f"{of.web_memory / 1e6:.0f}",
    ]


def by_size(results: Results) -> str:
    """Return p50 of the site's pages with the fewest articles, and those with more as multiples of it."""
    p50: dict[str, dict[int, float]] = {}
    for contender, of in results.items():
        if contender.peer == SITE:
            p50.setdefault(contender.case.name, {})[contender.articles] = of.p50
    fewest, *more = sorted({size for values in p50.values() for size in values})
    rows = [
        [page, f"{values[fewest]:.1f}", *(f"{values[size] / values[fewest]:.2f}" for size in more)]
        for page, values in p50.items()
        if values.keys() == {fewest, *more}
    ]
    return markdown(["p50", f"{fewest:,} articles, ms", *(f"× with {size:,}" for size in more)], rows)
