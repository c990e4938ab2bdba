"""Read the blocked hosts, block a host, and unblock it."""

from django.http import HttpRequest
from django.utils.translation import gettext_noop
from pydantic import BaseModel, Field

from accounts.moderators import REMOVE_ARTICLES
from articles.api.protocol.auth import MODERATORS, require
from articles.api.protocol.operations import router
from articles.models import BlockedHost
from articles.text.lines import clean_reason
from articles.text.links import clean_host
from articles.web.identity import actor
from articles.web.moderation import hosts


class HostBlock(BaseModel):
    __doc__ = gettext_noop("A host whose links cannot be posted.")

    host: str
    reason: str = Field(description=gettext_noop("Members read it when they post a link."))


class HostBlocks(BaseModel):
    __doc__ = gettext_noop("All blocked hosts.")

    hosts: list[HostBlock]


class HostBlocking(BaseModel):
    __doc__ = gettext_noop("Whether to block a host, and why.")

    host: str = Field(
        description=gettext_noop("Such as example.org, or a link to it. Its subdomains are blocked, too."),
        examples=["spam.example"],
    )
    blocked: bool = Field(strict=True, description=gettext_noop("False unblocks it."), examples=[True])
    reason: str = Field(
        description=gettext_noop("Everyone can read it in the moderation log."), examples=["It sells pills."]
    )


@router.get(
    "blocked-hosts",
    summary=gettext_noop("Blocked hosts"),
    description=gettext_noop("Moderators only."),
    response=HostBlocks,
    auth=MODERATORS,
)
def list_blocked_hosts(request: HttpRequest) -> HostBlocks:
    require(request, REMOVE_ARTICLES)
    return HostBlocks(hosts=[HostBlock(host=one.host, reason=one.reason) for one in BlockedHost.objects.all()])


@router.put(
    "blocked-hosts",
    summary=gettext_noop("Block a host, or unblock it"),
    description=gettext_noop(
        "Moderators only. Idempotent; another reason replaces the first. The response has all blocked hosts."
    ),
    response=HostBlocks,
    auth=MODERATORS,
)
def block_host(request: HttpRequest, blocking: HostBlocking) -> HostBlocks:
    require(request, REMOVE_ARTICLES)
    change = hosts.block if blocking.blocked else hosts.unblock
    change(clean_host(blocking.host), clean_reason(blocking.reason), actor(request))
    return list_blocked_hosts(request)
