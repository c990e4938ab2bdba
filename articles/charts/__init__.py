"""The geometry of charts, which `templates/charts.html` draws. Standard library only.

Callers pass functions that make the labels in the reader's language (`views/chart_labels.py`).
"""

from articles.charts.bars import Series, stacked_bars
from articles.charts.curves import decay_curve
from articles.charts.history import History, Sample, history
from articles.charts.shapes import Bar, Chart, Line, Point, Tick
from articles.charts.time_lines import TimeLine, time_lines

__all__ = [
    "Bar",
    "Chart",
    "History",
    "Line",
    "Point",
    "Sample",
    "Series",
    "Tick",
    "TimeLine",
    "decay_curve",
    "history",
    "stacked_bars",
    "time_lines",
]
