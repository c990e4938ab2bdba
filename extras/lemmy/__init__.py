"""Lemmy's HTTP API, version 3, for the apps that people have: another view of the same services.

It decides nothing: its operations call what the pages and the site's own API call. README.md says what of Lemmy
is mapped to what of the site, and what is refused.
"""
