"""Old addresses: where what a source had is now, for requests, for nginx and for crawlers.

A request costs nothing here unless the site would answer 404, or it is for a host of OLD_HOSTS.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, islice
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, urlsplit

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.db.models import FilteredRelation, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotFound, HttpResponsePermanentRedirect
from django.http.request import validate_host
from django.utils.cache import patch_cache_control
from django.utils.translation import gettext as _

from accounts.models import User
from articles.configuration.choices import chosen, site_address
from articles.web.addresses import path_of
from articles.web.extras import sitemaps
from extras.moving_in.models import OLD_ID_LIMIT, Arrival, Kind, Source
from extras.moving_in.sources import FORMATS, Format, OldAddress, format_of

KEPT_SECONDS = 3600
"""For which a redirect may be kept: without a limit browsers keep one for good, also one that was wrong."""

_LONGEST, _MOST_PARAMETERS = 1_000, 8  # characters of an address, and parameters of its query, that are read
_BATCH = 5_000
_PLAIN = "text/plain; charset=utf-8"
_OWN_PATHS = ("/healthz", "/readyz", "/metrics", "/.well-known/acme-challenge/")
"""What monitoring and certificates need of each host."""


class _Match(NamedTuple):
    """What an address may be, as the pattern of a format reads it."""

    format: str
    kind: str
    old_id: str
    feed: str = ""


@cache
def _formats() -> dict[str, Format]:
    return {name: format_of(name) for name in FORMATS}


def _spellings(path: str, query: str) -> list[str]:
    """Return the address as patterns may have it: whole, with one parameter of its query, and without one."""
    bare = path.rstrip("/")
    paths = [path, bare, f"{bare}/"]
    pairs = parse_qsl(query, keep_blank_values=True)[:_MOST_PARAMETERS] if query else []
    whole = [f"{one}?{query}" for one in paths] if query else []
    alone = [f"{bare}?{name}={value.strip()}" for name, value in pairs]
    return [text for text in dict.fromkeys((*whole, *alone, *paths)) if text and "\0" not in text]


def _matches(spelled: Sequence[str]) -> list[_Match]:
    found = []
    for name, one in _formats().items():
        for text in spelled:
            for address in one.addresses:
                match = address.pattern.fullmatch(text)
                old_id = next(filter(None, match.groups()), "") if match else ""
                if 0 < len(old_id) <= OLD_ID_LIMIT:
                    found.append(_Match(name, address.kind, old_id, address.feed))
    return list(dict.fromkeys(found))


class Found(NamedTuple):
    """Where an old address leads: a path of this site; "" for what did not come, from `place`."""

    path: str
    place: str
    is_like_here: bool = False


def find(path: str, query: str = "", host: str = "") -> Found | None:
    """Look an old address up; None if no source had such addresses. One query, and one more for a member's name.

    Of several sources, that of the host wins, and then the one that came first.
    """
    if len(path) + len(query) > _LONGEST:
        return None
    spelled = _spellings(path, query)
    matches, lists = _matches(spelled), _lists(spelled)
    paths = [_Match("", Kind.PATH, text) for text in spelled if len(text) <= OLD_ID_LIMIT]
    if not matches and not paths:
        return None
    kinds = {one.kind for one in (*matches, *paths)}
    ids = {old_id for one in (*matches, *paths) for old_id in (*_ids(one.old_id), *_ids(one.old_id.split("@")[0]))}
    known = Q(arrivals__kind__in=kinds, arrivals__old_id__in=ids)
    sources = Source.objects.annotate(found=FilteredRelation("arrivals", condition=known)).order_by("pk")
    rows = list(sources.values_list("name", "format", "host", "found__kind", "found__old_id", "found__new_id"))
    rows = sorted(
        (row for row in rows if row[2] == host or not _is_like_here(row[1])), key=lambda row: row[2] != host
    )
    here = {(row[0], row[3], row[4]): row[5] for row in rows}
    for name, form, place, *_rest in rows:
        own = [one for one in matches if one.format == form]
        for one in (*own, *paths):
            for old_id in _ids(one.old_id.removesuffix(f"@{place}")):
                new_id = here.get((name, one.kind, old_id))
                if new_id and (target := _target(one.kind, new_id, one.feed)):
                    return Found(target, name)
        if form in lists and not own:
            return Found(lists[form], name)
    expected = {one.format for one in matches}
    gone = (Found("", row[2] or row[0], _is_like_here(row[1])) for row in rows if row[1] in expected)
    return next(gone, None)


def _is_like_here(name: str) -> bool:
    return name in _formats() and _formats()[name].is_like_here


def _ids(old_id: str) -> tuple[str, str]:
    """Return an id as it is written, and as `Staging.finish` lets it be known as well."""
    return old_id, old_id.lower()


def _lists(spelled: Sequence[str]) -> dict[str, str]:
    """Return where the address leads if it is that of a list, or of a part of one, by format."""
    parts = [text for text in spelled if "?" not in text]
    while parts and (whole := parts[-1]):
        parts.append(whole.removesuffix(".json") if whole.endswith(".json") else whole.rpartition("/")[0])
    found = {name: [one.lists[text] for text in parts if text in one.lists] for name, one in _formats().items()}
    return {name: paths[0] for name, paths in found.items() if paths}


def _target(kind: str, new_id: str, feed: str = "", name: str = "") -> str:
    """Return a path here; "" for a member who has left. `name`: the member's, if it is known."""
    if kind == Kind.PATH:
        kind, _space, new_id = new_id.partition(" ")
    if kind == Kind.MEMBER:
        members = User.objects.filter(pk=int(new_id), left_at=None)
        name = name or members.values_list("username", flat=True).first() or ""
        if not name:
            return ""
        return path_of("articles:user_feed", name, feed) if feed else path_of("articles:profile", name)
    if kind == Kind.GROUP:
        return path_of("articles:group_feed", new_id, feed) if feed else path_of("articles:group", new_id)
    if kind == Kind.COMMENT:
        return path_of("articles:comment", int(new_id))
    if feed:
        return path_of("articles:article_comments_feed", int(new_id), feed)
    return path_of("articles:article", int(new_id))


