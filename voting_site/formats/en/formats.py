"""Dates and times such as 22 Nov 2026, 00:14 UTC+0000.

Django's own "12:14 a.m." would end a sentence with two full stops, and its "midnight" does not say which day.
"""

DATE_FORMAT = "j M Y"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = r"j M Y, H:i \U\T\CO"
SHORT_DATE_FORMAT = DATE_FORMAT
SHORT_DATETIME_FORMAT = DATETIME_FORMAT
