"""Groups: creating, renaming, assigning and merging them."""

import pytest

from articles.domain.errors import ArticleNotFound, GroupExists, GroupNotFound
from articles.domain.lists import Group, Order
from tests.cast import ALICE, BOB, MODERATOR
from tests.every_server import names_in
from tests.factories import post
from tests.repository.usage import listed, warm
from tests.store_state import problems

pytestmark = pytest.mark.one_shard


def members(repository, slug):
    return {article.id for article in repository.lists.get_page(Order.TIME, slug=slug).articles}


def test_several_groups_are_added_and_removed_in_one_step(repository, article):
    groups = repository.groups.assign(
        article, ["redis", "web", "redis"], ["python"], actor=MODERATOR, reason="fits"
    )

    assert groups == ("redis", "web")
    assert members(repository, "python") == set()
    assert members(repository, "redis") == members(repository, "web") == {article}
    (entry,) = repository.moderation_log.get_page().entries
    assert entry.details == {"added": "redis,web", "removed": "python"}


def test_a_group_is_read_with_its_size_and_a_merged_one_redirects(repository, article):
    post(repository, 2, ("python", "snake"))

    assert repository.groups.get("python") == next(
        one for one in repository.groups.list_all() if one.slug == "python"
    )
    assert repository.groups.get("python").articles == 2
    repository.groups.merge("snake", "python", MODERATOR)
    with pytest.raises(GroupNotFound) as merged:
        repository.groups.get("snake")
    with pytest.raises(GroupNotFound) as unknown:
        repository.groups.get("nothing")
    assert (merged.value.moved_to, unknown.value.moved_to) == ("python", None)


def test_a_group_in_both_lists_is_removed(repository, article):
    assert repository.groups.assign(article, ["python", "web"], ["web", "python"]) == ()


def test_assigning_the_current_groups_changes_and_logs_nothing(repository, article):
    assert repository.groups.assign(article, ["python"], ["web"], actor=MODERATOR) == ("python",)
    assert repository.moderation_log.get_page().entries == ()


def test_assigning_groups_to_an_unknown_article_fails_and_leaves_no_key(repository, article):
    before = set(names_in(repository.store.client))

    with pytest.raises(ArticleNotFound):
        repository.groups.assign(999, ["redis"])

    assert set(names_in(repository.store.client)) == before


def test_assigning_a_new_group_creates_it(repository, article):
    repository.groups.assign(article, ["new-group"])

    assert Group("new-group", "new-group", 1) in repository.groups.list_all()


def test_groups_of_a_removed_article_can_change_but_do_not_list_it(repository, article):
    repository.articles.remove(article, MODERATOR, "spam")

    repository.groups.assign(article, ["web"], ["python"])

    assert members(repository, "web") == set()
    repository.articles.restore(article, MODERATOR, "ham")
    assert members(repository, "web") == {article}
    assert members(repository, "python") == set()


def test_groups_are_created_once_and_renamed(repository):
    repository.groups.create("ml", "Machine Learning", MODERATOR)
    with pytest.raises(GroupExists):
        repository.groups.create("ml", "Other")
    repository.groups.rename("ml", "Machine learning", MODERATOR, "case")
    with pytest.raises(GroupNotFound):
        repository.groups.rename("nope", "x", MODERATOR)

    assert repository.groups.get_titles() == {"ml": "Machine learning"}
    actions = [entry.action for entry in repository.moderation_log.get_page().entries]
    assert actions == ["rename-group", "create-group"]


def test_two_groups_cannot_have_the_same_title(repository):
    repository.groups.create("python", "Python", MODERATOR)
    repository.groups.create("snakes", "Snakes", MODERATOR)

    with pytest.raises(GroupExists):
        repository.groups.rename("snakes", "Python", MODERATOR)
    with pytest.raises(GroupExists):
        repository.groups.create("py", "Python", MODERATOR)

    repository.groups.rename("python", "Python", MODERATOR)
    assert repository.groups.get_titles() == {"python": "Python", "snakes": "Snakes"}
    assert len(repository.moderation_log.get_page().entries) == 2


def test_assigning_a_slug_creates_its_group_even_if_another_has_that_title(repository, article):
    repository.groups.rename("python", "snakes", MODERATOR)

    repository.groups.assign(article, ["snakes"])

    assert repository.groups.get_titles() == {"python": "snakes", "snakes": "snakes"}


def test_merging_moves_every_article_including_removed_ones(repository, article):
    hidden = repository.articles.post(ALICE, "alice", "B", "https://example.org/b", ["python", "snakes"]).id
    repository.articles.remove(hidden, MODERATOR, "spam")
    members(repository, "python")

    assert repository.groups.merge("python", "snakes", MODERATOR, "same thing") == 2

    repository.articles.restore(hidden, MODERATOR, "ham")
    assert members(repository, "snakes") == {article, hidden}
    assert repository.articles.get(article).groups == ("snakes",)
    assert repository.articles.get(hidden).groups == ("snakes",)
    assert list(repository.audit.run()) == []