def _moved(place: str) -> HttpResponse:
    response = HttpResponsePermanentRedirect(place)
    patch_cache_control(response, public=True, max_age=KEPT_SECONDS)
    return response


def find_unknown(request: HttpRequest) -> HttpResponse | str:
    """Lead from an old address to what it was of; say of others that they did not come."""
    try:
        found = find(request.path_info, request.META.get("QUERY_STRING", ""), request.get_host())
    except (OperationalError, InterfaceError):
        return ""
    if found and found.path not in ("", request.path_info):
        return _moved(found.path)
    return _not_here(found) if found else ""


def _not_here(found: Found) -> str:
    return _("This was at %(site)s before. It did not move here.") % {"site": found.place}


# Former hosts


def answer_for_host(request: HttpRequest, host: str) -> HttpResponse | None:
    """Lead from a former host to this site: by the table, or else to the same path."""
    public = urlsplit(settings.SITE_URL).hostname
    if not public or host == public or not validate_host(host, settings.OLD_HOSTS):
        return None
    path, query = request.path_info, request.META.get("QUERY_STRING", "")
    if path.startswith(_OWN_PATHS):
        return None
    if path == "/robots.txt":
        lines = [
            "User-agent: *",
            "Disallow:",
            "",
            *(f"Sitemap: {site_address(request)}{one}" for one in sitemaps()),
        ]
        return HttpResponse("\n".join([*lines, ""]), content_type="text/plain; charset=utf-8")
    found = None
    if not chosen.is_for_members:  # others learn the addresses only after the login, from the page of 404
        try:
            found = find(path, query, host)
        except (OperationalError, InterfaceError):
            found = None  # the site says so
    if found and found.is_like_here and not found.path:  # the same path here is of something else
        return HttpResponseNotFound(_not_here(found), content_type=_PLAIN)
    whole = f"{quote(path, safe='/:@!$&()*+,;=~')}{'?' if query else ''}{query}"
    return _moved(site_address(request) + (found.path if found and found.path else f"/{whole.lstrip('/')}"))


# All of them


def _named(rows: "QuerySet[Arrival]") -> Iterator[tuple[Arrival, str]]:
    """Yield arrivals, each with the name of the member that it is; without members who have left."""
    numbers = rows.order_by("pk").iterator(_BATCH)
    while batch := list(islice(numbers, _BATCH)):
        ids = [int(row.new_id) for row in batch if row.kind == Kind.MEMBER]
        names = dict(User.objects.filter(pk__in=ids, left_at=None).values_list("pk", "username"))
        for row in batch:
            name = names.get(int(row.new_id), "") if row.kind == Kind.MEMBER else ""
            if name or row.kind != Kind.MEMBER:
                yield row, name


_SKIPPED = re.compile(r"\(\?:(?:[^()]|\([^()]*\))*\)\?|\(\?[!=](?:[^()]|\([^()]*\))*\)|[^)\]]\?$")
_CHOICE = re.compile(r"\(\?:([^()|]*)\|[^()]*\)")
_ID = re.compile(r"\((?!\?)(?:[^()\\]|\\.|\(\?[^()]*\))*\)")
_ANY = re.compile(r"(?:\\w|\[\^[^]]*\])[+*]")
_ESCAPED, _UNWRITABLE = re.compile(r"\\([^\w])"), re.compile(r"[\[\](){}*+?|^$.\\]")


