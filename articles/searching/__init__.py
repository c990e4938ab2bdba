"""How texts become words that can be found, what a reader asks for, and where an answer shows it."""

from articles.searching.marking import marked_parts
from articles.searching.query import MOST_CHARACTERS, Query, Term, read_query
from articles.searching.words import WORDS_VERSION, words_of

__all__ = ["MOST_CHARACTERS", "WORDS_VERSION", "Query", "Term", "marked_parts", "read_query", "words_of"]
