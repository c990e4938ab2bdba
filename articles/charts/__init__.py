"""The geometry of charts, which `templates/charts.html` draws. Standard library only.

Callers pass functions that make the labels in the reader's language (`views/chart_labels.py`).
"""

from articles.charts.bars import Series, stacked_bars
from articles.charts.curves import decay_curve
from articles.charts.history import History, Sample, history
from articles.charts.shapes import Bar, Chart, Line, Point, Tick

__all__ = [
    "Bar",
    "Chart",
    "History",
    "Line",
    "Point",
    "Sample",
    "Series",
    "Tick",
    "decay_curve",
    "history",
    "stacked_bars",
]
