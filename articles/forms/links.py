"""The one place where posted links are checked, for pages and programs: an article's link, and links in texts."""

from django.conf import settings

from articles.formatting.values import as_shown
from articles.site import find_block
from articles.text.lines import InvalidInput
from articles.text.links import clean_posted_link
from articles.text.markdown import links_in, render


def clean_article_link(raw: str, *, current: str = "") -> str:
    """Return the link as stored. `current`: the link of an edited article, which may stay.

    Raises InvalidInput, including with "link-private", and with "link-blocked" if an administrator blocked its
    host.
    """
    link = clean_posted_link(raw, current=current, allow_private=settings.ALLOW_PRIVATE_LINKS)
    if link != current:
        _refuse_blocked(link)
    return link


def check_links(text: str, *, current: str = "") -> str:
    """Return a clean text in Markdown. `current`: the text that is edited, whose links may stay.

    Raises InvalidInput with "link-blocked" if a link leads to a host that an administrator blocked.
    """
    if links := _links_of(text):
        known = set(_links_of(current))
        for link in links:
            if link not in known:
                _refuse_blocked(link)
    return text


def _links_of(text: str) -> list[str]:
    return links_in(render(text, private_links=settings.ALLOW_PRIVATE_LINKS))


def _refuse_blocked(link: str) -> None:
    """Raise InvalidInput if the clean link leads to a blocked host."""
    if block := find_block(link):
        host, reason = block
        raise InvalidInput("link-blocked", host=host, reason=as_shown(reason))