def test_repeating_an_interrupted_merge_finishes_it(repository, article, monkeypatch):
    repository.articles.post(ALICE, "alice", "B", "https://example.org/b", ["python"])
    repository.groups.create("snakes", "Snakes")
    change, assigned = repository.store.change, []

    def fail_second(script, article_id, *args):
        if script == "groups/assign":
            assigned.append(article_id)
            if len(assigned) == 2:
                raise KeyboardInterrupt
        return change(script, article_id, *args)

    monkeypatch.setattr(repository.store, "change", fail_second)
    with pytest.raises(KeyboardInterrupt):
        repository.groups.merge("python", "snakes", MODERATOR)
    assert len(members(repository, "python")) == 1
    assert list(repository.audit.run()) == []

    monkeypatch.undo()
    assert repository.groups.merge("python", "snakes", MODERATOR) == 1
    assert len(members(repository, "snakes")) == 2


def test_a_chain_of_merges_redirects_to_the_last_group_and_a_slug_can_be_reused(repository):
    for slug in "abc":
        repository.groups.create(slug, slug)
    repository.groups.merge("a", "b", MODERATOR)
    repository.groups.merge("b", "c", MODERATOR)
    with pytest.raises(GroupNotFound) as caught:
        repository.lists.get_page(Order.TIME, slug="a")
    assert caught.value.moved_to == "c"

    repository.groups.create("a", "A again")

    assert repository.lists.get_page(Order.TIME, slug="a").total == 0


@pytest.mark.parametrize(("slug", "into"), [("nope", "a"), ("a", "nope"), ("a", "a")])
def test_merging_needs_two_groups(repository, slug, into):
    repository.groups.create("a", "A")

    with pytest.raises(GroupNotFound):
        repository.groups.merge(slug, into, MODERATOR)
    assert "a" in repository.groups.get_titles()


def test_assigning_no_groups_returns_the_current_ones(repository, article):
    assert repository.groups.assign(article) == ("python",)
    assert repository.groups.assign(article, ["python"], ["never-was"]) == ("python",)


def test_removing_an_article_from_an_unknown_group_does_not_create_it(repository, article):
    repository.groups.assign(article, [], ["never-was"])

    assert repository.groups.get_titles() == {"python": "python"}


def test_a_group_keeps_its_title_when_articles_join_it(repository, article):
    repository.groups.create("redis", "Redis & friends")

    repository.groups.assign(article, ["redis"])

    assert repository.groups.get_titles()["redis"] == "Redis & friends"


def test_posting_to_an_unknown_group_creates_it(repository):
    post(repository, 1, ("fresh",))

    assert repository.groups.list_all() == [Group("fresh", "fresh", 1)]


def test_group_counts_include_only_listed_articles_on_all_shards(repository):
    ids = [post(repository, number, ("python", "redis")) for number in range(1, 10)]
    repository.groups.create("empty", "Empty")
    repository.articles.remove(ids[0], MODERATOR, "Spam")
    repository.groups.assign(ids[1], [], ["redis"])

    counts = {group.slug: group.articles for group in repository.groups.list_all()}

    assert counts == {"empty": 0, "python": 8, "redis": 7}


def test_listing_any_number_of_groups_takes_two_round_trips(repository, wire):
    for number in range(40):
        repository.groups.create(f"group-{number}", "Title")

    with wire.counted():
        assert len(repository.groups.list_all()) == 40
    assert wire.trips == 2


def test_changes_without_a_moderator_are_not_logged(repository, article):
    repository.groups.assign(article, ["redis"])
    repository.groups.create("web", "Web")

    assert repository.moderation_log.get_page().entries == ()


def test_a_merge_keeps_the_rankings_of_both_groups_exact_while_they_are_read(repository, clock):
    for number in range(1, 13):
        post(repository, number, ("java",) if number % 2 else ("python", "java"))
        clock.advance(60)
    warm(repository, "python", "java")

    assert repository.groups.merge("java", "python", MODERATOR) == 12

    assert listed(repository, Order.TIME, "python") == list(range(12, 0, -1))
    assert {repository.articles.get(number).groups for number in range(1, 13)} == {("python",)}
    assert problems(repository) == []


def test_votes_and_other_groups_survive_a_merge(repository, article):
    repository.groups.assign(article, ["redis", "java"])
    before = repository.articles.get(article, ALICE)

    repository.groups.merge("java", "python", MODERATOR)

    after = repository.articles.get(article, ALICE)
    assert after.groups == ("python", "redis")
    assert (after.votes, after.score, after.choice) == (before.votes, before.score, before.choice)


def test_the_merge_is_in_the_log_and_the_moves_are_not(repository, article):
    repository.groups.create("snakes", "Snakes")

    repository.groups.merge("python", "snakes", MODERATOR, "The same")

    (entry,) = repository.moderation_log.get_page().entries
    assert (entry.action, entry.title, entry.reason) == ("merge-groups", "python", "The same")
    assert entry.details == {"slug": "python", "into": "snakes"}


