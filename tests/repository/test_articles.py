"""Posting, reposting, editing, removing and restoring articles."""

import re

import pytest

from articles.domain.articles import Choice, Posted
from articles.domain.errors import (
    ArticleNotFound,
    ArticleRemoved,
    DuplicateLink,
    EditingClosed,
    NotThePoster,
    StoreUnfit,
    WithdrawingClosed,
)
from articles.domain.lists import Order
from articles.domain.moderation_log import Actor
from articles.repository.store import keys as names
from articles.text.links import link_digest
from tests.cast import ALICE, BOB, MALLORY, MODERATOR
from tests.factories import link, post, view
from tests.repository.racing import interleaved
from tests.repository.usage import warm
from tests.store_state import contents, problems

pytestmark = pytest.mark.one_shard

ALICES = Actor(ALICE, "alice")


def test_posting_writes_the_article_its_first_vote_and_its_rankings(repository, clock):
    clock.now = 1_500_000_000.0
    posted = repository.articles.post(ALICE, "alice", "A title", "https://example.org/a")

    keys, client = repository.store.shards.of(posted.id), repository.store.client
    assert posted.is_new
    assert client.hgetall(keys.article(posted.id)) == {
        "title": "A title",
        "link": "https://example.org/a",
        "poster": "1",
        "poster_name": "alice",
        "time": "1500000000.000",
        "closes": "1500604800.000",
        "votes": "1",
        "opposes": "0",
        "groups": "",
    }
    assert client.smembers(keys.voted(posted.id)) == {"1"}
    assert client.ttl(keys.voted(posted.id)) == -1
    assert client.zscore(keys.order(Order.TIME), str(posted.id)) == 1_500_000_000
    assert client.zscore(keys.order(Order.SCORE), str(posted.id)) == 1_500_000_432


@pytest.mark.parametrize(
    "link",
    [
        "https://example.org/a",
        "http://EXAMPLE.org/a/",
        "https://example.org/a?utm_source=x#y",
        "https://www.example.org/a",
    ],
)
def test_posting_a_known_link_leads_to_the_existing_article(repository, article, link):
    assert repository.articles.post(BOB, "bob", "Again", link) == Posted(article, is_new=False)
    assert repository.articles.get(article).votes == 1


def test_the_claim_on_a_link_ends_after_48_hours(repository, article):
    key = names.link(link_digest("https://example.org/a"))
    assert 48 * 3600 - 5 <= repository.store.client.ttl(key) <= 48 * 3600

    repository.store.client.delete(key)  # as its expiry does

    again = repository.articles.post(BOB, "bob", "Again", "https://example.org/a")
    assert again.is_new
    assert again.id != article


def test_a_claim_whose_poster_died_is_taken_over(repository):
    new_id = repository.store.client.incr(names.COUNTER)
    key = names.link(link_digest("https://example.org/a"))
    repository.store.run("articles/claim_link", [key], [new_id, 1000])

    posted = repository.articles.post(BOB, "bob", "T", "https://example.org/a")

    assert (posted.id, posted.is_new) == (new_id, True)
    assert repository.articles.get(new_id).poster_name == "bob"


def test_a_poster_whose_claim_another_member_uses_gets_that_article(repository):
    """Alice claims the link and is slow; bob posts it under her claim before she writes."""
    others = []
    slow = interleaved(
        repository, "articles/post", lambda: others.append(repository.articles.post(BOB, "bob", "Bob's", link(1)))
    )
    posted = slow.articles.post(ALICE, "alice", "Alice's", link(1))

    assert others[0].is_new
    assert posted == Posted(others[0].id, is_new=False)
    assert repository.articles.get(posted.id).title == "Bob's"
    assert repository.imports.count() == 1
    assert repository.articles.post(MALLORY, "mallory", "Once more", link(1)) == posted


def test_a_counter_far_behind_reuses_no_id_and_the_link_leads_to_the_new_article(repository):
    before = [repository.articles.get(post(repository, number)) for number in range(1, 6)]
    repository.store.client.delete(names.COUNTER)

    new = post(repository, 6, poster=BOB)

    assert new == 6
    assert repository.articles.get_many(range(1, 6)) == before
    assert [post(repository, number, poster=BOB) for number in range(1, 7)] == [1, 2, 3, 4, 5, 6]
    assert problems(repository) == []


