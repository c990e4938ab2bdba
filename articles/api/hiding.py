"""What the member hides."""

from django.http import HttpRequest
from pydantic import BaseModel, Field

from articles.api import schemas
from articles.api.protocol.operations import MEMBERS, SAVERS, failing, router
from articles.text.searching import Hiding, Kind
from articles.web import hiding
from articles.web.identity import actor, names_of
from articles.web.preferences import preferences_of


class HiddenThings(BaseModel):
    """What you hide from your lists."""

    groups: list[str]
    members: list[str] = Field(description="Names of the members whom you block.")
    hosts: list[str] = Field(examples=[["example.org", "github.com/name"]])
    words: list[str] = Field(description="Words in titles, or several in a row.", examples=[["C++"]])
    articles: list[int] = Field(description="Ids, the last hidden one at the end.")

    @classmethod
    def of(cls, found: Hiding) -> "HiddenThings":
        members = sorted(names_of(found.members).values(), key=str.casefold) if found.members else []
        return schemas.made(cls, found, members=members)


class HidingChange(schemas.Model):
    """Something to hide, or to show again."""

    kind: Kind = Field(examples=["host"])
    value: str = Field(max_length=1000, examples=["example.org"])
    """The name of a group or member, a host, a word, or the id of an article."""

    hidden: bool = Field(examples=[True])


@router.get("me/hidden", auth=MEMBERS)
def list_hidden(request: HttpRequest) -> HiddenThings:
    """What you hide. Your lists, searches and private feed leave it out. Only you can see this."""
    return HiddenThings.of(preferences_of(request).hiding)


@router.put("me/hidden", response=failing(404, 409), auth=SAVERS)
def change_hidden(request: HttpRequest, wanted: HidingChange) -> HiddenThings:
    """Hide something, or show it again.

    At most 50 groups, 500 members, 100 hosts and 50 words; beyond 500 articles, a new one replaces the oldest.
    Idempotent. The response has all that you then hide.
    """
    found = hiding.change(actor(request).id, wanted.kind, wanted.value, hidden=wanted.hidden)
    return HiddenThings.of(found)
