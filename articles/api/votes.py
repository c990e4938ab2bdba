"""Cast a vote."""

from django.http import HttpRequest

from articles.api import schemas
from articles.api.protocol.operations import VOTERS, ArticleNumber, failing, router
from articles.web import votes


@router.put("articles/{article_id:article_id}/vote", response=failing(409), auth=VOTERS)
def cast_vote(request: HttpRequest, article_id: ArticleNumber, new: schemas.NewChoice) -> schemas.Tally:
    """Vote, oppose, or take it back. Sets your choice on an article. Idempotent."""
    return schemas.Tally.of(article_id, votes.cast(request, request.user, article_id, new.choice))
