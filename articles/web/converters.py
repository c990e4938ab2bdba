"""Parts of addresses. Importing this makes them known to `path()`."""

from django.urls import register_converter
from django.urls.converters import StringConverter

from articles.domain.lists import Span


class ArticleIdConverter:
    """An article's id in its one spelling: no sign, no leading zero, ASCII digits."""

    regex = "[1-9][0-9]{0,14}"

    def to_python(self, value: str) -> int:
        return int(value)

    def to_url(self, value: int) -> str:
        return str(value)


class FeedListConverter(StringConverter):
    """A list of the whole site that has a feed."""

    regex = "front|newest|hot"


class FeedSpanConverter(StringConverter):
    """How far back a feed of the most points goes."""

    regex = "|".join(Span)


class FeedKindConverter(StringConverter):
    """The end of a feed's address: what it is written as."""

    regex = "atom|rss"


register_converter(ArticleIdConverter, "article_id")
register_converter(FeedListConverter, "feed_list")
register_converter(FeedSpanConverter, "feed_span")
register_converter(FeedKindConverter, "feed_kind")