def test_an_article_joins_a_repeated_group_once(repository):
    article_id = post(repository, 1, ("python", "redis", "python"))

    assert repository.articles.get(article_id).groups == ("python", "redis")


def test_a_store_that_lost_its_weight_refuses_every_change(repository, article):
    other = post(repository, 2)
    repository.articles.remove(other, MODERATOR, "Spam")
    for keys in repository.store.shards.all:
        repository.store.client.delete(keys.ranking)
    before = contents(repository)

    for change in (
        lambda: repository.votes.cast(article, BOB, Choice.VOTE),
        lambda: repository.groups.assign(article, [], ["python"]),
        lambda: repository.articles.restore(other, MODERATOR, "It was not"),
        lambda: repository.articles.get(article),
        repository.repair.run,
    ):
        with pytest.raises(StoreUnfit):
            change()
    assert contents(repository) == before

    with pytest.raises(StoreUnfit):
        post(repository, 3)
    assert repository.store.client.exists(repository.store.shards.of(3).article(3)) == 0


def test_an_edit_that_keeps_the_page_the_link_leads_to_keeps_its_claim(repository, article):
    repository.articles.edit(article, ALICES, "A title", "http://example.org/a/", moderator=False)

    assert repository.articles.post(BOB, "bob", "B", "https://example.org/a") == Posted(article, is_new=False)


def test_removing_and_restoring_an_article_changes_only_the_log_and_the_inbox(repository, article):
    repository.votes.cast(article, BOB, Choice.OPPOSE)
    post(repository, 2, ("python",))
    warm(repository, "python")

    def but_for_the_log():
        kept = contents(repository).items()
        found = {name: value for name, value in kept if "log:" not in name and "inbox:" not in name}
        for name, value in found.items():
            if re.search(r"article:\d", name):
                found[name] = {field: text for field, text in value.items() if field != "log"}
        return found

    before = but_for_the_log()

    repository.articles.remove(article, MODERATOR, "Spam")
    repository.articles.restore(article, MODERATOR, "It was not")
    warm(repository, "python")

    assert but_for_the_log() == before


TEXT = "A *summary*, 中文"


def test_a_text_is_read_for_one_article_and_only_its_size_for_lists(repository):
    posted = repository.articles.post(ALICE, "alice", "A title", link(1), text=TEXT)

    article = repository.articles.get(posted.id, with_text=True)
    (listed,) = repository.lists.get_page(Order.TIME).articles

    assert (article.text, article.text_bytes) == (TEXT, len(TEXT.encode()))
    assert (listed.text, listed.text_bytes) == ("", article.text_bytes)
    assert problems(repository) == []


def test_a_text_without_a_link_is_posted_once(repository):
    first = repository.articles.post(ALICE, "alice", "A title", "", text=TEXT)

    assert first.is_new
    assert repository.articles.post(BOB, "bob", "A title", "", text=TEXT) == Posted(first.id, is_new=False)
    assert repository.articles.post(ALICE, "alice", "A title", "", text="Another").is_new
    assert repository.articles.post(ALICE, "alice", "Another title", "", text=TEXT).is_new


def test_an_edit_changes_removes_and_adds_a_text_and_the_log_says_so_without_it(repository):
    number = repository.articles.post(ALICE, "alice", "A title", link(1), text=TEXT).id

    for text in ("Changed", "", "Added"):
        repository.articles.edit(number, MODERATOR, "A title", link(1), text=text, moderator=True)
    repository.articles.edit(number, MODERATOR, "A title", link(1), moderator=True)
    repository.articles.edit(number, MODERATOR, "A title", "", moderator=True)

    entries = repository.moderation_log.get_for_article(number).entries
    article = repository.articles.get(number, with_text=True)
    assert [entry.details.get("text") for entry in entries] == [None, "added", "removed", "changed"]
    assert (article.text, article.link) == ("Added", "")
    assert repository.articles.post(BOB, "bob", "Mine", link(1)).is_new
    assert problems(repository) == []


