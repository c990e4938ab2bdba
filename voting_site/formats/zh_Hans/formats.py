"""Group digits by three, as in 12,345,678. Django's formats for Chinese do not."""

THOUSAND_SEPARATOR = ","
NUMBER_GROUPING = 3
