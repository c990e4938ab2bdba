"""Webhooks: programs are told what happens on the site, in the shape that they understand."""
