"""Webhooks: send what happens on the site to other programs, in the format they expect."""
