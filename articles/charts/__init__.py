"""The geometry of charts, which `templates/charts.html` draws. Standard library only.

Callers pass functions that make the labels in the reader's language (`views/chart_labels.py`).
"""
