"""APIs of other software that the site also answers: what the rest of the site knows of them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from articles.domain import other_origins


class OtherApi(NamedTuple):
    """One such API. Its operations check their readers and take their limits themselves."""

    root: str  # how its addresses begin, below those of the site's own API
    is_on: Callable[[], bool]
    body_of: Callable[[str, str, str], Mapping[str, Any]]
    """Returns the JSON of a failure: by its code, its sentence, and the operation's word for codes without one."""

    software: tuple[str, str]  # name and version that NodeInfo tells while it is on: apps choose an API by them
    nodeinfo: Mapping[str, str]
    """Further addresses at which its programs ask for NodeInfo without looking where it is, with their schemas."""

    password_views: Sequence[str]  # names of its views that hash a password
    token_label: Any
    token_in_its_form: Callable[[Any, str, str], str]
    """Returns a new token as its apps take it, by the `Token`, its text and the host; the label names it."""


OTHER_APIS: list[OtherApi] = []


def register(api: OtherApi) -> None:
    """Add an API, when its app is ready."""
    OTHER_APIS.append(api)
    other_origins.OF_PROGRAMS.update(f"/{place}" for place in api.nodeinfo)


def api_at(path: str) -> OtherApi | None:
    """Return the API that an address belongs to, whether or not it is on."""
    return next((api for api in OTHER_APIS if path.startswith(api.root)), None)


def api_that_is_on() -> OtherApi | None:
    """Return the first API that is on; None for the site's own alone."""
    return next((api for api in OTHER_APIS if api.is_on()), None)
