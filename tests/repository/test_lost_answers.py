"""Changes that fail midway: because the reply is lost after the script ran, or because data is damaged."""

from dataclasses import replace

import pytest
import redis

from articles.domain.errors import EditingClosed, StoreUnavailable
from articles.domain.moderation_log import Actor
from articles.domain.readership import Suspicion
from articles.repository import Repository
from articles.repository.store import scripts
from tests.cast import ALICE, BOB, MODERATOR
from tests.every_server import with_methods_of
from tests.factories import link, post, view, visit
from tests.repository.racing import Job, interleaved
from tests.rules import connect
from tests.store_state import problems

ALICES = Actor(ALICE, "user1")


class Deaf(redis.Redis):
    """A client that lets the store run one script and loses its reply, once."""

    script = ""
    meanwhile: Job | None = None  # what happens just before

    def execute_command(self, *words, **options):
        is_meant = bool(self.script) and words[:2] == ("EVALSHA", scripts.digest(self.script))
        if is_meant and self.meanwhile:
            self.meanwhile()
        reply = super().execute_command(*words, **options)
        if is_meant:
            self.script = ""
            raise redis.TimeoutError("no answer")
        return reply


def deaf_to(repository: Repository, script: str, meanwhile: Job | None = None) -> Repository:
    """Return the same store for another process, which loses the first reply of this script."""
    client = with_methods_of(Deaf, repository.store.client)
    client.script, client.meanwhile = script, meanwhile
    return connect(client, shards=repository.store.shards.count, clock=repository.store.now)


def test_an_edit_whose_reply_is_lost_keeps_the_claim_of_its_new_link(repository):
    article_id = post(repository, 1)

    with pytest.raises(StoreUnavailable):
        deaf_to(repository, "articles/edit").articles.edit(article_id, ALICES, "New", link(2), moderator=False)

    assert repository.articles.get(article_id).link == link(2)
    assert post(repository, 2, poster=BOB) == article_id
    repository.articles.edit(article_id, ALICES, "New", link(2), moderator=False)
    assert len(repository.moderation_log.get_page().entries) == 1
    assert problems(repository) == []


class Hasty(redis.Redis):
    """A client that times out on an edit before the store runs it."""

    given_up: tuple[object, ...] = ()

    def execute_command(self, *words, **options):
        if words[:2] != ("EVALSHA", scripts.digest("articles/edit")):
            return super().execute_command(*words, **options)
        self.given_up = words
        raise redis.TimeoutError("no answer")


def test_an_edit_applied_after_its_client_timed_out_has_the_claim_of_its_new_link(repository):
    article_id, store = post(repository, 1), repository.store
    client = with_methods_of(Hasty, store.client)
    hasty = connect(client, shards=store.shards.count, clock=store.now)

    with pytest.raises(StoreUnavailable):
        hasty.articles.edit(article_id, ALICES, "New", link(2), moderator=False)
    store.client.execute_command(*client.given_up)

    assert repository.articles.get(article_id).link == link(2)
    assert post(repository, 2, poster=BOB) == article_id
    assert problems(repository) == []


def test_an_article_whose_reply_is_lost_is_found_when_it_is_posted_again(repository):

    with pytest.raises(StoreUnavailable):
        post(deaf_to(repository, "articles/post"), 1)
    posted = repository.articles.post(ALICE, "user1", "Article 1", link(1))

    assert not posted.is_new
    assert [article.id for article in repository.members.get_posted(ALICE).articles] == [posted.id]
    assert problems(repository) == []


def test_a_refused_edit_keeps_the_link_that_a_concurrent_edit_gave_the_article(repository, clock):
    article_id = post(repository, 1)
    clock.advance(repository.rules.edit_window + 1)

    def edit_first() -> None:
        repository.articles.edit(article_id, MODERATOR, "Better", link(2), moderator=True)

    late = interleaved(repository, "articles/edit", edit_first)
    with pytest.raises(EditingClosed):
        late.articles.edit(article_id, ALICES, "Mine", link(2), moderator=False)

    assert post(repository, 2, poster=BOB) == article_id


def merged_while(repository: Repository, script: str) -> Repository:
    """Return a store that merges java into python before the process's script, and loses the script's reply."""
    for slug in ("java", "python"):
        repository.groups.create(slug, slug)
    return deaf_to(repository, script, lambda: repository.groups.merge("java", "python", MODERATOR))


def check_sweep(repository: Repository, article_id: int) -> None:
    """Check that housekeeping moves the article once, to the group that java was merged into."""
    assert repository.articles.get(article_id).groups == ("java",)
    assert [repository.groups.finish_merges(), repository.groups.finish_merges()] == [1, 0]
    assert repository.articles.get(article_id).groups == ("python",)
    assert list(repository.groups.get_titles()) == ["python"]
    assert problems(repository) == []


def test_an_article_left_in_a_merged_group_by_a_lost_assignment_is_moved(repository):
    article_id = post(repository, 1)

    with pytest.raises(StoreUnavailable):
        merged_while(repository, "groups/assign").groups.assign(article_id, ["java"], actor=MODERATOR)

    check_sweep(repository, article_id)


def test_an_article_left_in_a_merged_group_by_a_lost_post_is_moved(repository):
    with pytest.raises(StoreUnavailable):
        post(merged_while(repository, "articles/post"), 1, ("java",))

    check_sweep(repository, 1)


def test_an_article_added_to_a_group_while_the_reply_to_its_merge_is_lost_is_moved(repository):
    article_id = post(repository, 1)
    for slug in ("java", "python"):
        repository.groups.create(slug, slug)
    merging = deaf_to(repository, "groups/close", lambda: repository.groups.assign(article_id, ["java"]))

    with pytest.raises(StoreUnavailable):
        merging.groups.merge("java", "python", MODERATOR)

    check_sweep(repository, article_id)


@pytest.mark.parametrize("damaged", ["burst", "bot"])
def test_damaged_counters_of_suspect_views_do_not_stop_or_split_archiving(repository, clock, damaged):
    article_id = post(repository, 1)
    view(repository, article_id, 1, 2)
    repository.pageviews.record(article_id, visit(9, suspicion=Suspicion.BOT))
    clock.advance(repository.rules.archive_after + 1)
    (kept,) = repository.archive.get_counters([article_id])
    keys = repository.store.shards.of(article_id)
    repository.store.client.hset(keys.suspects(article_id), damaged, "many")

    assert repository.archive.store([replace(kept, suspects={"bot": 1, damaged: 1})]) == 1
    assert repository.articles.get(article_id).pv == 2

    repository.store.client.hset(keys.suspects(article_id), damaged, "many")
    assert repository.archive.restore(article_id, replace(kept, suspects={"bot": 1, damaged: 1}))
    assert repository.pageviews.get_suspects(article_id)["bot"] == 1


def test_a_new_group_exists_even_if_the_reply_for_its_first_article_is_lost(repository):
    with pytest.raises(StoreUnavailable):
        post(deaf_to(repository, "articles/post"), 1, ("fresh",))

    assert list(repository.groups.get_titles()) == ["fresh"]
    assert problems(repository) == []
