"""Arrival times of requests: the time for which they wait for a thread counts as waiting, too."""

ARRIVED_AT = "site.arrived_at"
"""Variable of the WSGI environment: when the request began to wait for a thread, by the monotonic clock."""
