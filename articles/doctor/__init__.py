"""The doctor: checks of an installation, for `manage.py doctor` and the top of the operator's page. Read-only.

`checks.py` has the table. A finding of a quick check that needs attention is shown on the page, so its texts are
translated; everything else is for the terminal, in English.
"""
