"""Temporary redirects from the name of a group or member.

A merged group's slug can be created again, and an operator can change the spelling of a member's name. Browsers
must therefore not store such a redirect, as they do with permanent ones.
"""

from django.http import HttpResponse, HttpResponseRedirect
from django.utils.cache import patch_cache_control


def moved(path: str, query: str = "") -> HttpResponse:
    """Return a redirect that clients revalidate each time; `query` is without its question mark."""
    response = HttpResponseRedirect(f"{path}?{query}" if query else path)
    patch_cache_control(response, private=True, no_cache=True)
    return response