def test_an_edit_changes_groups_in_the_same_step_and_logs_which(repository, clock):
    for slug in ("python", "redis", "java"):
        repository.groups.create(slug, slug.title())
    repository.groups.merge("java", "python", MODERATOR)
    article_id = post(repository, 1, ("redis",))
    view(repository, article_id, 1)
    warm(repository, "python", "redis")

    repository.articles.edit(
        article_id, ALICES, "Better", link(1), join=["java"], leave=["redis"], moderator=False
    )

    assert repository.articles.get(article_id).groups == ("python",)
    (entry,) = repository.moderation_log.get_for_article(article_id).entries
    assert entry.action == "edit"
    found = {name: value for name, value in entry.details.items() if value}
    assert found == {"old_title": "Article 1", "added": "python", "removed": "redis"}
    assert repository.lists.get_page(Order.TIME, slug="redis").total == 0
    assert repository.lists.get_page(Order.TIME, slug="python").articles[0].id == article_id
    assert problems(repository) == []


def test_a_late_edit_of_groups_changes_nothing(repository, clock):
    repository.groups.create("python", "Python")
    article_id = post(repository, 1)
    clock.advance(15 * 60 + 1)

    with pytest.raises(EditingClosed):
        repository.articles.edit(article_id, ALICES, "Article 1", link(1), join=["python"], moderator=False)

    assert repository.groups.get("python").articles == 0


def test_a_withdrawn_article_leaves_every_list_and_its_link_can_be_posted_again(repository, clock):
    repository.groups.create("python", "Python")
    article_id = post(repository, 1, ("python",))
    warm(repository, "python")

    repository.articles.withdraw(article_id, ALICES)
    repository.articles.withdraw(article_id, ALICES)

    article = repository.articles.get(article_id)
    assert (article.is_withdrawn, repository.lists.get_page(Order.TIME).total) == (True, 0)
    (entry,) = repository.moderation_log.get_page().entries
    assert (entry.action, entry.actor_name, entry.article_id) == ("withdraw", "alice", article_id)
    assert problems(repository) == []
    again = repository.articles.post(ALICE, "alice", "Again", link(1))
    assert again.is_new
    with pytest.raises(DuplicateLink):
        repository.articles.restore(article_id, MODERATOR, "It was good")
    repository.articles.withdraw(again.id, ALICES)
    repository.articles.restore(article_id, MODERATOR, "It was good")
    assert [article.id for article in repository.lists.get_page(Order.TIME).articles] == [article_id]
    assert problems(repository) == []


def test_only_the_poster_withdraws_and_only_in_time(repository, clock):
    article_id, removed = post(repository, 1), post(repository, 2)
    repository.articles.remove(removed, MODERATOR, "Spam")

    with pytest.raises(NotThePoster):
        repository.articles.withdraw(article_id, Actor(BOB, "bob"))
    with pytest.raises(ArticleRemoved):
        repository.articles.withdraw(removed, ALICES)
    with pytest.raises(ArticleNotFound):
        repository.articles.withdraw(999, ALICES)
    clock.now = repository.articles.get(article_id).posted_at + 15 * 60 + 0.001
    with pytest.raises(WithdrawingClosed):
        repository.articles.withdraw(article_id, ALICES)
    assert repository.lists.get_page(Order.TIME).total == 1
    clock.now -= 0.001
    repository.articles.withdraw(article_id, ALICES)


def test_a_text_without_a_link_can_be_posted_again_once_withdrawn(repository):
    first = repository.articles.post(ALICE, "alice", "A question", "", text="Why?")

    repository.articles.withdraw(first.id, ALICES)

    assert repository.articles.post(ALICE, "alice", "A question", "", text="Why?").is_new


def test_a_withdrawn_article_claims_its_link_only_once_it_is_restored(repository, clock):
    article_id = post(repository, 1)
    repository.articles.withdraw(article_id, ALICES)
    repository.articles.edit(article_id, MODERATOR, "Article 2", link(2), moderator=True)
    other = repository.articles.post(BOB, "bob", "Again", link(2))
    assert other.is_new
    repository.articles.withdraw(other.id, Actor(BOB, "bob"))
    clock.advance(3600)

    repository.articles.restore(article_id, MODERATOR, "It was good")

    assert repository.articles.post(BOB, "bob", "Again", link(2)) == Posted(article_id, is_new=False)
    left = repository.store.client.ttl(names.link(link_digest(link(2))))
    assert 0 < left <= repository.store.rules.repost_window - 3600


def test_the_link_of_an_article_restored_late_can_be_posted_again(repository, clock):
    article_id = post(repository, 1)
    repository.articles.withdraw(article_id, ALICES)
    clock.advance(repository.store.rules.repost_window)

    repository.articles.restore(article_id, MODERATOR, "It was good")

    assert repository.articles.post(BOB, "bob", "Again", link(1)).is_new
