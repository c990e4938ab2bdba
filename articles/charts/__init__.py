"""The geometry of charts, which `templates/charts.html` draws. Standard library only.

Callers pass functions that make the labels in the reader's language (`views/chart_labels.py`).
"""

from articles.charts.history import History, Sample, history
from articles.charts.plots import Series, TimeLine, decay_curve, stacked_bars, time_lines
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
    "TimeLine",
    "decay_curve",
    "history",
    "stacked_bars",
    "time_lines",
]
