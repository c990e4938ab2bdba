"""Known sites where several addresses lead to the same page."""

import re
from collections.abc import Sequence

_YOUTUBE = ("youtube.com", "m.youtube.com")
_SHORT_YOUTUBE = "youtu.be"
_VIDEO = re.compile(r"/(?:shorts/|live/)?(?P<id>[A-Za-z0-9_-]+)")
_VIDEO_PARAMETER = re.compile(r"v=(?P<id>[A-Za-z0-9_-]+)")

_ARXIV = "arxiv.org"
_PAPER = re.compile(  # identifiers since 2007 and before: https://info.arxiv.org/help/arxiv_identifier.html
    r"/(?:abs|pdf|html)/(?P<id>[0-9]{4}\.[0-9]{4,5}|[a-z-]+(?:\.[A-Z]{2})?/[0-9]{7})(?:v[0-9]+)?(?:\.pdf)?"
)


def page_of(host: str, path: str, parameters: Sequence[str]) -> str | None:
    """Return the canonical page of a link to a known site, without scheme; None for any other link.

    A YouTube video is the same page in its player, as a short and under its short address, whatever the other
    parameters, such as the start time. An arXiv paper is the same page as abstract and as full text, in all
    versions: a link without a version leads to the newest one, and readers discuss the paper.
    """
    if host == _SHORT_YOUTUBE or (host in _YOUTUBE and path.startswith(("/shorts/", "/live/"))):
        video = _VIDEO.fullmatch(path)
    elif host in _YOUTUBE and path == "/watch":
        video = next(filter(None, map(_VIDEO_PARAMETER.fullmatch, parameters)), None)
    else:
        paper = _PAPER.fullmatch(path) if host == _ARXIV else None
        return f"{_ARXIV}/abs/{paper['id']}" if paper else None
    return f"{_YOUTUBE[0]}/watch?v={video['id']}" if video else None
