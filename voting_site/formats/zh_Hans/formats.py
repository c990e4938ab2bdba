"""Numbers in groups of three: 12,345,678. Django does not group them in Chinese."""

THOUSAND_SEPARATOR = ","
NUMBER_GROUPING = 3
