"""Redirects from a name that leads elsewhere for now.

A merged group's slug can be created again, and an operator can change how a member's name is spelled: no browser
may keep such a redirect, as it does a permanent one.
"""

from django.http import HttpResponse, HttpResponseRedirect
from django.utils.cache import patch_cache_control


def moved(path: str, query: str = "") -> HttpResponse:
    """Return a redirect that is asked for each time; `query` without its question mark."""
    response = HttpResponseRedirect(f"{path}?{query}" if query else path)
    patch_cache_control(response, private=True, no_cache=True)
    return response
