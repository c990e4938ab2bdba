"""The figures as drawings: requests a second of every page and server, and latencies by the number of articles."""

from collections.abc import Sequence
from html import escape
from math import log10

from bench.site.report.table import SITE, Results

_ROW, _LEFT, _WIDTH, _RIGHT = 22, 250, 420, 90
_COLOURS = {SITE: "#2c5a8c"}
_OTHER = "#9a8f7a"


def rates(results: Results) -> str:
    """Return bars on a logarithmic scale: requests a second, the site's in a colour of their own."""
    rows = [
        (f"{contender.peer}: {contender.case.name}{_size(contender.articles)}", of.rate, contender.peer)
        for contender, of in results.items()
    ]
    least = 10.0 ** int(log10(max(1.0, min(rate for _, rate, _ in rows))))
    most = max(rate for _, rate, _ in rows)
    parts = []
    for n, (label, rate, peer) in enumerate(rows):
        y, length = 30 + n * _ROW, _WIDTH * log10(max(rate, least * 1.05) / least) / log10(most / least)
        parts.append(_text(_LEFT - 8, y + 12, label, "end"))
        parts.append(
            f'<rect x="{_LEFT}" y="{y}" width="{length:.1f}" height="15" fill="{_COLOURS.get(peer, _OTHER)}"/>'
        )
        parts.append(_text(_LEFT + length + 6, y + 12, f"{rate:,.0f}"))
    return _drawing("Requests a second (logarithmic scale)", parts, 30 + len(rows) * _ROW)


def latencies(results: Results) -> str:
    """Return bars of the site's p50 in milliseconds, one group for each page measured with several sizes."""
    pages: dict[str, list[tuple[int, float]]] = {}
    for contender, of in results.items():
        if contender.peer == SITE:
            pages.setdefault(contender.case.name, []).append((contender.articles, of.p50))
    rows = [(page, *size) for page, sizes in pages.items() if len(sizes) > 1 for size in sorted(sizes)]
    most = max((p50 for _, _, p50 in rows), default=1.0)
    parts = []
    for n, (page, articles, p50) in enumerate(rows):
        y, length = 30 + n * _ROW, _WIDTH * p50 / most
        parts.append(_text(_LEFT - 8, y + 12, f"{page}{_size(articles)}", "end"))
        parts.append(f'<rect x="{_LEFT}" y="{y}" width="{length:.1f}" height="15" fill="{_COLOURS[SITE]}"/>')
        parts.append(_text(_LEFT + length + 6, y + 12, f"{p50:.1f} ms"))
    return _drawing("Median latency with 16 connections, by the number of articles", parts, 30 + len(rows) * _ROW)


def _size(articles: int) -> str:
    return f" ({articles:,})" if articles else ""


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'


def _drawing(title: str, parts: Sequence[str], height: int) -> str:
    box = f"0 0 {_LEFT + _WIDTH + _RIGHT} {height + 10}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" font-family="sans-serif" font-size="12">'
    ground = '<rect width="100%" height="100%" fill="#fff"/>'
    return "\n".join([head, ground, _text(8, 18, title), *parts, "</svg>", ""])
