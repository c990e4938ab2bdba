"""The tables of a measurement."""

from collections.abc import Sequence

from bench.load_model import spread
from bench.load_model.day import Day
from bench.load_model.figures import Check, Figures
from bench.load_model.model import Costs, Sample, memory
from bench.load_model.plan import RATES, Load, Machines, Plan, plan
from bench.site.report.table import markdown

SIZES = (1_000_000, 10_000_000, 100_000_000)


def costs(samples: Sequence[Sample]) -> str:
    """Return what each kind of request costs at each size."""
    rows = []
    for sample in samples:
        kinds = [*((kind, cost) for kind, cost in sample.fresh.items())]
        kinds += [(f"{kind}, kept", cost) for kind, cost in sample.kept.items()]
        for kind, cost in kinds:
            figures = [cost.web_ms, cost.store_ms, cost.commands, cost.round_trips]
            rows.append(
                [
                    kind,
                    f"{sample.articles:,}",
                    str(sample.shards),
                    *(f"{figure:.2f}" for figure in figures),
                    f"{cost.bytes:,.0f}",
                ]
            )
    columns = ["request", "articles", "shards", "web CPU, ms", "store CPU, ms", "commands", "round trips", "bytes"]
    return markdown(columns, rows)


def memories(figures: Figures) -> str:
    """Return the memory of an article at each size."""
    rows = [[f"{of.articles:,}", str(of.shards), f"{of.article_bytes:,.0f}"] for of in figures.samples]
    table = markdown(["articles", "shards", "bytes of an article"], rows, texts=0)
    extra = figures.extra
    return f"{table}\nAn article that was read takes {extra.read:,.0f} bytes more, a vote {extra.vote:,.0f}.\n"


def checks(of: Sequence[Check]) -> str:
    """Return what a day used at each size, predicted and measured."""
    rows = []
    for check in of:
        pairs = [
            (check.predicted.web_ms / 1000, check.measured.web_ms / 1000, 1),
            (check.predicted.store_ms / 1000, check.measured.store_ms / 1000, 2),
            (check.predicted.commands / 1000, check.measured.commands / 1000, 0),
            (check.predicted.round_trips / 1000, check.measured.round_trips / 1000, 1),
            (check.predicted.bytes / 1e6, check.measured.bytes / 1e6, 1),
        ]
        cells = [f"{a:,.{digits}f} / {b:,.{digits}f} ({a / b - 1:+.0%})" for a, b, digits in pairs]
        rest = [f"{check.p50:.0f}", f"{check.p99:.0f}", str(check.failures)]
        rows.append([f"{check.articles:,}", str(check.shards), *cells, *rest])
    columns = ["articles", "shards", "web CPU, s", "store CPU, s", "commands, 1,000", "round trips, 1,000", "MB"]
    return markdown([*columns, "p50, ms", "p99, ms", "failures"], rows, texts=0)


def plans(figures: Figures, day: Day, machines: Machines) -> str:
    """Return the machines for each number of articles and each load."""
    model, of = Costs(figures.samples), memory(figures.samples, figures.extra.read, figures.extra.vote)
    rows = []
    for articles in SIZES:
        for votes, pages in RATES.values():
            load = Load(articles, votes, pages)
            rows.append(_row(load, plan(load, model, of, day, machines)))
    return markdown(_COLUMNS, rows, texts=0)


_COLUMNS = (
    *("articles", "votes/s", "pages/s", "web cores", "web nodes", "store threads"),
    *("shards", "primaries", "articles, GB", "voters, GB", "Gbit/s", "$ a month"),
)


def _row(load: Load, of: Plan) -> list[str]:
    possible = of.primaries > 0
    return [
        *(f"{load.articles:,}", f"{load.votes:,.0f}", f"{load.pages:,.0f}"),
        *(f"{of.web_cores:,.0f}", f"{of.web_nodes:,}", f"{of.store_threads:,.1f}"),
        *((str(of.shards), f"{of.primaries:,}") if possible else ("–", "too many")),
        *(f"{of.articles_gb:,.0f}", f"{of.votes_gb:,.0f}", f"{of.gigabits:.1f}"),
        f"{of.price:,.0f}" if possible else "–",
    ]


def everything(figures: Figures, day: Day, machines: Machines) -> str:
    sections = {
        "What a request costs": costs(figures.samples),
        "Memory": memories(figures),
        "A day, predicted / measured": checks(figures.checks),
        "Machines": plans(figures, day, machines),
        "Shards of each node": spread.table(),
    }
    return "\n".join(f"## {title}\n\n{text}" for title, text in sections.items())
