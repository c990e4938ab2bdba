"""The language side of search: tokens, queries, and the marking of matches in a text."""

from articles.text.searching.hiding import (
    MOST,
    NOTHING,
    Hiding,
    Kind,
    clean_hidden_host,
    clean_word,
    kind_and_value,
)
from articles.text.searching.marking import first_match, marked_parts
from articles.text.searching.query import (
    MOST_CHARACTERS,
    Between,
    Clause,
    Named,
    Query,
    Words,
    clean_home,
    groups_named,
    of_host,
    read_query,
)
from articles.text.searching.tokens import (
    fold,
    language_of,
    stem,
    stems_in,
    stems_of,
    tokens_of,
    words_of_host,
)
