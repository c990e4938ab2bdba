"""Times with their zone, and digits in groups of three, as in 12,345,678. Django's own have neither."""

DATETIME_FORMAT = r"Y年n月j日 H:i \U\T\CO"
SHORT_DATETIME_FORMAT = DATETIME_FORMAT
THOUSAND_SEPARATOR = ","
NUMBER_GROUPING = 3
