"""What operators see of the site: metrics, outages, and how long requests wait for a thread."""

ARRIVED_AT = "site.arrived_at"
"""Variable of the WSGI environment: when the request began to wait for a thread, by the monotonic clock."""
