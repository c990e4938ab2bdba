"""Dates and times such as 22 Nov 2026, 00:14.

Django's own "12:14 a.m." would end a sentence with two full stops, and its "midnight" does not say which day.
"""

DATE_FORMAT = "j M Y"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = "j M Y, H:i"
SHORT_DATE_FORMAT = DATE_FORMAT
SHORT_DATETIME_FORMAT = DATETIME_FORMAT
