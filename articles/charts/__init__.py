"""Numbers become the geometry of charts, which `templates/charts.html` draws. Standard library only.

Labels are made by the functions passed in, so that they speak the reader's language (`views/chart_labels.py`).
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
