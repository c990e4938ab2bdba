"""Path converters. Importing this module registers them."""

from django.urls import register_converter
from django.urls.converters import StringConverter

from articles.domain.lists import TOP_PERIODS


class ArticleIdConverter:
    """An article's id in its canonical spelling: ASCII digits, no sign, no leading zero."""

    regex = "[1-9][0-9]{0,14}"

    def to_python(self, value: str) -> int:
        return int(value)

    def to_url(self, value: int) -> str:
        return str(value)


class CommentIdConverter(ArticleIdConverter):
    """A comment's id, spelled like an article's. It has at least seven digits."""

    regex = "[1-9][0-9]{6,14}"


class FeedListConverter(StringConverter):
    """A list of all articles that has a feed."""

    regex = "front|newest|hot|active"


class FeedPeriodConverter(StringConverter):
    """Period of a feed of the articles with the most points."""

    regex = "|".join(TOP_PERIODS)


class FeedKindConverter(StringConverter):
    """Format of a feed, the suffix of its address."""

    regex = "atom|rss"


register_converter(ArticleIdConverter, "article_id")
register_converter(CommentIdConverter, "comment_id")
register_converter(FeedListConverter, "feed_list")
register_converter(FeedPeriodConverter, "feed_period")
register_converter(FeedKindConverter, "feed_kind")
