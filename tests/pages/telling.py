"""Every address of the site, and all that the answers tell."""

import re
from urllib.parse import quote

from django.test import Client
from django.urls import Resolver404, resolve

from articles.api.documentation import document
from tests.routes import SAMPLES, routes

ABSENT = {"article_id": "77", "comment_id": "77000001", "number": "77", "object_id": "77"}
ABSENT |= {"slug": "nothing", "slugs": "nothing", "name": "nobody", "host": "nothing.example"}
METHODS = ("GET", "HEAD", "POST", "PUT", "OPTIONS")
FIELDS = {"choice": "vote", "follow": "follow", "text": "typed", "title": "typed", "next": "/newest/"}


def addresses(values):
    """Return all addresses with these values, feeds in each format, and some that no page has."""
    kinds = [{"kind": kind} for kind in ("atom", "rss", "json")]
    paths = {route.path(**values, **kind) for route in routes() for kind in kinds}
    of_api = {template.format_map(_Values(values)) for template in document()["paths"]}
    return sorted(paths | of_api | {"/nothing-here/", "/articles/", f"/articles/{values['article_id']}"})


class _Values(dict):
    def __missing__(self, name):
        return SAMPLES.get(name, "x")


def view_at(path):
    try:
        return resolve(path)
    except Resolver404:
        return None


def asked(path, method="GET", browser=None, **headers):
    """Return everything that the answer tells, without the address itself and the tokens of forms."""
    data = FIELDS if method == "POST" and not path.startswith("/api/") else None
    answer = getattr(browser or Client(), method.lower())(path, data, headers=headers)
    told = f"{answer.status_code} {sorted(answer.headers.items())} {'' if answer.streaming else answer.text}"
    for part in filter(None, path.split("/")):
        told = told.replace(f"/{part}", "/PART").replace(f"%2F{quote(part, safe='')}", "%2FPART")
    told = re.sub(r'((?:csrfmiddlewaretoken|typed)" value="|article[=-]|comment[=-])[\w:.-]+', r"\1", told)
    return re.sub(r"'(Content-Length|Expires)', '[^']*'", "", told)