def written(address: OldAddress, old_id: str) -> str:
    """Return an address that the pattern reads as this id, with `_` for others; "" if that cannot be told."""
    text = _SKIPPED.sub("", _SKIPPED.sub("", address.pattern.pattern))
    before, *after = (_ANY.sub("_", part) for part in _ID.split(_CHOICE.sub(r"\1", text)))
    if len(after) != 1 or _UNWRITABLE.search(_ESCAPED.sub("", before + after[0])):
        return ""
    text = _ESCAPED.sub(r"\1", before) + old_id + _ESCAPED.sub(r"\1", after[0])
    match = address.pattern.fullmatch(text)
    return text if match and match[1] == old_id else ""


def _as_sent(address: str) -> str:
    """Return an address as browsers send it."""
    path, mark, query = address.partition("?")
    return quote(path, safe="/:@!$&()*+,;=~") + mark + quote(query, safe="/:@!$&()*+,;=?~%")


def old_addresses(first: int, last: int, site: str) -> Iterator[str]:
    """Yield the whole old addresses of arrivals with these numbers, of hosts that lead here, for crawlers.

    `site`: this one's, for sources without a host.
    """
    scheme, _separator, own = site.partition("://")
    rows = Arrival.objects.filter(pk__gte=first, pk__lte=last).select_related("source")
    for row in rows.order_by("pk").iterator(_BATCH):
        host, form = row.source.host or own, _formats().get(row.source.format)
        if (
            form is None
            or (form.is_like_here and host == own)
            or not validate_host(host, [own, *settings.OLD_HOSTS])
        ):
            continue
        texts = (written(one, row.old_id) for one in form.addresses if one.kind == row.kind and not one.feed)
        text = row.old_id if row.kind == Kind.PATH else min(filter(None, texts), key=len, default="")
        if text:
            yield f"{scheme}://{host}{_as_sent(text)}"


def nginx_map(sources: Collection[Source]) -> Iterator[str]:
    """Yield the lines of a file for nginx, which leads from old addresses to new ones without asking the site.

    Patterns find the id, a hash finds the target: a regular expression for each thing would be tried in turn.
    """
    if len(sources) > 1:  # the map does not know the host
        sources = [one for one in sources if not _is_like_here(one.format)]
    rows = Arrival.objects.filter(source__in=[one.pk for one in sources]).select_related("source")
    forms = {name: _formats()[name] for name in dict.fromkeys(one.format for one in sources) if name in _formats()}
    every = [one.pattern.pattern for form in forms.values() for one in form.addresses]
    numbers = {pattern: number for number, pattern in enumerate(dict.fromkeys(every))}
    yield "# In http {}. In server {}: if ($moved_to) { return 301 https://YOUR.SITE$moved_to; }"
    yield f"map_hash_max_size {max(2048, 4 * rows.count())};"
    yield "map_hash_bucket_size 1024;"
    yield "map $request_uri $moved_from {"
    yield '  default "path $request_uri";'
    for pattern, number in numbers.items():
        yield f'  {_quoted(f"~^(?:{pattern})$")} "{number} $1";'
    yield "}\nmap $moved_from $moved_to {"
    yield '  default "";'
    known = set[str]()  # nginx compares without case; the source that came first wins
    for key, place in chain(_keys(rows, forms, numbers), _keys_of_lists(forms)):
        if key.lower() not in known:
            known.add(key.lower())
            yield f"  {_quoted(key)} {_quoted(place)};"
    yield "}"


def _keys(
    rows: "QuerySet[Arrival]", forms: Mapping[str, Format], numbers: Mapping[str, int]
) -> Iterator[tuple[str, str]]:
    for row, name in _named(rows):
        if row.kind == Kind.PATH:
            yield f"path {_as_sent(row.old_id)}", _target(row.kind, row.new_id)
        elif row.source.format in forms:
            for one in forms[row.source.format].addresses:
                if one.kind == row.kind:
                    place = _target(row.kind, row.new_id, one.feed, name)
                    yield f"{numbers[one.pattern.pattern]} {row.old_id}", place


def _keys_of_lists(forms: Mapping[str, Format]) -> Iterator[tuple[str, str]]:
    for form in forms.values():
        for path, place in form.lists.items():
            yield f"path {path}", place


def _quoted(text: str) -> str:
    return '"' + re.sub(r'(["]|\\(?=["\\trn]))', r"\\\1", text).replace("\n", "") + '"'


def describe_part(request: HttpRequest, number: int, size: int) -> Iterator[str]:
    """Yield the lines of a part of the sitemap of old addresses."""
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    for address in old_addresses((number - 1) * size + 1, number * size, site_address(request)):
        yield f"<url><loc>{address.replace('&', '&amp;')}</loc></url>"
    yield "</urlset>\n"
