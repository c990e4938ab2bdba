"""Scripts that run and whose answers are lost: what the caller does next, and a second call, do no harm."""

import pytest
import redis

from articles.domain import Actor
from articles.errors import EditingClosed, StoreUnavailable
from articles.repository import Repository, connect, scripts
from tests.repository.test_races import interleaved
from tests.repository.usage import ALICE, BOB, MODERATOR, link, post, problems

ALICES = Actor(ALICE, "user1")


class Deaf(redis.Redis):
    """Lets the store run a certain script, and loses its answer, once."""

    script = ""

    def evalsha(self, sha, numkeys, *keys_and_args):
        reply = super().evalsha(sha, numkeys, *keys_and_args)
        if self.script and sha == scripts.digest(self.script):
            self.script = ""
            raise redis.TimeoutError("no answer")
        return reply


def deaf_to(repository: Repository, script: str) -> Repository:
    """The same store, for another process that loses the first answer of this script."""
    client = Deaf(connection_pool=repository.store.client.connection_pool)
    client.script = script
    return connect(client, shards=repository.store.shards.count, clock=repository.store.now)


def test_an_edit_whose_answer_is_lost_keeps_the_claim_of_its_new_link(real_repository):
    repository = real_repository
    article_id = post(repository, 1)

    with pytest.raises(StoreUnavailable):
        deaf_to(repository, "edit").articles.edit(article_id, ALICES, "New", link(2), moderator=False)

    assert repository.articles.get(article_id).link == link(2)
    assert post(repository, 2, poster=BOB) == article_id
    repository.articles.edit(article_id, ALICES, "New", link(2), moderator=False)
    assert len(repository.moderation_log.page().entries) == 1
    assert problems(repository) == []


def test_an_article_whose_answer_is_lost_is_found_when_it_is_posted_again(real_repository):
    repository = real_repository

    with pytest.raises(StoreUnavailable):
        post(deaf_to(repository, "post"), 1)
    posted = repository.articles.post(ALICE, "user1", "Article 1", link(1))

    assert not posted.is_new
    assert [article.id for article in repository.members.posted(ALICE).articles] == [posted.id]
    assert problems(repository) == []


def test_a_refused_edit_keeps_the_link_that_another_edit_gave_the_article_meanwhile(real_repository, clock):
    repository = real_repository
    article_id = post(repository, 1)
    clock.advance(repository.rules.edit_window + 1)

    def edit_first() -> None:
        repository.articles.edit(article_id, MODERATOR, "Better", link(2), moderator=True)

    late = interleaved(repository, "edit", edit_first)
    with pytest.raises(EditingClosed):
        late.articles.edit(article_id, ALICES, "Mine", link(2), moderator=False)

    assert post(repository, 2, poster=BOB) == article_id
