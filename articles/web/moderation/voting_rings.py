"""Whose votes are noted for voting rings, and what is logged of a ring."""

import logging
from typing import Any

from django.http import HttpRequest

from articles.domain.articles import ArticleId, Tally
from articles.operation import metrics
from articles.web.client_address import neighbourhood
from articles.web.identity import address_of, network_of
from articles.wiring import repository

_log = logging.getLogger(__package__)


def network_of_new_account(request: HttpRequest, member: Any) -> str:
    """Return the digest of the network from which a new account votes.

    Returns "" for other accounts, for a client without an address, and if voting rings are not looked for.
    """
    rules, joined_at = repository().rules, member.date_joined.timestamp()
    is_new = repository().store.now() - joined_at < rules.new_account
    return network_of(request, neighbourhood) if is_new and rules.ring_accounts and address_of(request) else ""


def noted(article_id: ArticleId, tally: Tally) -> Tally:
    """Return the result of a vote; count and log the voting ring that it completed, if it did."""
    if tally.ring_accounts:
        metrics.count_voting_ring()
        _log.warning("voting ring: article=%d accounts=%d", article_id, tally.ring_accounts)
    return tally
