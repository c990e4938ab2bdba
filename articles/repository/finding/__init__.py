"""Finding articles and comments by what a reader types: a search index (Tantivy) that follows the store.

Each web node has its own index in its data directory. It is a copy that can be deleted at any time.
"""

from articles.repository.finding.finder import MOST_FOUND, Finder, SearchIncompleteError
from articles.repository.finding.follower import Follower
from articles.repository.finding.index import ARTICLES, COMMENTS, Index, IndexFolder
