"""Comments on articles: posting, reading, votes and moderation."""

from articles.repository.comments.comments import Comments
