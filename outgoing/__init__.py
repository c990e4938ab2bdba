"""Requests to other servers, fenced: public addresses only, bounded in time, size and number."""
