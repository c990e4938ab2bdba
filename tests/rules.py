"""The rules that tests run with: the defaults of the configuration, each defined only there."""

import os
from dataclasses import replace
from functools import partial
from typing import Any

from articles.domain.limits import rates
from articles.domain.rules import Rules
from articles.repository import connect as connect_with_rules
from articles.text.kept_html import KeptHtml
from articles.web import wiring
from tests.topologies import of_this_run
from voting_site.configuration.variables import defaults

SEED = int(os.environ.get("FUZZ_SEED") or 20250101)  # of what tests try at random


def default_rules(**changes: Any) -> Rules:
    """Return the rules of a site without settings, limits and ballot records, except for these changes."""
    return replace(wiring.rules(defaults()), **{"limits": {}, "records_ballots": False} | changes)


RATES = rates()  # the default rate limits, by name


connect = partial(
    connect_with_rules,
    rules=default_rules(),
    kept_html=KeptHtml("a secret", private_links=False),
    shards=of_this_run.FEWEST_SHARDS,
)
"""`articles.repository.connect` with default rules and one shard (16 on a cluster), unless others are given."""
