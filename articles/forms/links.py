"""The one place where the link of an article is checked, for pages and programs."""

from django.conf import settings

from articles.site.hosts import find_block
from articles.text.lines import InvalidInput
from articles.text.private_hosts import clean_posted_link


def clean_article_link(raw: str, *, current: str = "") -> str:
    """Return the link as stored. `current`: the link of an edited article, which may stay.

    Raises InvalidInput, also with "link-private", and with "link-blocked" if an administrator blocked its host.
    """
    link = clean_posted_link(raw, current=current, allow_private=settings.ALLOW_PRIVATE_LINKS)
    if link != current and (block := find_block(link)):
        host, reason = block
        raise InvalidInput("link-blocked", host=host, reason=reason)
    return link
