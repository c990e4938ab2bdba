"""Parts of addresses. Importing this makes them known to `path()`."""

from django.urls import register_converter


class ArticleIdConverter:
    """An article's id in its one spelling: no sign, no leading zero, ASCII digits."""

    regex = "[1-9][0-9]{0,14}"

    def to_python(self, value: str) -> int:
        return int(value)

    def to_url(self, value: int) -> str:
        return str(value)


register_converter(ArticleIdConverter, "article_id")
