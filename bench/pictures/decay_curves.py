"""Draw docs/decay.svg: the decay of an article's hotness for several values of γ. Run by `make docs`."""

from math import log10
from pathlib import Path

from articles.domain.ranking import Parameters, hotness

TARGET = Path(__file__).parents[2] / "docs" / "decay.svg"

GAMMAS = (1.0, 1.3, 1.5, 1.8, 2.5)
COLOURS = ("#2c5a8c", "#20683b", "#a83216", "#6a5f78", "#7a5c00")
DASHES = ("6 3", "2 2", "", "8 3 2 3", "1 3")
HOURS, WIDTH, HEIGHT, LEFT, TOP = 72, 640, 320, 64, 16
DECADES = 4  # from 100 % down to 0.01 %


def share(gamma: float, hours: float) -> float:
    """Return the share of the initial hotness that is left after `hours`."""
    parameters = Parameters(gamma=gamma)
    return hotness(100, 50, hours, parameters) / hotness(100, 50, 0, parameters)


def place(hours: float, left: float) -> tuple[float, float]:
    return LEFT + hours / HOURS * WIDTH, TOP - log10(left) / DECADES * HEIGHT


def curve(gamma: float, colour: str, dash: str) -> str:
    moments = [(n / 200) ** 2 * HOURS for n in range(201)]  # denser where the curve is steeper
    points = " ".join("{:.1f},{:.1f}".format(*place(hours, share(gamma, hours))) for hours in moments)
    pen = f'stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"'
    return f'<polyline points="{points}" fill="none" {pen}/>'


def legend(row: int, gamma: float, colour: str, dash: str) -> str:
    x, y = LEFT + WIDTH - 130, TOP + 20 + 22 * row
    return (
        f'<path d="M{x} {y}h36" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
        f'<text x="{x + 44}" y="{y + 5}">γ = {gamma:g}</text>'
    )


def axes() -> str:
    parts = []
    for percent in (0.01, 0.1, 1, 10, 100):
        _, y = place(0, percent / 100)
        parts.append(f'<path d="M{LEFT} {y}h{WIDTH}" stroke="#999" stroke-opacity=".35"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 5}" text-anchor="end">{percent:g} %</text>')
    for hours in range(0, HOURS + 1, 12):
        x, y = LEFT + hours / HOURS * WIDTH, TOP + HEIGHT
        parts.append(f'<text x="{x}" y="{y + 22}" text-anchor="middle">{hours} h</text>')
    return "".join(parts)


def drawing() -> str:
    styles = list(zip(GAMMAS, COLOURS, DASHES, strict=True))
    parts = [axes(), *(curve(*style) for style in styles), *(legend(n, *s) for n, s in enumerate(styles))]
    box = f"0 0 {LEFT + WIDTH + 24} {TOP + HEIGHT + 36}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" font-family="sans-serif" font-size="14">'
    ground = '<rect width="100%" height="100%" fill="#fff"/>'
    return "\n".join([head, ground, *parts, "</svg>", ""])


if __name__ == "__main__":
    TARGET.write_text(drawing(), "utf-8")
