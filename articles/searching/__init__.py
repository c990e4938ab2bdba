"""The language side of search: the words of an article, queries, and the marking of matches in a text."""

from articles.searching.marking import first_match, marked_parts
from articles.searching.query import MOST_CHARACTERS, Query, Term, read_query
from articles.searching.words import WORDS_VERSION, words_of, words_of_comment

__all__ = [
    "MOST_CHARACTERS",
    "WORDS_VERSION",
    "Query",
    "Term",
    "first_match",
    "marked_parts",
    "read_query",
    "words_of",
    "words_of_comment",
]
