"""Searching a store in a test, through an index that follows it."""

from typing import Any

from articles.domain.lists import SearchOrder
from articles.repository import Repository
from articles.repository.finding import Finder, Follower, Index
from articles.text.searching import read_query


class Search:
    """Searches a store with an index that follows it."""

    def __init__(self, repository: Repository, index: Index | None = None) -> None:
        self.repository, self.index = repository, index or Index()
        self.follower, self.finder = Follower(lambda: repository, self.index), Finder(self.index)

    def page(self, text: str, order: SearchOrder = SearchOrder.TIME, number: int = 1, **options: Any) -> Any:
        self.follower.catch_up()
        return self.finder.get_page(self.repository, read_query(text), order, number, **options)

    def __call__(self, text: str, *arguments: Any, **options: Any) -> list[int]:
        return [article.id for article in self.page(text, *arguments, **options).articles]

    def comments(self, text: str, number: int = 1, **options: Any) -> list[int]:
        self.follower.catch_up()
        page = self.finder.get_comments(self.repository, read_query(text), number, **options)
        return [comment.id for comment in page.comments]


def ids_found(repository: Repository, text: str) -> list[int]:
    """Return the ids of the articles that search finds, the newest first."""
    return Search(repository)(text)