def test_articles_assigned_to_a_merged_group_join_its_target(repository, article):
    repository.groups.create("snakes", "Snakes")
    repository.groups.merge("python", "snakes", MODERATOR)
    other = post(repository, 1)

    assert repository.groups.assign(other, ["python", "snakes", "web"]) == ("snakes", "web")
    posted = post(repository, 2, ("python", "snakes"))

    assert repository.articles.get(posted).groups == ("snakes",)
    assert members(repository, "snakes") == {article, other, posted}
    assert list(repository.groups.get_titles()) == ["snakes", "web"]
    assert problems(repository) == []


def test_only_explicit_creation_reuses_the_slug_of_a_merged_group(repository, article):
    repository.groups.create("snakes", "Snakes")
    repository.groups.merge("python", "snakes", MODERATOR)

    repository.groups.create("python", "Python", MODERATOR)

    assert repository.groups.assign(article, ["python"]) == ("snakes", "python")
    assert repository.store.client.hgetall(repository.store.shards.directory.merged) == {}
    assert problems(repository) == []


def test_merging_two_groups_back_and_forth_keeps_all_articles(repository):
    first, second = post(repository, 1, ("a",)), post(repository, 2, ("b",), poster=BOB)
    repository.groups.merge("a", "b", MODERATOR)
    repository.groups.create("a", "A again")

    repository.groups.merge("b", "a", MODERATOR)

    assert set(listed(repository, Order.TIME, "a")) == {first, second}
    directory = repository.store.shards.directory
    assert repository.store.client.hgetall(directory.merged) == {"b": "a"}
    with pytest.raises(GroupNotFound) as caught:
        repository.lists.get_page(Order.TIME, slug="b")
    assert caught.value.moved_to == "a"


def test_merging_an_already_merged_group_is_refused_with_its_slug(repository, article):
    repository.groups.create("snakes", "Snakes")
    repository.groups.merge("python", "snakes", MODERATOR)

    with pytest.raises(GroupNotFound) as caught:
        repository.groups.merge("python", "snakes", MODERATOR)
    assert caught.value.slug == "python"


def test_a_description_stays_with_its_group_and_is_logged(repository):
    for slug in ("python", "java"):
        repository.groups.create(slug, slug.title())
    repository.groups.describe("python", "All about *Python*.", MODERATOR, "Asked for")
    repository.groups.describe("python", "All about *Python*.", MODERATOR)
    repository.groups.describe("java", "Coffee.", MODERATOR)

    assert repository.groups.get_descriptions() == {"python": "All about *Python*.", "java": "Coffee."}
    entries = repository.moderation_log.get_page().entries
    assert [(entry.action, entry.title) for entry in entries].count(("describe-group", "Python")) == 1
    with pytest.raises(GroupNotFound):
        repository.groups.describe("nope", "Nothing.", MODERATOR)

    repository.groups.merge("java", "python", MODERATOR)
    assert repository.groups.get_descriptions(["python", "java"]) == {"python": "All about *Python*."}
    repository.groups.describe("python", "", MODERATOR)
    assert repository.groups.get_descriptions() == {}
    assert problems(repository) == []


def test_a_description_is_read_with_the_list_of_its_group_only(repository, wire):
    for slug in ("python", "java"):
        repository.groups.create(slug, slug.title())
        repository.articles.post(1, "alice", slug, f"https://example.org/{slug}", groups=[slug])
    repository.groups.describe("python", "All about *Python*.", MODERATOR)

    with wire.counted():
        page = repository.lists.get_page(Order.SCORE, slugs=("python",))
    assert wire.trips == min(2, repository.store.shards.count)  # with several, one more for the articles
    assert page.group == Group("python", "Python", 1, "All about *Python*.")
    for hidden, slugs in {(): ("java",), ("java",): ("python",)}.items():
        group = repository.lists.get_page(Order.SCORE, slugs=slugs, hidden=hidden).group
        assert group.description == ("" if slugs == ("java",) else "All about *Python*.")
    assert repository.lists.get_page(Order.SCORE, slugs=("java", "python")).groups == (
        Group("java", "Java"),
        Group("python", "Python"),
    )


@pytest.mark.parametrize("hidden", [(), ("java",)])
def test_without_readable_descriptions_a_group_still_has_its_list(repository, hidden):
    repository.groups.create("python", "Python")
    repository.groups.create("java", "Java")
    repository.articles.post(1, "alice", "A title", "https://example.org/", groups=["python"])
    repository.store.client.set(repository.store.shards.directory.descriptions, "damaged")

    page = repository.lists.get_page(Order.SCORE, slugs=("python",), hidden=hidden)

    assert (page.group.title, page.group.description, len(page.articles)) == ("Python", "", 1)


def test_the_audit_finds_and_the_repair_drops_a_description_without_a_group(repository):
    repository.groups.create("python", "Python")
    repository.groups.describe("python", "All about Python.", MODERATOR)
    key = repository.store.shards.directory.descriptions
    repository.store.client.hset(key, "gone", "Nothing.")

    assert [finding.problem for finding in repository.audit.run()] == [
        "describes gone, but there is no such group"
    ]
    repository.repair.run()

    assert repository.groups.get_descriptions() == {"python": "All about Python."}
    assert problems(repository) == []
